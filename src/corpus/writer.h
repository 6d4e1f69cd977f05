/* writer.h - what the formats share when sequences are written. */
#ifndef TRELLIS_CORPUS_WRITER_H
#define TRELLIS_CORPUS_WRITER_H

#include "corpus/reader.h"

typedef trellis_status (*tr_put_function)(trellis_writer *writer, const trellis_sequence *sequence,
                                          const trellis_text *labels, trellis_error *error);

/* A token in a text, in characters. */
struct tr_text_offset {
    size_t begin, end;
};

struct trellis_writer {
    trellis_sink sink;
    void *user;
    struct tr_buffer buffer;
    const struct tr_format *input; // what the sequences were read from
    struct tr_names names;         // of their columns
    const char *format;            // what is written
    tr_put_function put;
    bool same;           // the rows of a sequence are in the format that is written
    bool by_tab;         // --separator tab
    size_t label_column; // of CoNLL-U
    /* For JSON lines, of the sequence being written: what is known of it, ... */
    bool annotated;
    trellis_annotation annotation;
    /* ... the text that its tokens are found in, and where. */
    bool aligned;
    struct tr_buffer text;
    TR_ARRAY(struct tr_text_offset) offsets;
};

/* Finds the tokens of a sequence, in column `word`, in its text: `own` if that is not NULL. False
 * on allocation failure. */
bool tr_find_text(trellis_writer *writer, const trellis_sequence *sequence, size_t word,
                  trellis_text own);
/* Writes what is known of a sequence as further members of its object. `has_text`: the object has a
 * member "text". */
void tr_put_annotation(trellis_writer *writer, const trellis_sequence *sequence, bool has_text);
/* An array of texts that lie `stride` texts apart. */
void tr_put_json_array(struct tr_buffer *buffer, const trellis_text *texts, size_t stride,
                       size_t length);

trellis_status tr_put_columns(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error);
trellis_status tr_put_conllu(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error);
trellis_status tr_put_crfsuite(trellis_writer *writer, const trellis_sequence *sequence,
                               const trellis_text *labels, trellis_error *error);
trellis_status tr_put_labels(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error);
trellis_status tr_put_wordtag(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error);
trellis_status tr_put_inline(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error);
trellis_status tr_put_jsonl(trellis_writer *writer, const trellis_sequence *sequence,
                            const trellis_text *labels, trellis_error *error);

/* A set of ASCII characters: a bit for each. */
struct tr_characters {
    uint64_t low, high; // 0 .. 63 and 64 .. 127
};

/* Those of a string, and the zero byte; a constant where the string is one of a few characters. */
static inline __attribute__((always_inline)) struct tr_characters tr_characters(const char *string)
{
    struct tr_characters set = {1, 0};
#pragma GCC unroll 8
    for (; *string; string++) {
        uint64_t bit = UINT64_C(1) << *string % 64;
        set.low |= *string < 64 ? bit : 0;
        set.high |= *string < 64 ? 0 : bit;
    }
    return set;
}

static inline bool tr_is_one_of(char character, struct tr_characters set)
{
    unsigned char c = (unsigned char)character;
    return c < 128 && (c < 64 ? set.low : set.high) >> c % 64 & 1;
}

static inline bool tr_has_any(trellis_text text, struct tr_characters set)
{
    bool found = false;
    for (size_t i = 0; i < text.size; i++) {
        found |= tr_is_one_of(text.data[i], set);
    }
    return found;
}

/* Fails for a text that the format cannot represent. */
trellis_status tr_cannot_hold(const trellis_writer *writer, const trellis_sequence *sequence,
                              trellis_text text, trellis_error *error);

/* Writes a text; an error if it contains a character of `forbidden` or a zero byte. */
static inline __attribute__((always_inline)) trellis_status tr_put_text(
    trellis_writer *writer, const trellis_sequence *sequence, trellis_text text,
    const char *forbidden, trellis_error *error)
{
    if (tr_has_any(text, tr_characters(forbidden))) {
        return tr_cannot_hold(writer, sequence, text, error);
    }
    tr_buffer_text(&writer->buffer, text);
    return TRELLIS_OK;
}
/* The same with a backslash before each character of `escaped`. */
trellis_status tr_put_escaped(trellis_writer *writer, const trellis_sequence *sequence,
                              trellis_text text, const char *forbidden, const char *escaped,
                              trellis_error *error);
/* Writes all rows as they were read. */
void tr_put_rows(trellis_writer *writer, const trellis_sequence *sequence);

/* Whether the sequence has the rows it was read from, in the format that is written. */
bool tr_has_rows(const trellis_writer *writer, const trellis_sequence *sequence);

/* The column of the words: by its name, else the first; an error if there are no columns. */
trellis_status tr_word_column(const trellis_writer *writer, const trellis_sequence *sequence,
                              size_t *ret_column, trellis_error *error);
/* The column of the sequence's labels, TR_NO_COLUMN if they are not among its cells. */
size_t tr_gold_column(const trellis_sequence *sequence);

static inline trellis_text tr_cell(const trellis_sequence *sequence, size_t token, size_t column)
{
    return sequence->cells[token * sequence->columns + column];
}

#endif
