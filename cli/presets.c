/* presets.c - `trellis presets`: lists the presets, or shows one with its recipe. */
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"

static void list_presets(FILE *file)
{
    for (size_t i = 0; trellis_preset_name(i); i++) {
        const char *name = trellis_preset_name(i);
        const char *recipe = trellis_preset_options(name, TRELLIS_EFFORT_DEFAULT);
        fprintf(file, "%-12s %s\n", name, trellis_preset_summary(name));
        if (recipe) {
            fprintf(file, "%-12s   %s\n", "", recipe);
        }
    }
}

/* The command that a recipe stands for, as a comment before the templates. */
static void show_command(FILE *file, const char *name, trellis_effort effort)
{
    static const char *const flags[] = {[TRELLIS_EFFORT_DEFAULT] = "",
                                        [TRELLIS_EFFORT_FAST] = " --fast",
                                        [TRELLIS_EFFORT_BEST] = " --best",
                                        [TRELLIS_EFFORT_MANY_LABELS] = " (more than 64 labels)",
                                        [TRELLIS_EFFORT_MANY_SPANS] = " (15,000 tokens in spans)"};
    const char *recipe = trellis_preset_options(name, effort);
    bool named = recipe && strncmp(recipe, "-f ", 3) == 0;
    if (recipe) {
        fprintf(file, "# -f %s%s:\n#     trellis train %s%s%s%s -m MODEL FILE\n", name,
                flags[effort], named ? "" : "-f ", named ? "" : name, named ? "" : " ", recipe);
    }
}

static trellis_status show_preset(FILE *file, const char *name, trellis_error *error)
{
    const char *text = trellis_preset_text(name);
    if (!text) {
        return set_error(error, TRELLIS_OPTION, "unknown preset '%s'; see 'trellis presets'", name);
    }
    for (int effort = TRELLIS_EFFORT_DEFAULT; effort <= TRELLIS_EFFORT_MANY_SPANS; effort++) {
        show_command(file, name, (trellis_effort)effort);
    }
    fputs(text, file);
    return TRELLIS_OK;
}

static int run(const struct arguments *arguments)
{
    struct output output = {0};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    const char *preset = argument(arguments, "show");
    if (arguments->path_count > 0) {
        return usage_error(arguments->command, "expected no arguments; --show %s shows a preset",
                           arguments->paths[0]);
    }
    int result = output_open(&output, argument(arguments, "output"));
    if (result != EXIT_SUCCESS) {
        return result;
    }
    if (preset) {
        status = show_preset(output.file, preset, &error);
    } else {
        list_presets(output.file);
    }
    return output_end(&output, status, &error);
}

static const struct own_option own[] = {
    {"show", 0, "PRESET",
     "Show the templates of a preset, as a starting point for your own, and the commands that its "
     "recipe stands for."},
    OWN_OUTPUT,
    {0},
};

const struct command command_presets = {
    .name = "presets",
    .summary = "list the presets: templates, and the recipe that goes with them",
    .synopsis = "\n--show PRESET",
    .description =
        "A preset is a set of feature templates with a name. Those for a task come with a recipe: "
        "the learner, its options and the label scheme that did best with them on held-out data "
        "of several corpora. 'trellis train -f PRESET' takes what you leave open from the recipe; "
        "if you choose the learner with -t, you get the templates alone.",
    .own = own,
    .examples = "trellis presets\n"
                "# start your own templates from a preset, and its recipe from the first comment\n"
                "trellis presets --show ner > mine.tpl\n"
                "trellis train -f mine.tpl -t crf -a sgd --l2 0.1 --span-loss 2 --seeds 4 "
                "-m ner.model train.txt\n",
    .run = run,
};
