/* bundles.h - attributes that often occur together, added up once for all tokens that have them.
 *
 * A batch pass scores all tokens under the same weights. An attribute such as pos[-1..0]=DT|NN
 * implies others, here pos[-1]=DT and pos[0]=NN: wherever it occurs they do. The sum of their rows
 * is the same for all these tokens, so it is kept as one row, a bundle:
 *
 *     sum_B = sum of the rows of B's members                     once before a pass
 *     score of a token = sum of sum_B over its bundles, and of the rows that are in none
 *
 * A gradient goes the other way: it is added to the rows of bundles, and after the pass from these
 * to their members. Both are exact up to rounding. What implies what is found in the data, so that
 * ready-made attributes are bundled as well.
 *
 * Of the rows that remain single, dense ones are listed like bundles; a sparse row is listed pair
 * by pair, so that no index has to be looked up.
 */
#ifndef TRELLIS_DATASET_BUNDLES_H
#define TRELLIS_DATASET_BUNDLES_H

#include "base/pool.h"
#include "dataset/dataset.h"
#include "dataset/row_kernels.h"

/* Rows are at most this wide; wider ones are rarely dense, and bundles of them take much memory. */
enum { TR_WIDEST_BUNDLE = 256 };

struct tr_bundles {
    const struct tr_rows *rows;
    size_t tokens;
    uint32_t count;
    uint32_t *member_begin; // [count + 1] into `member`
    uint32_t *member;       // attributes, each with a row of its own
    /* The other way round: the attributes that are members of some bundle, and those bundles. */
    uint32_t inherits;      // how many
    uint32_t *heir;         // [inherits] ascending
    uint32_t *bundle_begin; // [inherits + 1] into `bundle`
    uint32_t *bundle;
    uint64_t *heir_begin; // [inherits + 1] into `inherited`
    double *inherited;    // the gradient that each feature of the heirs gets from its bundles
    /* All tokens, as in struct tr_bundled_tokens. */
    uint32_t *row_begin, *pair_begin; // [tokens + 1]
    uint32_t *row;
    uint32_t *pair;
    uint16_t *outcome;
    float *sum;       // [count][rows->width] under the weights of tr_bundles_add_up()
    double *gradient; // [count][rows->width] what blocks have added: tr_bundles_take_marked()
};

/* The bundles of the tokens of a corpus; *ret_bundles is NULL where they would not pay. The rows
 * must stay. */
trellis_status tr_bundles_create(const struct tr_occurrences *occurrences, size_t tokens,
                                 const struct tr_rows *rows, struct tr_bundles **ret_bundles,
                                 trellis_error *error);
/* The rows and pairs of tokens without any bundles, for methods that change weights after a few
 * sequences: no attribute has to be looked up. The pool may be NULL. */
trellis_status tr_bundles_list(const struct tr_occurrences *occurrences, size_t tokens,
                               const struct tr_rows *rows, struct tr_pool *pool,
                               struct tr_bundles **ret_bundles, trellis_error *error);
void tr_bundles_destroy(struct tr_bundles *bundles);

/* The same of a training corpus: of its tokens and, where neither have values, of all segments, which
 * count as tokens in the parts of segment_parts.h. One thread searches, which reads the corpus and
 * the rows, and must itself be the only one to talk to the ranks; then the threads of the pool, which
 * may be NULL, list the tokens. The finder is NULL where there can be no bundles. Where ranks are
 * given, each has the occurrences of some of the tokens, earlier ranks of earlier tokens; all find
 * the same bundles. */
struct tr_bundle_finder;
trellis_status tr_bundles_search(const struct tr_dataset *dataset, const struct tr_rows *rows,
                                 struct tr_ranks *ranks, struct tr_bundle_finder **ret_finder,
                                 trellis_error *error);
trellis_status tr_bundles_of_search(struct tr_bundle_finder *finder, struct tr_pool *pool,
                                    struct tr_bundles **ret_bundles, trellis_error *error);
void tr_bundle_finder_destroy(struct tr_bundle_finder *finder);
static inline bool tr_bundles_have_segments(const struct tr_bundles *bundles,
                                            const struct tr_dataset *dataset)
{
    return bundles && bundles->tokens > dataset->tokens;
}

/* The tokens first .. end-1. */
struct tr_bundled_tokens tr_bundles_tokens(const struct tr_bundles *bundles, size_t first,
                                           size_t end);
/* Sets `sum` from the weights. */
void tr_bundles_add_up(struct tr_bundles *bundles, const struct tr_row_kernels *kernels,
                       const float *weights, struct tr_pool *pool);

/* Which bundles the tokens first .. end-1 have, as bits [tr_bundles_mark_words()]; and which rows
 * and pairs that are single, as tr_rows_mark() does. */
size_t tr_bundles_mark_words(const struct tr_bundles *bundles);
void tr_bundles_mark(const struct tr_bundles *bundles, size_t first, size_t end, uint64_t *marks,
                     uint64_t *row_marks);
/* Adds the marked rows of a block's gradient [count][width] to `sums` of that size, on a grid
 * (tr_on_grid), and zeroes them. */
void tr_bundles_take_marked(const struct tr_bundles *bundles, const uint64_t *marks,
                            float *gradient, double grid, double *sums);
/* Adds up `gradient` for each member in `inherited`, and zeroes it: sums of numbers on the grid, so
 * that `inherited` may be summed over ranks. */
void tr_bundles_hand_down(struct tr_bundles *bundles, struct tr_pool *pool);
/* Adds `inherited` to the features first .. end-1 of a gradient over all of them. */
void tr_bundles_inherit(const struct tr_bundles *bundles, size_t first, size_t end,
                        double *features, struct tr_pool *pool);

#endif
