/* input.h - the sequences of a request, read from JSON and laid out for a model.
 *
 *     {"model": "chunk", "nbest": 3, "tokens": ["He", "reckons"], "pos": ["PRP", "VBZ"]}
 *     {"sequences": [{"tokens": [["He", "PRP"], ["reckons", "VBZ"]]}, {"text": "He reckons."}]}
 *
 * A sequence has tokens, and further columns as arrays of the same length; or tokens that are rows
 * of cells; or ready-made attributes; or running text, which is split into one or more sequences.
 * The names are those of the format jsonl. Members that mean nothing are errors: a misspelt setting
 * must not be ignored.
 */
#ifndef TRELLIS_SERVE_INPUT_H
#define TRELLIS_SERVE_INPUT_H

#include <jansson.h>

#include "text.h"
#include "worker.h"

/* Settings of a request; an endpoint takes some of them. */
enum {
    SETTING_DECODE = 1 << 0,
    SETTING_THRESHOLD = 1 << 1,
    SETTING_MARGINALS = 1 << 2,
    SETTING_ALL_MARGINALS = 1 << 3,
    SETTING_NBEST = 1 << 4,
    SETTING_TOP = 1 << 5
};
enum { MAX_NBEST = 100, MAX_TOP = 1000 };

struct settings {
    trellis_text model; // empty: the first one
    struct decoding decoding;
    bool marginals, all_marginals;
    size_t nbest; // 1: the best labelling only
    size_t top;   // 0: the default of the endpoint
};

struct input {
    json_t *root;
    json_t *list; // "sequences", or NULL: the root is the only sequence
    size_t next;  // sequence to be read
    struct settings settings;
    const struct snapshot *snapshot;
    size_t max_tokens, tokens; // of all sequences

    /* the current sequence */
    trellis_sequence sequence;
    struct column_list columns;
    const size_t *offsets; // [length][2] characters of the text where a token begins and ends; NULL
                           // if the sequence does not come from text
    size_t element;        // of "sequences" that it comes from

    /* where it is kept */
    struct {
        trellis_text *at; // [room]
        size_t room;
    } cells;
    struct {
        trellis_attribute *at; // [room]
        size_t room, size;
        size_t *begin; // [begin_room]
        size_t begin_room;
    } attributes;
    struct {
        trellis_reader *reader; // NULL if the sequence does not come from text
        trellis_options *options;
        trellis_text text;
        size_t byte, character; // of the text, behind the last token
        size_t *offsets;        // [room][2]
        size_t room;
    } prose;
};

/* Parses a request and its settings, of which the endpoint takes `accepted`. Call input_close() in
 * any case. */
trellis_status input_open(struct input *input, const struct text *body, unsigned accepted,
                          size_t max_tokens, trellis_error *error);
/* The next sequence, laid out for the model, until the next call; TRELLIS_END after the last. */
trellis_status input_next(struct input *input, trellis_error *error);
void input_close(struct input *input);

/* TRELLIS_DATA if templates of the model use a column that is not among `given` (bit i: column i).
 */
trellis_status check_columns(const struct snapshot *snapshot, uint64_t given, trellis_error *error);
/* The column of words: named word, form, token, tokens or text, otherwise the first. */
size_t word_column(const struct snapshot *snapshot);

#endif
