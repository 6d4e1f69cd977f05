/* column_views.h - the values of all views in a sequence, as rows of hashes (see
 * column_views.c). */
#ifndef TRELLIS_FEATURES_COLUMN_VIEWS_H
#define TRELLIS_FEATURES_COLUMN_VIEWS_H

#include "features/binding.h"
#include "features/compiled.h"

/* The views of one column, whose rows are adjacent: the cell itself, then functions of it, then its
 * numbers, then its places in entries of gazetteers, then the components of its vectors. */
struct tr_view_group {
    uint32_t column; // TR_NONE for the views of the position
    uint32_t first;  // its first row
    uint32_t plain, computed, reals, matched, components;
    /* [slots][1 + computed * halves] the cell's hash, the low halves, the high halves;
     * then the spans of strings, likewise */
    uint64_t *cache;
};

struct tr_column_views {
    const trellis_features *features;
    bool whole;     // keys have their high halves
    bool has_reals; // some template multiplies by a number
    struct tr_binding binding;
    struct tr_evaluation evaluation;
    uint64_t generation; // of the features, when the caches were filled

    uint32_t *row_of;  // [views] or TR_NONE
    uint32_t *view_of; // [count]
    uint32_t count;
    TR_ARRAY(struct tr_view_group) groups;
    size_t slots;              // of each cache
    struct tr_string_key *pad; // [count][2 * reach]
    char pad_text[16];         // for tr_column_views_text()

    size_t room;                    // tokens and margins in a row
    uint64_t *low;                  // [count][room]
    uint64_t *high;                 // [count][room] where whole keys are wanted
    uint64_t *low_span, *high_span; // [count][room] of a set keyed by strings: their spans
    float *real;                    // [count][room] where there are numbers
    uint64_t *words;                // [room] for gazetteers: hashes of the words of a sequence,
    char *places;                   // [room] and where they are in entries
    uint64_t moves;                 // grows when the rows have moved to other memory
};

/* False on allocation failure; tr_column_views_end() must be called in either case. */
bool tr_column_views_begin(struct tr_column_views *rows, const trellis_features *features,
                           bool whole);
void tr_column_views_end(struct tr_column_views *rows);

/* Which block of the training data learned() leaves out from here on. */
void tr_column_views_leave_out(struct tr_column_views *rows, uint64_t block);

/* Fills all rows. Views of an optional column that is not there keep their old values. */
trellis_status tr_column_views_fill(struct tr_column_views *rows, const trellis_sequence *sequence,
                                    trellis_error *error);

/* The index of the value of a view at a token, which may lie up to `reach` outside the sequence. */
static inline size_t tr_column_views_at(const struct tr_column_views *rows, uint32_t view,
                                        ptrdiff_t token)
{
    return rows->row_of[view] * rows->room + (size_t)((ptrdiff_t)rows->features->reach + token);
}

/* Whether a view has a value at every token and everywhere within `reach` of the sequence. */
bool tr_column_views_always_present(const struct tr_column_views *rows, uint32_t view);

/* The text of a view at a token, valid until the next call; false if there is no value. */
bool tr_column_views_text(struct tr_column_views *rows, const trellis_sequence *sequence,
                          uint32_t view, ptrdiff_t token, trellis_text *ret_text);

#endif
