/* fuzz_templates.c - any bytes as templates in one of the three languages, as a list of words or
 * names, as clusters, as vectors, as costs or as constraints: whatever a training reads besides its
 * corpus. The first byte selects which. What compiles is run on a few tokens and trained with. */
#include "base/text.h"
#include "fuzz/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char corpus[] = "the DT O\ncat NN B-X\n\nA DT O\n\xc3\xa9t\xc3\xa9 NN B-X\n";

static void train(const char *option, const char *value, bool segments)
{
    struct memory_file file = memory_file(corpus, sizeof corpus - 1);
    const char *path = file.path;
    trellis_options *options;
    trellis_model *model = NULL;
    if (trellis_options_create(&options, NULL) ||
        trellis_options_set(options, "features", "id", NULL) ||
        trellis_options_set(options, "epochs", "1", NULL) ||
        trellis_options_set(options, "segments", segments ? "yes" : "no", NULL) ||
        trellis_options_set(options, "threads", "1", NULL) ||
        trellis_options_set(options, "algorithm", "pa", NULL) ||
        trellis_options_set(options, option, value, NULL)) {
        abort();
    }
    trellis_train_files(options, &path, 1, NULL, NULL, &model, NULL);
    trellis_model_close(model);
    trellis_options_destroy(options);
    close(file.number);
}

/* Templates that read a file with our bytes; named by the number of its descriptor. */
static void train_with(const char *format, const char *path)
{
    char templates[200];
    snprintf(templates, sizeof templates, format, path);
    struct memory_file file = memory_file(templates, strlen(templates));
    train("features", file.path, strstr(format, "segment"));
    close(file.number);
}

/* Otherwise templates could read any file of this machine. */
static bool names_a_file(const uint8_t *data, size_t size)
{
    static const char *const readers[] = {"inlist", "cluster", "gazetteer", "embedding",
                                          "listed", "fuzzy",   "similarity"};
    bool found = false;
    for (size_t i = 0; i < TR_COUNT(readers); i++) {
        found = found || memmem(data, size, readers[i], strlen(readers[i]));
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 20000) {
        return 0;
    }
    struct memory_file file = memory_file(data + 1, size - 1);
    switch (data[0] == 'E' ? 8 : data[0] % 8) { // so that the inputs kept before 'E' mean the same
    case 0:
        train_with("columns word\nnode inlist(word, \"%s\")\n", file.path);
        break;
    case 1:
        train_with("columns word\nnode cluster(word, \"%s\", 2 4)\n", file.path);
        break;
    case 2:
        train("cost", file.path, false);
        break;
    case 3:
        train("constrain", file.path, false);
        break;
    case 4:
        train("dictionary", file.path, false);
        break;
    case 5:
        train_with("columns word\nnode gazetteer(word, \"%s\")\n", file.path);
        break;
    case 6:
        train_with("columns word\nnode word\nsegment listed(word, \"%1$s\")\n"
                   "segment fuzzy(word, \"%1$s\", 50 80)\n",
                   file.path);
        break;
    case 8:
        train_with("columns word\nnode embedding(word, \"%s\")\n", file.path);
        break;
    default:
        if (!names_a_file(data + 1, size - 1)) {
            train("features", file.path, false);
        }
    }
    close(file.number);
    return 0;
}
