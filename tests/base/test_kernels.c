/* test_kernels.c - every kernel set that this processor runs, against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/kernels.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

#define MAX_WIDTH 64

static struct tr_random dice;

static float *random_floats(size_t count, double low, double high)
{
    float *row = tr_alloc_aligned(count, sizeof *row);
    assert_non_null(row);
    for (size_t j = 0; j < count; j++) {
        row[j] = (float)(low + (high - low) * tr_random_real(&dice));
    }
    return row;
}

static void assert_near(double is, double right, double tolerance)
{
    if (!(fabs(is - right) <= tolerance * (1 + fabs(right))) && is != right) {
        print_error("%.9g, not %.9g\n", is, right);
        fail();
    }
}

/* Calls check for every set, rows and width, with some operands. */
struct operands {
    const struct tr_kernels *kernels;
    size_t rows, width;
    float *from, *to, *matrix, *out;
};

static void for_all(void (*check)(struct operands *))
{
    const struct tr_kernels *kernels;
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        for (size_t width = 8; width <= MAX_WIDTH; width += 8) {
            for (size_t rows = 1; rows <= width; rows += 1 + rows / 3) {
                struct operands x = {kernels, rows, width, NULL, NULL, NULL, NULL};
                x.from = random_floats(width, -2, 2);
                x.to = random_floats(width, -2, 2);
                x.matrix = random_floats(rows * width, -2, 2);
                x.out = random_floats(width, -2, 2);
                check(&x);
                free(x.from);
                free(x.to);
                free(x.matrix);
                free(x.out);
            }
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Rows of a matrix that begin between its own, and one of them twice. */
static void check_added(struct operands *x)
{
    float was[MAX_WIDTH];
    uint32_t begin[MAX_WIDTH + 1];
    size_t count = 0;
    memcpy(was, x->out, x->width * sizeof *was);
    for (size_t a = 0; a + 1 < x->rows; a++) {
        begin[count++] = (uint32_t)(a * x->width + a % x->width);
    }
    begin[count++] = 0;
    x->kernels->add_listed(x->out, x->matrix, begin, count, x->width);
    for (size_t j = 0; j < x->width; j++) {
        double sum = (double)was[j];
        for (size_t k = 0; k < count; k++) {
            sum += (double)x->matrix[begin[k] + j];
        }
        assert_near((double)x->out[j], sum, 1e-5);
    }
    memcpy(was, x->out, x->width * sizeof *was);
    x->kernels->add_listed(x->out, x->matrix, begin, 0, x->width);
    assert_memory_equal(x->out, was, x->width * sizeof *was);
}

/* All 16-bit integers, from any offset; sums of so few are exact. */
static void shorts_of_every_value(void **state)
{
    (void)state;
    enum { VALUES = 1 << 16 };
    const float unit = 0x1p-9f;
    const struct tr_kernels *kernels;
    int16_t *row = tr_alloc(VALUES, sizeof *row);
    float *sum = tr_alloc_aligned(MAX_WIDTH, sizeof *sum);
    assert_true(row && sum);
    for (int i = 0; i < VALUES; i++) {
        row[i] = (int16_t)(i - VALUES / 2);
    }
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        for (uint32_t width = TR_LANES; width <= MAX_WIDTH; width += TR_LANES) {
            for (uint32_t from = 0; from + width <= VALUES; from++) {
                const uint32_t begin[] = {from, 0, VALUES - width};
                for (uint32_t j = 0; j < width; j++) {
                    sum[j] = (float)j;
                }
                kernels->add_listed_shorts(sum, row, begin, TR_COUNT(begin), unit, width);
                for (uint32_t j = 0; j < width; j++) {
                    int expected = row[from + j] + row[j] + row[VALUES - width + j];
                    assert_true(sum[j] == (float)j + unit * (float)expected);
                }
            }
        }
    }
    free(sum);
    free(row);
}

static void check_rows(struct operands *x)
{
    float was[MAX_WIDTH];
    memcpy(was, x->out, x->width * sizeof *was);
    x->kernels->add(x->out, x->to, x->width);
    x->kernels->add_scaled(x->out, x->from, 3, x->width);
    x->kernels->multiply(x->out, x->from, x->width);
    x->kernels->scale(x->out, 0.5f, x->width);
    double sum = 0;
    size_t largest = 0;
    for (size_t j = 0; j < x->width; j++) {
        assert_near((double)x->out[j],
                    0.5 * ((double)was[j] + (double)x->to[j] + 3 * (double)x->from[j]) *
                        (double)x->from[j],
                    1e-5);
        sum += (double)x->out[j];
        largest = x->out[j] > x->out[largest] ? j : largest;
    }
    assert_near((double)x->kernels->sum(x->out, x->width), sum, 1e-5);
    assert_true(x->kernels->maximum(x->out, x->width) == x->out[largest]);
    assert_int_equal(x->kernels->argmax(x->out, x->width), largest);
}

static void rows(void **state)
{
    (void)state;
    for_all(check_rows);
    for_all(check_added);
}

/* Ties go to the lowest index, even where all are minus infinity. */
static void check_ties(struct operands *x)
{
    for (size_t j = 0; j < x->width; j++) {
        x->from[j] = (float)tr_random_below(&dice, 3);
        x->to[j] = (float)tr_random_below(&dice, 3);
    }
    size_t first = 0, first_plus = 0;
    for (size_t j = 0; j < x->width; j++) {
        first = x->from[j] > x->from[first] ? j : first;
        first_plus = x->from[j] + x->to[j] > x->from[first_plus] + x->to[first_plus] ? j
                                                                                     : first_plus;
    }
    assert_int_equal(x->kernels->argmax(x->from, x->width), first);
    assert_int_equal(x->kernels->argmax_plus(x->from, x->to, x->width), first_plus);
    for (size_t j = 0; j < x->width; j++) {
        x->from[j] = -INFINITY;
    }
    assert_int_equal(x->kernels->argmax(x->from, x->width), 0);
    assert_int_equal(x->kernels->argmax_plus(x->from, x->to, x->width), 0);
}

static void ties(void **state)
{
    (void)state;
    for_all(check_ties);
}

static void check_trellis_rows(struct operands *x)
{
    float alpha[MAX_WIDTH], to[MAX_WIDTH];
    double sum = 0, beta_sum = 0;
    memcpy(alpha, x->out, x->width * sizeof *alpha);
    double got = (double)x->kernels->forward_row(x->out, x->to, 1.5f, x->width);
    for (size_t j = 0; j < x->width; j++) {
        double right = (double)alpha[j] * (double)x->to[j] * 1.5;
        assert_near((double)x->out[j], right, 1e-6);
        sum += right;
    }
    assert_near(got, sum, 1e-5);

    float *marginal = x->matrix;
    memcpy(to, x->to, x->width * sizeof *to);
    got = (double)x->kernels->backward_row(marginal, x->to, x->out, x->from, 0.25f, x->width);
    for (size_t j = 0; j < x->width; j++) {
        assert_near((double)marginal[j], (double)x->out[j] * (double)x->from[j], 1e-6);
        assert_near((double)x->to[j], (double)to[j] * (double)x->from[j] * 0.25, 1e-6);
        beta_sum += (double)x->from[j];
    }
    assert_near(got, beta_sum, 1e-5);
}

/* Several rows of a trellis: positive numbers, and one row more than is asked for. */
struct recursion {
    const struct operands *x;
    size_t positions, width;
    float *alpha, *psi, *marginal, inverse[12];
};

static void check_forward_rows(const struct recursion *r)
{
    size_t width = r->width;
    double alpha[MAX_WIDTH], before = (double)r->inverse[0];
    float inverse[12], beyond = r->alpha[r->positions * width];
    memcpy(inverse, r->inverse, sizeof inverse);
    for (size_t j = 0; j < width; j++) {
        alpha[j] = (double)r->alpha[j];
    }
    r->x->kernels->forward_rows(r->alpha, r->psi, inverse, r->positions, r->x->matrix, r->x->rows,
                                width);
    for (size_t i = 1; i < r->positions; i++) {
        double next[MAX_WIDTH], sum = 0;
        for (size_t b = 0; b < width; b++) {
            next[b] = 0;
            for (size_t a = 0; a < r->x->rows; a++) {
                next[b] += alpha[a] * (double)r->x->matrix[a * width + b];
            }
            next[b] *= (double)r->psi[i * width + b] * before;
            assert_near((double)r->alpha[i * width + b], next[b], 1e-5);
            sum += next[b];
        }
        memcpy(alpha, next, sizeof next);
        before = 1 / sum;
        assert_near((double)inverse[i] * sum, 1, 1e-5);
    }
    assert_true(inverse[0] == r->inverse[0]);
    assert_true(inverse[r->positions] == r->inverse[r->positions]);
    assert_true(r->alpha[r->positions * width] == beyond);
}

static void check_backward_rows(const struct recursion *r)
{
    size_t width = r->width, size = (r->positions + 1) * width;
    double beta[MAX_WIDTH], largest = 0;
    float *to = random_floats(size, 0, 1), *was = random_floats(size, 0, 1);
    memcpy(was, to, size * sizeof *to);
    for (size_t j = 0; j < width; j++) {
        beta[j] = (double)r->x->out[j];
    }
    double got = (double)r->x->kernels->backward_rows(r->marginal, to, r->alpha, r->x->out,
                                                      r->inverse, r->positions, r->x->matrix,
                                                      r->x->rows, width);
    for (size_t i = r->positions; i-- > 1;) {
        double row[MAX_WIDTH], next[MAX_WIDTH] = {0}, sum = 0;
        for (size_t j = 0; j < width; j++) {
            size_t at = i * width + j;
            row[j] = (double)was[at] * beta[j] * (double)r->inverse[i - 1];
            assert_near((double)to[at], row[j], 1e-5);
            assert_near((double)r->marginal[at], (double)r->alpha[at] * beta[j], 1e-5);
            sum += beta[j];
        }
        for (size_t a = 0; a < r->x->rows; a++) {
            for (size_t b = 0; b < width; b++) {
                next[b] += row[a] * (double)r->x->matrix[a * width + b];
            }
        }
        memcpy(beta, next, sizeof next);
        largest = sum > largest ? sum : largest;
    }
    assert_near(got, largest, 1e-5);
    for (size_t j = 0; j < width; j++) {
        assert_near((double)r->x->out[j], beta[j], 1e-5);
        assert_true(to[j] == was[j]);
        assert_true(to[r->positions * width + j] == was[r->positions * width + j]);
    }
    r->x->out[0] = NAN;
    assert_true(r->positions == 1 ||
                isnan(r->x->kernels->backward_rows(r->marginal, to, r->alpha, r->x->out, r->inverse,
                                                   r->positions, r->x->matrix, r->x->rows, width)));
    free(to);
    free(was);
}

static void check_recursions(struct operands *x)
{
    size_t positions = 1 + tr_random_below(&dice, 9), size = (positions + 1) * x->width;
    for (size_t j = 0; j < x->rows * x->width; j++) {
        x->matrix[j] = fabsf(x->matrix[j]);
    }
    for (size_t j = 0; j < x->width; j++) {
        x->out[j] = fabsf(x->out[j]);
    }
    struct recursion r = {.x = x,
                          .positions = positions,
                          .width = x->width,
                          .alpha = random_floats(size, 0, 1),
                          .psi = random_floats(size, 0, 1),
                          .marginal = random_floats(size, 0, 1)};
    for (size_t i = 0; i <= positions; i++) {
        r.inverse[i] = (float)(0.01 + tr_random_real(&dice) / 10);
    }
    check_forward_rows(&r);
    check_backward_rows(&r);
    free(r.alpha);
    free(r.psi);
    free(r.marginal);
}

static void check_exp_rows(struct operands *x)
{
    float *out = random_floats((x->rows + 1) * x->width, 0, 1), beyond = out[x->rows * x->width];
    double sum = 0, got = x->kernels->exp_rows(out, x->matrix, x->rows, x->width);
    for (size_t i = 0; i < x->rows; i++) {
        const float *in = x->matrix + i * x->width;
        float max = -INFINITY;
        for (size_t j = 0; j < x->width; j++) {
            max = fmaxf(max, in[j]);
        }
        for (size_t j = 0; j < x->width; j++) {
            assert_near((double)out[i * x->width + j], exp((double)(in[j] - max)), 1e-6);
        }
        sum += (double)max;
    }
    assert_near(got, sum, 1e-12);
    assert_true(out[x->rows * x->width] == beyond);
    free(out);
}

static void trellis_rows(void **state)
{
    (void)state;
    for_all(check_trellis_rows);
    for_all(check_recursions);
    for_all(check_exp_rows);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static void check_products(struct operands *x)
{
    x->kernels->vector_matrix(x->out, x->from, x->matrix, x->rows, x->width);
    for (size_t b = 0; b < x->width; b++) {
        double sum = 0;
        for (size_t a = 0; a < x->rows; a++) {
            sum += (double)x->from[a] * (double)x->matrix[a * x->width + b];
        }
        assert_near((double)x->out[b], sum, 1e-5);
    }
    x->kernels->matrix_vector(x->out, x->matrix, x->to, x->rows, x->width);
    for (size_t a = 0; a < x->rows; a++) {
        double sum = 0;
        for (size_t b = 0; b < x->width; b++) {
            sum += (double)x->matrix[a * x->width + b] * (double)x->to[b];
        }
        assert_near((double)x->out[a], sum, 1e-5);
    }
}

static void check_max_plus(struct operands *x)
{
    for (size_t i = 0; i < x->rows * x->width; i += 5) {
        x->matrix[i] = -INFINITY;
    }
    x->kernels->max_plus(x->out, x->from, x->matrix, x->rows, x->width);
    for (size_t b = 0; b < x->width; b++) {
        float best = -INFINITY;
        for (size_t a = 0; a < x->rows; a++) {
            best = fmaxf(best, x->from[a] + x->matrix[a * x->width + b]);
        }
        assert_true(x->out[b] == best);
    }
}

/* The best path through some rows, whose scores are few whole numbers, so that many tie. */
static void check_best_rows(struct operands *x)
{
    size_t positions = 1 + tr_random_below(&dice, 9), size = (positions + 1) * x->width;
    float *delta = random_floats(size, 0, 1), *node = random_floats(size, -2, 2);
    float *best = random_floats(size, 0, 1), *wanted = random_floats(size, 0, 1);
    float *by_to = random_floats(x->width * x->width, 0, 1);
    uint16_t path[12], right[12];
    for (size_t j = 0; j < size; j++) {
        node[j] = roundf(node[j]);
    }
    for (size_t a = 0; a < x->width; a++) {
        delta[a] = a < x->rows ? roundf(x->from[a]) : -INFINITY;
        for (size_t b = 0; b < x->width; b++) {
            bool forbidden = a >= x->rows || tr_random_below(&dice, 5) == 0;
            float score = forbidden ? -INFINITY : roundf(x->matrix[a * x->width + b]);
            by_to[b * x->width + a] = score;
            if (a < x->rows) {
                x->matrix[a * x->width + b] = score;
            }
        }
    }
    memcpy(wanted, delta, size * sizeof *wanted);
    x->kernels->best_rows(delta, best, node, positions, x->matrix, x->rows, x->width);
    for (size_t at = x->width; at < positions * x->width; at += x->width) {
        for (size_t b = 0; b < x->width; b++) {
            float max = -INFINITY;
            for (size_t a = 0; a < x->rows; a++) {
                max = fmaxf(max, wanted[at - x->width + a] + x->matrix[a * x->width + b]);
            }
            assert_true(best[at + b] == max);
            wanted[at + b] = max + node[at + b];
        }
    }
    for (size_t j = 0; j < size; j++) {
        assert_true(delta[j] == wanted[j]);
    }

    memset(path, 0, sizeof path);
    path[positions - 1] = (uint16_t)tr_random_below(&dice, x->width);
    path[positions] = 77;
    memcpy(right, path, sizeof path);
    for (size_t i = positions; i-- > 1;) {
        const float *from = wanted + (i - 1) * x->width, *column = by_to + right[i] * x->width;
        right[i - 1] = 0;
        for (size_t a = 1; a < x->width; a++) {
            bool above = from[a] + column[a] > from[right[i - 1]] + column[right[i - 1]];
            right[i - 1] = above ? (uint16_t)a : right[i - 1];
        }
    }
    x->kernels->trace_back(path, delta, best, by_to, positions, x->width);
    assert_memory_equal(path, right, sizeof path);
    best[(positions - 1) * x->width + path[positions - 1]] = 1e6f; // of no way
    x->kernels->trace_back(path, delta, best, by_to, positions, x->width);
    assert_true(positions == 1 || path[positions - 2] == 0);
    free(delta);
    free(node);
    free(best);
    free(wanted);
    free(by_to);
}

/* 300 positions: more than are summed in single precision at once. */
static void check_outer(struct operands *x)
{
    size_t positions = 1 + tr_random_below(&dice, 300),
           stride = x->rows + tr_random_below(&dice, 9);
    float *from = random_floats(positions * stride, 0, 1);
    float *to = random_floats(positions * x->width, 0, 1);
    double *sum = tr_alloc_aligned(x->rows * x->width, sizeof *sum);
    assert_non_null(sum);
    for (size_t i = 0; i < x->rows * x->width; i++) {
        sum[i] = 1;
    }
    x->kernels->outer_sum(sum, from, stride, to, positions, 0.5, x->rows, x->width);
    for (size_t a = 0; a < x->rows; a++) {
        for (size_t b = 0; b < x->width; b++) {
            double right = 1;
            for (size_t i = 0; i < positions; i++) {
                right += 0.5 * (double)from[i * stride + a] * (double)to[i * x->width + b];
            }
            assert_near(sum[a * x->width + b], right, 1e-5);
        }
    }
    free(from);
    free(to);
    free(sum);
}

static void check_listed(struct operands *x)
{
    uint32_t index[50];
    double sum[50];
    for (size_t k = 0; k < 50; k++) {
        index[k] = (uint32_t)tr_random_below(&dice, x->rows);
        sum[k] = 2;
    }
    x->kernels->listed_products(sum, x->matrix, index, 50, x->to, 0.5, x->width);
    for (size_t k = 0; k < 50; k++) {
        double right = 2;
        for (size_t j = 0; j < x->width; j++) {
            right += 0.5 * (double)x->matrix[index[k] * x->width + j] * (double)x->to[j];
        }
        assert_near(sum[k], right, 1e-5);
    }
}

/* Tiles of some rows for each block: listed rows have their factor, all others 1. */
static void check_tiles(struct operands *x)
{
    size_t blocks = x->width / TR_LANES, count = 0;
    uint32_t begin[MAX_WIDTH / TR_LANES + 1] = {0}, other[MAX_WIDTH * MAX_WIDTH / TR_LANES];
    float *factor = random_floats(blocks * x->rows * TR_LANES, 0, 3);
    float *row = random_floats(x->width, 0, 1);
    double *wide = tr_alloc_aligned(x->width, sizeof *wide), all = 0;
    for (size_t block = 0; block < blocks; block++) {
        for (uint32_t a = 0; a < x->rows; a++) {
            if (tr_random_below(&dice, 3) == 0) {
                other[count++] = a;
            }
        }
        begin[block + 1] = (uint32_t)count;
    }
    memset(row + x->rows, 0, (x->width - x->rows) * sizeof *row);
    assert_near(x->kernels->widen(wide, row, x->width), (double)x->kernels->sum(row, x->width),
                1e-5);
    for (size_t j = 0; j < x->width; j++) {
        assert_true(wide[j] == (double)row[j]);
        all += wide[j];
    }
    float least = x->kernels->tiled_sums(x->out, wide, row, all, begin, other, factor, blocks);
    float right_least = INFINITY;
    for (size_t b = 0; b < x->width; b++) {
        double sum = all;
        for (uint32_t k = begin[b / TR_LANES]; k < begin[b / TR_LANES + 1]; k++) {
            sum += wide[other[k]] * ((double)factor[k * TR_LANES + b % TR_LANES] - 1);
        }
        assert_near((double)x->out[b], sum, 1e-5);
        right_least = fminf(right_least, x->out[b]);
    }
    assert_true(least == right_least);
    free(factor);
    free(row);
    free(wide);
}

/* Vectors of the optimisers: any length, any alignment. */
static void check_vectors(struct operands *x)
{
    const float *a = x->from + 1, *b = x->to; // the first is not aligned
    size_t count = x->rows < x->width ? x->rows : x->width - 1;
    double sum[MAX_WIDTH + 1], right = 0, size = 0;
    for (size_t j = 0; j < count; j++) {
        right += (double)a[j] * (double)b[j];
        size += fabs((double)a[j] * (double)b[j]);
    }
    assert_true(fabs(x->kernels->dot(a, b, count) - right) <= 5e-7 * size);
    for (size_t j = 0; j <= count; j++) {
        sum[j] = (double)j;
    }
    x->kernels->add_two(sum, a, -0.5, b, 3, count);
    for (size_t j = 0; j < count; j++) {
        assert_true(fabs(sum[j] - ((double)j - 0.5 * (double)a[j] + 3 * (double)b[j])) < 1e-12);
    }
    assert_true(sum[count] == (double)count);
}

/* Row operations of Viterbi: maxima, the minimum of allowed labels, and labels above a limit. */
static void check_bounds(struct operands *x)
{
    float was[MAX_WIDTH], least = INFINITY;
    uint32_t index[MAX_WIDTH], listed = 0;
    memcpy(was, x->out, x->width * sizeof *was);
    x->kernels->raise(x->out, x->to, 0.5f, x->width);
    for (size_t j = 0; j < x->width; j++) {
        assert_true(x->out[j] == fmaxf(was[j], x->to[j] + 0.5f));
    }
    for (size_t j = 0; j < x->width; j += 3) {
        x->matrix[j] = -INFINITY;
    }
    x->out[x->width / 2] = -10; // not allowed, or the minimum
    for (size_t j = 0; j < x->rows; j++) {
        least = x->matrix[j] > -INFINITY ? fminf(least, x->out[j] - x->from[j]) : least;
    }
    assert_true(x->kernels->least_above(x->out, x->from, x->matrix, x->rows) == least);
    size_t count = x->kernels->list_above(index, x->from, x->to, 0.25f, x->width);
    for (uint32_t j = 0; j < x->width; j++) {
        if (x->from[j] + x->to[j] > 0.25f) {
            assert_true(listed < count && index[listed] == j);
            listed++;
        }
    }
    assert_int_equal(listed, count);
}

static void matrices(void **state)
{
    (void)state;
    for_all(check_products);
    for_all(check_max_plus);
    for_all(check_best_rows);
    for_all(check_outer);
    for_all(check_listed);
    for_all(check_tiles);
    for_all(check_vectors);
    for_all(check_bounds);
}

/* ---- the exponential ------------------------------------------------------------------------- */

/* Units in the last place between x and the exact value. */
static double units_off(float x, double right)
{
    float rounded = (float)right;
    double unit = (double)nextafterf(rounded, INFINITY) - (double)rounded;
    return fabs((double)x - right) / unit;
}

static void exponential(void **state)
{
    (void)state;
    const struct tr_kernels *kernels;
    float x[8] __attribute__((aligned(32))), y[8] __attribute__((aligned(32)));
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        double worst = 0;
        for (double at = -86.4; at < 88.7; at += 0.0007) {
            for (int j = 0; j < 8; j++) {
                x[j] = (float)(at + 0.0007 * tr_random_real(&dice));
            }
            kernels->exp(y, x, 8);
            for (int j = 0; j < 8; j++) {
                worst = fmax(worst, units_off(y[j], exp((double)x[j])));
            }
        }
        if (worst > 2) {
            print_error("%s: exp is off by %.2f units in the last place\n", kernels->name, worst);
            fail();
        }
    }
}

static void exponential_of_extremes(void **state)
{
    (void)state;
    const struct tr_kernels *kernels;
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        float x[8]
            __attribute__((aligned(32))) = {0, -0.0f, -INFINITY, INFINITY, -1e30f, 1e30f, -87, NAN};
        kernels->exp(x, x, 8);
        assert_true(x[0] == 1 && x[1] == 1);
        assert_true(x[2] == 0 && x[4] == 0 && x[6] == 0);
        assert_true(x[3] == INFINITY && x[5] == INFINITY);
        assert_true(isnan(x[7]));

        float row[8] __attribute__((aligned(32))) = {1e4f, 1e4f - 1, -1e4f, -INFINITY, 0, 0, 0, 0};
        assert_true(kernels->exp_row(row, row, 8) == 1e4f);
        assert_true(row[0] == 1);
        assert_near((double)row[1], exp(-1), 1e-6);
        assert_true(row[2] == 0 && row[3] == 0);
    }
}

