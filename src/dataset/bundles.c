/* bundles.c - moves sums between bundles and their members. */
#include "dataset/bundles.h"

#include "base/ranks.h"

void tr_bundles_destroy(struct tr_bundles *bundles)
{
    if (bundles) {
        free(bundles->member_begin);
        free(bundles->member);
        free(bundles->heir);
        free(bundles->bundle_begin);
        free(bundles->bundle);
        free(bundles->heir_begin);
        free(bundles->inherited);
        free(bundles->row_begin);
        free(bundles->pair_begin);
        free(bundles->row);
        free(bundles->pair);
        free(bundles->outcome);
        free(bundles->sum);
        free(bundles->gradient);
        free(bundles);
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

struct tr_bundled_tokens tr_bundles_tokens(const struct tr_bundles *bundles, size_t first,
                                           size_t end)
{
    return (struct tr_bundled_tokens){.row_begin = bundles->row_begin + first,
                                      .row = bundles->row,
                                      .pair_begin = bundles->pair_begin + first,
                                      .pair = bundles->pair,
                                      .outcome = bundles->outcome,
                                      .n = end - first,
                                      .first = first,
                                      .bundles = bundles->count,
                                      .width = bundles->rows->width};
}

/* The members of the bundles first .. end-1 as if these were tokens. */
static struct tr_tokens members_of(const struct tr_bundles *bundles, size_t first, size_t end)
{
    return (struct tr_tokens){
        .begin = bundles->member_begin + first, .attribute = bundles->member, .n = end - first};
}

struct adding {
    struct tr_bundles *bundles;
    const struct tr_row_kernels *kernels;
    const float *weights;
};

static double add_up_piece(void *user, size_t begin, size_t end)
{
    const struct adding *x = user;
    size_t width = x->bundles->rows->width;
    struct tr_tokens members = members_of(x->bundles, begin, end);
    float *sum = x->bundles->sum + begin * width;
    memset(sum, 0, (end - begin) * width * sizeof *sum);
    x->kernels->score(x->bundles->rows, x->weights, &members, sum, width);
    return 0;
}

void tr_bundles_add_up(struct tr_bundles *bundles, const struct tr_row_kernels *kernels,
                       const float *weights, struct tr_pool *pool)
{
    struct adding x = {bundles, kernels, weights};
    tr_pool_sum_rows(pool, bundles->count, bundles->rows->width, add_up_piece, &x);
}

size_t tr_bundles_mark_words(const struct tr_bundles *bundles)
{
    return ((size_t)bundles->count + 63) / 64;
}

static void set_bit(uint64_t *marks, size_t bit)
{
    marks[bit / 64] |= (uint64_t)1 << (bit % 64);
}

void tr_bundles_mark(const struct tr_bundles *bundles, size_t first, size_t end, uint64_t *marks,
                     uint64_t *row_marks)
{
    const struct tr_rows *rows = bundles->rows;
    for (uint32_t k = bundles->row_begin[first]; k < bundles->row_begin[end]; k++) {
        uint32_t row = bundles->row[k] % TR_LISTED_ROWS;
        bool single = row >= bundles->count;
        set_bit(single ? row_marks : marks, single ? row - bundles->count : row);
    }
    for (uint32_t k = bundles->pair_begin[first]; k < bundles->pair_begin[end]; k++) {
        size_t pair = bundles->pair[k] - (size_t)rows->dense * rows->width;
        set_bit(row_marks, rows->dense + pair / TR_MARKED);
    }
}

void tr_bundles_take_marked(const struct tr_bundles *bundles, const uint64_t *marks,
                            float *gradient, double grid, double *sums)
{
    const struct tr_row_kernels *kernels = tr_row_kernels();
    size_t width = bundles->rows->width, words = tr_bundles_mark_words(bundles);
    for (size_t i = 0; i < words; i++) {
        for (uint64_t left = marks[i]; left; left &= left - 1) {
            size_t at = (i * 64 + (size_t)__builtin_ctzll(left)) * width;
            kernels->take(sums + at, gradient + at, 1, grid, width);
        }
    }
}

static double hand_down_piece(void *user, size_t begin, size_t end)
{
    const struct tr_bundles *b = user;
    size_t width = b->rows->width;
    for (size_t i = begin; i < end; i++) {
        double row[TR_WIDEST_BUNDLE] = {0};
        for (uint32_t k = b->bundle_begin[i]; k < b->bundle_begin[i + 1]; k++) {
            const double *gradient = b->gradient + b->bundle[k] * width;
            for (size_t j = 0; j < width; j++) {
                row[j] += gradient[j];
            }
        }
        const uint32_t *outcome = b->rows->outcome + b->rows->begin[b->heir[i]];
        for (uint64_t k = b->heir_begin[i]; k < b->heir_begin[i + 1]; k++) {
            b->inherited[k] = row[*outcome++];
        }
    }
    return 0;
}

void tr_bundles_hand_down(struct tr_bundles *bundles, struct tr_pool *pool)
{
    tr_pool_sum_rows(pool, bundles->inherits, bundles->rows->width, hand_down_piece, bundles);
    memset(bundles->gradient, 0, bundles->count * bundles->rows->width * sizeof *bundles->gradient);
}

struct inheriting {
    const struct tr_bundles *bundles;
    size_t first, end;
    double *features;
};

static double inherit_piece(void *user, size_t begin, size_t end)
{
    const struct inheriting *x = user;
    const struct tr_bundles *b = x->bundles;
    for (size_t i = begin; i < end; i++) {
        tr_rows_take(b->rows, b->heir[i], b->inherited + b->heir_begin[i], x->first, x->end,
                     x->features);
    }
    return 0;
}

void tr_bundles_inherit(const struct tr_bundles *bundles, size_t first, size_t end,
                        double *features, struct tr_pool *pool)
{
    struct inheriting x = {bundles, first, end, features};
    tr_pool_sum_rows(pool, bundles->inherits, bundles->rows->width, inherit_piece, &x);
}
