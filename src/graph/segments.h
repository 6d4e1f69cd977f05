/* segments.h - which labels begin, continue and end a segment of each type.
 *
 * With --segments a labelling stands for a segmentation, and the other way round:
 *
 *     IOB2    a segment of type X is B-X I-X .. I-X
 *     IOBES   S-X, or B-X I-X .. I-X E-X          (BILOU: U-X, or B-X I-X .. L-X)
 *     O, and every label without a letter, is a segment of one token that has no type
 *
 * so that segments need no notation of their own: learners, files and evaluation keep to labels.
 * In features of whole segments a type is represented by its head, the label that begins it.
 */
#ifndef TRELLIS_GRAPH_SEGMENTS_H
#define TRELLIS_GRAPH_SEGMENTS_H

#include "base/error.h"

#define TR_NO_LABEL UINT16_MAX
#define TR_MAX_SEGMENT 64 // tokens; the longest that --max-segment can ask for
#define TR_MAX_SEGMENT_LABELS 1024

struct tr_segment_type {
    uint16_t single;              // of a segment of one token; TR_NO_LABEL where there is none
    uint16_t first, inside, last; // of longer ones
    uint16_t head;                // first or, where there is none, single
    uint32_t max_length;          // of the segments that features see; at least 1
};

struct tr_segments {
    uint32_t labels, types;
    uint32_t max_length;          // the largest of all types, at least 1
    struct tr_segment_type *type; // [types] in the order of their first labels
    uint16_t *type_of;            // [labels] TR_NO_LABEL where a label has no type
    bool *begins;                 // [labels] whether a segment can begin with it
};

/* The types of a set of labels; every maximum length is 1. */
trellis_status tr_segments_create(const trellis_text *labels, uint32_t count,
                                  struct tr_segments **ret_segments, trellis_error *error);
void tr_segments_destroy(struct tr_segments *segments);
/* Sets the maximum lengths [types], each from 1 to TR_MAX_SEGMENT; false where one is not. */
bool tr_segments_set_lengths(struct tr_segments *segments, const uint32_t *lengths);

/* Whether a type can have segments of this many tokens. */
static inline bool tr_segment_possible(const struct tr_segment_type *type, size_t length)
{
    return length == 1 ? type->single != TR_NO_LABEL
                       : type->first != TR_NO_LABEL && type->last != TR_NO_LABEL &&
                             (length == 2 || type->inside != TR_NO_LABEL);
}

/* A segment of a labelling: tokens begin .. end-1. */
struct tr_segment {
    size_t begin, end;
    uint16_t type; // TR_NO_LABEL: one token without a type
};
/* The segment that begins at a token of a labelling; labels that begin none are a segment of one
 * token without a type. An unknown label (TR_NO_LABEL) ends the segment before it; a segment that
 * is not complete has no type. */
struct tr_segment tr_segment_at(const struct tr_segments *segments, const uint16_t *labels,
                                size_t length, size_t begin);

#endif