/* Rows of several vectors, to the last of them. */
static void exp_of_whole_rows(void **state)
{
    (void)state;
    for (size_t k = 0; tr_kernels_at(k); k++) {
        for (size_t width = 16; width <= 96; width += 16) {
            float row[96] __attribute__((aligned(64))), out[96] __attribute__((aligned(64)));
            for (size_t j = 0; j < width; j++) {
                row[j] = (float)j / 8 - 3; // the largest is the last
            }
            assert_true(tr_kernels_at(k)->exp_row(out, row, width) == row[width - 1]);
            for (size_t j = 0; j < width; j++) {
                assert_near((double)out[j], exp((double)(row[j] - row[width - 1])), 1e-6);
            }
        }
    }
}

/* ---- the sets -------------------------------------------------------------------------------- */

static void sets(void **state)
{
    (void)state;
    size_t count = 0;
    while (tr_kernels_at(count)) {
        assert_non_null(tr_kernels_at(count)->name);
        count++;
    }
    assert_true(count >= 1);
    assert_ptr_equal(tr_kernels(), tr_kernels_at(0));
    assert_string_equal(tr_kernels_at(count - 1)->name, "baseline");
    assert_null(tr_kernels_at(count + 1));
}

int main(void)
{
    tr_random_seed(&dice, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_of_whole_rows),
        cmocka_unit_test(sets),
        cmocka_unit_test(rows),
        cmocka_unit_test(shorts_of_every_value),
        cmocka_unit_test(ties),
        cmocka_unit_test(trellis_rows),
        cmocka_unit_test(matrices),
        cmocka_unit_test(exponential),
        cmocka_unit_test(exponential_of_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
