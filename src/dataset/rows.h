/* rows.h - the memory layout of the weights, which decides the speed.
 *
 * An attribute has one weight for each outcome it was seen with. An outcome is a label for node
 * attributes, and a label pair (from * width + to) for edge attributes. The few attributes that are
 * seen with many outcomes account for most of the occurrences: they get a dense row of `width`
 * floats, which vector instructions add whole; all others get a list of pairs. Attributes are
 * numbered so that the dense ones come first and the frequent before the rare, so that hot weights
 * share cache lines.
 *
 *     weights:  [dense][width] | pairs of attribute `dense` | pairs of the next | ...
 *
 * Attributes that always occur together may share a row (share.c): the first of them owns it, and
 * the others are numbered after all owners. During training the weights of a shared row are the
 * sums over the attributes that share it, so that code which adds up rows need not know about
 * sharing.
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
    uint32_t attributes; // A: those that own a row
    uint32_t dense;      // attributes 0 .. dense-1 have dense rows
    uint64_t *begin;     // [A + 1] into outcome: the pairs of each attribute, dense or not
    uint32_t *outcome;   // [begin[A]] sorted within an attribute; NULL if pairs are not listed
    uint64_t *mask;      // [dense][mask_words] which entries of a dense row are weights
    size_t mask_words;
    size_t size;           // floats of the weights
    uint32_t shared;       // attributes A .. A+shared-1 use the row of another,
    uint32_t *shared_with; // [shared] its owner
    /* For each dense row, then for each pair: how many attributes use it. NULL: all rows have
     * one. */
    float *multiplicity;
};

/* Lays out the weights of attributes given as sorted pair lists, in their final numbering with
 * `dense` of them dense. Takes `begin` and `outcome` over, also on failure. */
trellis_status tr_rows_create(uint32_t outcomes, uint32_t attributes, uint32_t dense,
                              uint64_t *begin, uint32_t *outcome, struct tr_rows **ret_rows,
                              trellis_error *error);
/* Dense rows with a weight for every outcome, for a number of attributes that may grow: none so
 * far, with room for `room` of them. The pairs are not listed. */
trellis_status tr_rows_create_whole(uint32_t outcomes, uint32_t room, struct tr_rows **ret_rows,
                                    trellis_error *error);
/* Of such rows: the number of attributes, within the room. */
void tr_rows_set_attributes(struct tr_rows *rows, uint32_t attributes);
/* Adds attributes that use the rows of others: attribute A + i uses that of shared_with[i]. Takes
 * `shared_with` [shared] over, also on failure. */
trellis_status tr_rows_share(struct tr_rows *rows, uint32_t shared, uint32_t *shared_with,
                             trellis_error *error);
void tr_rows_destroy(struct tr_rows *rows);

/* Whether an attribute with this many pairs should have a dense row: a row of vectors costs
 * width / 8 additions, a pair about one. */
bool tr_rows_worth_dense(uint32_t outcomes, size_t pairs);

/* The number of pairs stored, and of all features: pairs of a shared row count for each
 * attribute. */
size_t tr_rows_pairs(const struct tr_rows *rows);
size_t tr_rows_features(const struct tr_rows *rows);
/* The number of attributes, with and without a row of their own. */
static inline uint32_t tr_rows_attributes(const struct tr_rows *rows)
{
    return rows->attributes + rows->shared;
}
/* The attribute that owns the row of an attribute. */
static inline uint32_t tr_rows_owner(const struct tr_rows *rows, uint32_t attribute)
{
    return attribute < rows->attributes ? attribute
                                        : rows->shared_with[attribute - rows->attributes];
}
/* How many attributes use the row of its owner `attribute`. */
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

/* The index of a pair in the weights; SIZE_MAX if it is not a feature. */
size_t tr_rows_find(const struct tr_rows *rows, uint32_t attribute, uint32_t outcome);

/* The features alone, without the gaps of dense rows: what an optimiser sees, in double precision.
 * In a row that k attributes share, a feature is sqrt(k) times the weight of one of them (share.c).
 * Spreading sets the weights of the attributes from..end-1 from the features; gathering adds the
 * weights to the features. */
void tr_rows_spread(const struct tr_rows *rows, const double *features, uint32_t from, uint32_t end,
                    float *weights);
void tr_rows_gather(const struct tr_rows *rows, const float *weights, double *features);
/* Spreading in two steps, for features that come from others. Rounding gives the weights that the
 * features first .. end-1 stand for, one for each, and returns how many are not 0, shared rows counted
 * for each attribute; both arrays begin with `first`. Placing takes those of all features. */
size_t tr_rows_round(const struct tr_rows *rows, const double *features, size_t first, size_t end,
                     float *values);
void tr_rows_place(const struct tr_rows *rows, const float *values, uint32_t from, uint32_t end,
                   float *weights);

/* Most attributes are rare, so a few sequences touch few of the weights. Marks record which: a bit
 * for each dense row, then one for every TR_MARKED pairs. */
enum { TR_MARKED = 16 };
size_t tr_rows_mark_words(const struct tr_rows *rows);
void tr_rows_mark(const struct tr_rows *rows, const uint32_t *attributes, size_t count,
                  uint64_t *marks);
/* Adds the marked entries of a gradient over the weights to one over the features, on a grid
 * (tr_on_grid), and zeroes them. */
void tr_rows_take_marked(const struct tr_rows *rows, const uint64_t *marks, float *gradient,
                         double grid, double *features);

/* Adds a gradient over the weights of an attribute, `values` with one for each of its features, to
 * the features first .. end-1 of one over all of them. */
void tr_rows_take(const struct tr_rows *rows, uint32_t attribute, const double *values,
                  size_t first, size_t end, double *features);

/* The squared norm of the weights of all attributes, shared rows counted for each. */
double tr_rows_norm(const struct tr_rows *rows, const float *weights);
/* How many weights of the attributes from..end-1 are not 0, shared rows counted for each. */
size_t tr_rows_active(const struct tr_rows *rows, const float *weights, uint32_t from,
                      uint32_t end);
/* After training: divides the sums of shared rows, so that a row holds the weights of one
 * attribute. */
void tr_rows_divide_shared(const struct tr_rows *rows, float *weights);

#endif
