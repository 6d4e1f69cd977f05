/* segment_filter.h - which segments are worth describing (--filter); see segment_filter.c. */
#ifndef TRELLIS_FEATURES_SEGMENT_FILTER_H
#define TRELLIS_FEATURES_SEGMENT_FILTER_H

#include "base/intern.h"
#include "features/resources.h"

/* What a token can be in a segment. */
enum { TR_CAN_BEGIN = 1, TR_CAN_CONTINUE = 2, TR_CAN_END = 4 };

/* How often a word, or a class of words, was seen, and as what. */
struct tr_role_counts {
    uint32_t seen, begins, continues, ends;
};
struct tr_role_counter {
    struct tr_intern words;
    TR_ARRAY(struct tr_role_counts) counts; // [words]
};

/* What a word can be, by the table of a filter. */
unsigned tr_filter_roles(trellis_text table, trellis_text word);

#endif
