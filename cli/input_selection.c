/* input_selection.c - the sequences that `trellis explain` and `trellis show` work on. */
#include "input_selection.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

/* Splits `text`, which is modified, into cells; `cells` has room for one per byte. *ret_bad is a
 * token whose number of columns differs from that of the first, or NULL. */
static trellis_sequence split_words(char *text, trellis_text *cells, char **ret_bad)
{
    trellis_sequence sequence = {
        .struct_size = sizeof(trellis_sequence), .cells = cells, .weight = 1, .line = 1};
    size_t used = 0;
    *ret_bad = NULL;
    for (char *rest = text, *word; (word = strsep(&rest, " \t\n"));) {
        size_t columns = 0;
        char *left = strcmp(word, "|") == 0 ? NULL : word; // a single bar is a word
        if (!*word) {
            continue;
        }
        do {
            const char *cell = left ? strsep(&left, "|") : word;
            cells[used++] = (trellis_text){cell, strlen(cell)};
            columns++;
        } while (left);
        sequence.columns = sequence.length ? sequence.columns : columns;
        if (columns != sequence.columns) {
            *ret_bad = word;
        }
        sequence.length++;
    }
    return sequence;
}

static trellis_status select_words(const char *words, sequence_visitor visit, void *user,
                                   trellis_error *error)
{
    struct source source = {"--words", NULL};
    char *text = strdup(words), *bad = NULL;
    trellis_text *cells = calloc(strlen(words) + 1, sizeof *cells);
    trellis_status status = TRELLIS_OK;
    if (!text || !cells) {
        status = set_error(error, TRELLIS_MEMORY, "out of memory");
    } else {
        trellis_sequence sequence = split_words(text, cells, &bad);
        status = bad ? set_error(error, TRELLIS_OPTION,
                                 "--words: '%s' does not have as many columns as the first word",
                                 bad)
                     : visit(user, &source, &sequence, error);
    }
    free(cells);
    free(text);
    return status;
}

/* Passes on the selected sequences. */
struct selection {
    uint64_t number; // 0: all
    uint64_t seen;
    sequence_visitor visit;
    void *user;
};

static trellis_status select_sequence(void *user, const struct source *source,
                                      const trellis_sequence *sequence, trellis_error *error)
{
    struct selection *selection = user;
    selection->seen++;
    if (selection->number && selection->seen != selection->number) {
        return TRELLIS_OK;
    }
    trellis_status status = selection->visit(selection->user, source, sequence, error);
    return status ? status : selection->number ? TRELLIS_END : TRELLIS_OK;
}

trellis_status for_each_selected(const struct arguments *arguments, bool just_one,
                                 sequence_visitor visit, void *user, trellis_error *error)
{
    const char *words = argument(arguments, "words");
    if (words) {
        return select_words(words, visit, user, error);
    }
    struct selection selection = {
        .number = strtoull(trellis_options_get(arguments->options, "sequence"), NULL, 10),
        .visit = visit,
        .user = user,
    };
    if (selection.number == 0 && just_one) {
        selection.number = 1;
    }
    trellis_status status = for_each_sequence(arguments, select_sequence, &selection, error);
    if (!status && selection.number && selection.seen < selection.number) {
        status = set_error(error, TRELLIS_DATA, "no sequence %llu: the input has only %llu",
                           (unsigned long long)selection.number,
                           (unsigned long long)selection.seen);
    }
    return status;
}
