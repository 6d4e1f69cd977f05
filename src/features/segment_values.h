/* segment_values.h - the values of the parts of segment templates, for all segments of a sequence. */
#ifndef TRELLIS_FEATURES_SEGMENT_VALUES_H
#define TRELLIS_FEATURES_SEGMENT_VALUES_H

#include "features/column_views.h"

/* What some parts share, for every segment or token of the sequence. */
struct tr_span_table {
    enum { TR_SPAN_KEYS, TR_SPAN_COUNTS, TR_SPAN_LISTS, TR_SPAN_NAMES } kind;
    uint32_t view, resource;
    uint64_t *low,
        *high;   // [n][L] keys of x of all tokens, 0: none; or [n + 1] counts from the first
    float *real; // [n][L] similarities; or 1 where it is in the list
    size_t room;
};

struct tr_segment_values {
    const trellis_features *features;
    struct tr_column_views *rows;
    size_t max_segment, length; // L, n
    size_t sequence;            // of the training data
    TR_ARRAY(struct tr_span_table) tables;
    uint32_t *table_of;            // [parts] TR_NONE: it needs none
    bool filtered;                 // not all segments are described
    TR_ARRAY(unsigned char) roles; // [n] of the words of the sequence
    /* Scratch of similarities. */
    struct tr_buffer text;
    TR_ARRAY(size_t) word;     // [n] the number of each word, by table
    TR_ARRAY(uint64_t) hash;   // [n] of each word in lower case
    TR_ARRAY(uint32_t) shared; // [names] words that a name has in common with the segment
    TR_ARRAY(size_t) touched;  // names that have any
};

/* False on allocation failure; tr_segment_values_end() must be called in either case. */
bool tr_segment_values_begin(struct tr_segment_values *values, const trellis_features *features,
                             struct tr_column_views *rows);
void tr_segment_values_end(struct tr_segment_values *values);
/* Fills the tables for a sequence whose rows are filled. */
trellis_status tr_segment_values_fill(struct tr_segment_values *values,
                                      const trellis_sequence *sequence, trellis_error *error);

/* Finds the roles of its words, where there is a filter (segment_filter.c); false on allocation
 * failure. */
bool tr_segment_values_filter(struct tr_segment_values *values, const trellis_sequence *sequence);

/* The key of a part for the segment of tokens s .. e; `at` is where the n-gram of any() begins.
 * False where it has no value. For tests the key is nothing, for numbers *ret_real is set. */
bool tr_segment_value(const struct tr_segment_values *values, uint32_t part, size_t s, size_t e,
                      size_t at, struct tr_key *ret_key, float *ret_real);
/* The text of the value of part `number`, appended. */
void tr_segment_text(struct tr_segment_values *values, const trellis_sequence *sequence,
                     uint32_t number, size_t s, size_t e, size_t at, struct tr_buffer *buffer);

#endif
