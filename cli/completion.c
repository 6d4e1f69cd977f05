/* completion.c - a completion script for bash, written from the tables.
 *
 * The script completes the subcommand, then the names of its options, then the values of options that
 * have a choice; all else is completed as a file.
 */
#include <stdio.h>
#include <string.h>

#include "help.h"

static void write_values(FILE *out, const trellis_option *option)
{
    bool types = strcmp(option->name, "type") == 0;
    bool presets = strcmp(option->name, "features") == 0;
    if (option->type != TRELLIS_CHOICE && !types && !presets) {
        return;
    }
    fputs("        ", out);
    if (option->letter) {
        fprintf(out, "-%c | ", option->letter);
    }
    fprintf(out, "--%s) values=\"", option->name);
    if (types || presets) {
        const char *(*name)(size_t) = types ? trellis_learner_name : trellis_preset_name;
        for (size_t i = 0; name(i); i++) {
            fprintf(out, "%s%s", i ? " " : "", name(i));
        }
    } else {
        fputs(option->choices, out);
    }
    fputs("\" ;;\n", out);
}

static void write_names(FILE *out, const struct command *command)
{
    fprintf(out, "        %s) names=\"--help", command->name);
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (own->help) {
            fprintf(out, " --%s", own->name);
        }
    }
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (command_takes(command, option)) {
            bool is_on = option->type == TRELLIS_FLAG && strcmp(option->default_value, "yes") == 0;
            fprintf(out, is_on ? " --no-%s" : " --%s", option->name);
        }
    }
    fputs("\" ;;\n", out);
}

void completion_write(FILE *out)
{
    fputs("# bash completion for trellis; written by 'trellis help --completion', do not edit.\n"
          "_trellis() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local subcommands=\"",
          out);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    }
    fputs(
        "\" values= names=\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"$before\" = help ]; }; then\n"
        "        COMPREPLY=($(compgen -W \"$subcommands --help --version\" -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    case $before in\n",
        out);
    for (size_t i = 0; i < trellis_option_count(); i++) {
        write_values(out, trellis_option_at(i));
    }
    fputs("    esac\n"
          "    if [ -n \"$values\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    for (size_t i = 0; commands[i]; i++) {
        write_names(out, commands[i]);
    }
    fputs("    esac\n"
          "    case $word in\n"
          "        -*) COMPREPLY=($(compgen -W \"$names\" -- \"$word\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -o default -F _trellis trellis\n",
          out);
}
