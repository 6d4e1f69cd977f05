/* rows.h - where the weights of an attribute live: the memory layout that decides the speed.
 *
 * An attribute has one weight for each outcome it was seen with. An outcome is a label for node
 * attributes, and a label pair (from * width + to) for edge attributes. The few attributes that are
 * seen with many outcomes make most of the occurrences: they get a dense row of `width` floats, which
 * vector instructions add whole; all others get just their pairs. Attributes are numbered so that the
 * dense ones come first, the frequent before the rare, and what is hot shares cache lines.
 *
 *     weights:  [dense][width] | pairs of attribute `dense` | pairs of the next | ...
 *
 * Attributes that always occur together may share a row (share.c): one of them has it, the others follow in
 * the numbering as its shared. While a training lasts, the weights of such a row are those of all its multiplicity
 * summed, so that nobody who adds up rows need know.
 */
#ifndef TRELLIS_DATASET_ROWS_H
#define TRELLIS_DATASET_ROWS_H

#include "base/error.h"
#include "base/kernels.h"

/* The stride of a row of scores or weights: whole vectors. */
static inline uint32_t tr_row_width(uint32_t outcomes)
{
    return (uint32_t)tr_padded(outcomes);
}

struct tr_rows {
    uint32_t outcomes;   // the highest outcome + 1
    uint32_t width;      // of a dense row: tr_row_width(outcomes)
    uint32_t attributes; // A
    uint32_t dense;      // attributes 0 .. dense-1 have dense rows
    uint64_t *begin;     // [A + 1] into outcome: the pairs of every attribute, dense or not
    uint32_t *outcome;   // [begin[A]] sorted within an attribute
    uint64_t *mask;      // [dense][mask_words] which entries of a dense row are weights
    size_t mask_words;
    size_t size;           // floats of the weights
    uint32_t shared;       // attributes A .. A+shared-1 share the row of another:
    uint32_t *shared_with; // [shared] of this one
    float *
        multiplicity; // for each dense row, then for each pair: how many share it; NULL: nobody does
};

/* Lays out the weights of attributes given as sorted pair lists, in their final numbering with
 * `dense` of them dense. Takes `begin` and `outcome` over, also on failure. */
trellis_status tr_rows_create(uint32_t outcomes, uint32_t attributes, uint32_t dense,
                              uint64_t *begin, uint32_t *outcome, struct tr_rows **ret_rows,
                              trellis_error *error);
/* Has the attributes after the others share the rows of those before: shared_with [shared] is taken over, also on
 * failure. */
trellis_status tr_rows_share(struct tr_rows *rows, uint32_t shared, uint32_t *shared_with,
                             trellis_error *error);
void tr_rows_destroy(struct tr_rows *rows);

/* Whether an attribute with this many pairs should have a dense row: a row of vectors costs
 * width / 8 additions, a pair about one. */
bool tr_rows_worth_dense(uint32_t outcomes, size_t pairs);

/* The number of pairs that have a place of their own, and of all pairs, those of shared included. */
size_t tr_rows_pairs(const struct tr_rows *rows);
size_t tr_rows_features(const struct tr_rows *rows);
/* The number of attributes, shared included. */
static inline uint32_t tr_rows_attributes(const struct tr_rows *rows)
{
    return rows->attributes + rows->shared;
}
/* The attribute whose row an attribute has. */
static inline uint32_t tr_rows_owner(const struct tr_rows *rows, uint32_t attribute)
{
    return attribute < rows->attributes ? attribute
                                        : rows->shared_with[attribute - rows->attributes];
}
/* How many attributes share the row of one that has it. */
static inline float tr_rows_multiplicity(const struct tr_rows *rows, uint32_t attribute)
{
    if (!rows->multiplicity) {
        return 1;
    }
    return rows
        ->multiplicity[attribute < rows->dense ? attribute
                                               : rows->dense + (size_t)(rows->begin[attribute] -
                                                                        rows->begin[rows->dense])];
}

/* Where the weights of an attribute begin: its dense row, or the list of its pairs. */
static inline size_t tr_rows_at(const struct tr_rows *rows, uint32_t attribute)
{
    return attribute < rows->dense
               ? (size_t)attribute * rows->width
               : (size_t)rows->dense * rows->width +
                     (size_t)(rows->begin[attribute] - rows->begin[rows->dense]);
}

/* Where the pair stands in the weights; SIZE_MAX where it is no feature. */
size_t tr_rows_find(const struct tr_rows *rows, uint32_t attribute, uint32_t outcome);

/* The features alone, without the gaps of dense rows: what an optimiser sees, in double precision. For a row
 * with k multiplicity, a feature is sqrt(k) times the weight of one of them.
 * Spreading fills the weights of the attributes from..end-1 from them; gathering adds the weights to them. */
void tr_rows_spread(const struct tr_rows *rows, const double *features, uint32_t from, uint32_t end,
                    float *weights);
void tr_rows_gather(const struct tr_rows *rows, const float *weights, double *features);

/* Most attributes are rare, so few sequences have little to do with most weights. Marks tell which weights
 * they have to do with: a bit for each dense row, then one for every TR_MARKED pairs. */
enum { TR_MARKED = 16 };
size_t tr_rows_mark_words(const struct tr_rows *rows);
void tr_rows_mark(const struct tr_rows *rows, const uint32_t *attributes, size_t count,
                  uint64_t *marks);
/* Adds the slopes that are marked to those along the features, and leaves 0 in their place. */
void tr_rows_take_marked(const struct tr_rows *rows, const uint64_t *marks, float *slopes,
                         double *features);

/* The squared norm of all weights, each member's counted. */
double tr_rows_norm(const struct tr_rows *rows, const float *weights);
/* How many weights of the attributes from..end-1 are not 0, each member's counted. */
size_t tr_rows_active(const struct tr_rows *rows, const float *weights, uint32_t from,
                      uint32_t end);
/* Ends the sharing of sums: every member's own weights. */
void tr_rows_part(const struct tr_rows *rows, float *weights);

#endif
