/* vector.c - the few operations on whole weight vectors, in pieces that the threads share. */
#include "optim/vector.h"

#include <string.h>

struct operands {
    const double *a, *b;
    double t;
    double *out;
};

static double dot_piece(void *user, size_t begin, size_t end)
{
    const struct operands *x = user;
    double lane[8] = {0};
    size_t j = begin;
    for (; j + 8 <= end; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            lane[k] += x->a[j + k] * x->b[j + k];
        }
    }
    for (; j < end; j++) {
        lane[j % 8] += x->a[j] * x->b[j];
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

double tr_dot(struct tr_pool *pool, const double *a, const double *b, size_t size)
{
    struct operands x = {.a = a, .b = b};
    return tr_pool_sum(pool, size, dot_piece, &x);
}

double tr_norm(struct tr_pool *pool, const double *a, size_t size)
{
    return sqrt(tr_dot(pool, a, a, size));
}

/* 0 * a_j is 0 unless a_j is infinite or NaN. */
static double add_scaled_piece(void *user, size_t begin, size_t end)
{
    const struct operands *x = user;
    double nonfinite[8] = {0};
    size_t j = begin;
    for (; j + 8 <= end; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            double next = x->a[j + k] + x->t * x->b[j + k];
            x->out[j + k] = next;
            nonfinite[k] += 0.0 * next;
        }
    }
    for (; j < end; j++) {
        x->out[j] = x->a[j] + x->t * x->b[j];
        nonfinite[0] += 0.0 * x->out[j];
    }
    double sum = 0;
    for (size_t k = 0; k < 8; k++) {
        sum += nonfinite[k];
    }
    return sum;
}

bool tr_add_scaled(struct tr_pool *pool, double *sum, const double *a, double t, const double *b,
                   size_t size)
{
    struct operands x = {a, b, t, sum};
    return tr_pool_sum(pool, size, add_scaled_piece, &x) == 0;
}

static double copy_piece(void *user, size_t begin, size_t end)
{
    const struct operands *x = user;
    if (end > begin) {
        memcpy(x->out + begin, x->a + begin, (end - begin) * sizeof *x->out);
    }
    return 0;
}

void tr_copy(struct tr_pool *pool, double *to, const double *from, size_t size)
{
    struct operands x = {.a = from, .out = to};
    tr_pool_sum(pool, size, copy_piece, &x);
}

static double finite_piece(void *user, size_t begin, size_t end)
{
    const struct operands *x = user;
    double lane[8] = {0};
    size_t j = begin;
    for (; j + 8 <= end; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            lane[k] += 0.0 * x->a[j + k];
        }
    }
    for (; j < end; j++) {
        lane[j % 8] += 0.0 * x->a[j];
    }
    double sum = 0;
    for (size_t k = 0; k < 8; k++) {
        sum += lane[k];
    }
    return sum;
}

trellis_status tr_shared_dot(struct tr_slices *slices, struct tr_pool *pool, const double *a,
                             const double *b, double *ret_dot, trellis_error *error)
{
    struct operands x = {.a = a, .b = b};
    return tr_slices_sum(slices, pool, dot_piece, &x, ret_dot, error);
}

trellis_status tr_shared_add_scaled(struct tr_slices *slices, struct tr_pool *pool, double *sum,
                                    const double *a, double t, const double *b, bool *ret_finite,
                                    trellis_error *error)
{
    struct operands x = {a, b, t, sum};
    double nonfinite;
    trellis_status status = tr_slices_sum(slices, pool, add_scaled_piece, &x, &nonfinite, error);
    *ret_finite = nonfinite == 0;
    return status;
}

trellis_status tr_shared_finite(struct tr_slices *slices, struct tr_pool *pool, const double *a,
                                bool *ret_finite, trellis_error *error)
{
    struct operands x = {.a = a};
    double nonfinite;
    trellis_status status = tr_slices_sum(slices, pool, finite_piece, &x, &nonfinite, error);
    *ret_finite = nonfinite == 0;
    return status;
}
