/* input_selection.c - the sequences that `trellis explain` and `trellis show` are asked about. */
#include "input_selection.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

/* Cuts `text`, which is written to, into cells; `cells` has room for as many as it has bytes. A token that
 * has fewer columns than the first is an error, told by *ret_bad. */
static trellis_sequence cut_words(char *text, trellis_text *cells, char **ret_bad)
{
    trellis_sequence sequence = {.cells = cells, .weight = 1, .line = 1};
    size_t used = 0;
    *ret_bad = NULL;
    for (char *rest = text, *word; (word = strsep(&rest, " \t\n"));) {
        size_t columns = 0;
        char *left = strcmp(word, "|") == 0 ? NULL : word; // a bar alone is a word
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

static trellis_status visit_words(const char *words, sequence_visitor visit, void *user,
                                  trellis_error *error)
{
    struct source source = {"--words", NULL};
    char *text = strdup(words), *bad = NULL;
    trellis_text *cells = calloc(strlen(words) + 1, sizeof *cells);
    trellis_status status = TRELLIS_OK;
    if (!text || !cells) {
        status = set_error(error, TRELLIS_MEMORY, "out of memory");
    } else {
        trellis_sequence sequence = cut_words(text, cells, &bad);
        status = bad ? set_error(error, TRELLIS_OPTION,
                                 "--words: '%s' has more or fewer columns than the first word", bad)
                     : visit(user, &source, &sequence, error);
    }
    free(cells);
    free(text);
    return status;
}

/* Passes on the sequences that are wanted. */
struct picking {
    uint64_t wanted; // 0: all
    uint64_t seen;
    sequence_visitor visit;
    void *user;
};

static trellis_status pick(void *user, const struct source *source,
                           const trellis_sequence *sequence, trellis_error *error)
{
    struct picking *picking = user;
    picking->seen++;
    if (picking->wanted && picking->seen != picking->wanted) {
        return TRELLIS_OK;
    }
    trellis_status status = picking->visit(picking->user, source, sequence, error);
    return status ? status : picking->wanted ? TRELLIS_END : TRELLIS_OK;
}

trellis_status visit_sentences(const struct arguments *arguments, bool just_one,
                               sequence_visitor visit, void *user, trellis_error *error)
{
    const char *words = argument(arguments, "words");
    if (words) {
        return visit_words(words, visit, user, error);
    }
    struct picking picking = {
        .wanted = strtoull(trellis_options_get(arguments->options, "sequence"), NULL, 10),
        .visit = visit,
        .user = user,
    };
    if (picking.wanted == 0 && just_one) {
        picking.wanted = 1;
    }
    trellis_status status = visit_sequences(arguments, pick, &picking, error);
    if (!status && picking.wanted && picking.seen < picking.wanted) {
        status = set_error(error, TRELLIS_DATA, "there is no sequence %llu: there are only %llu",
                           (unsigned long long)picking.wanted, (unsigned long long)picking.seen);
    }
    return status;
}
