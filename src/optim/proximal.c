/* proximal.c - the bottom of a quadratic model plus an l1 penalty, one weight at a time.
 *
 * Along one weight the model is a parabola plus an absolute value, whose bottom is known:
 *
 *     b   = g_j + (B d)_j = g_j + sigma d_j - q_j·u,              u = N Q^T d
 *     d_j = S(x_j + d_j - b / B_jj, l1_j / B_jj) - x_j,           S(v, l) = sign(v) max(0, |v| - l)
 *
 * and u follows each move: u += (change of d_j) N q_j. B is never formed (Scheinberg and Tang
 * 2016).
 */
#include "optim/proximal.h"

#include <math.h>
#include <string.h>

static double dot(const float *q, const double *u, size_t rank)
{
    double sum = 0;
    for (size_t k = 0; k < rank; k++) {
        sum += (double)q[k] * u[k];
    }
    return sum;
}

/* out = N q */
static void multiply(const struct tr_proximal *p, const float *q, double *out)
{
    for (size_t k = 0; k < p->rank; k++) {
        out[k] = dot(q, p->n.at + k * p->rank, p->rank);
    }
}

static double soften(double v, double l)
{
    return fabs(v) > l ? v - copysign(l, v) : 0;
}

/* One round over all weights; how far it moved them, in what F feels of it. */
static double go_round(struct tr_proximal *p, double *u, double *along)
{
    double moved = 0;
    for (size_t j = 0; j < p->weights.size; j++) {
        struct tr_free_weight *w = &p->weights.at[j];
        const float *q = p->q.at + j * p->rank;
        double b = w->g + p->sigma * w->d - dot(q, u, p->rank), now = w->x + w->d;
        double change = soften(now - b / w->curvature, w->l1 / w->curvature) - now;
        if (change != 0) {
            w->d = now + change == 0 ? -w->x : w->d + change;
            multiply(p, q, along);
            for (size_t k = 0; k < p->rank; k++) {
                u[k] += change * along[k];
            }
            moved += change * change * w->curvature;
        }
    }
    return moved;
}

void tr_proximal_solve(struct tr_proximal *p, int rounds)
{
    double *u = p->n.at + 2 * p->rank * p->rank, *along = u + p->rank, first = 0;
    memset(u, 0, p->rank * sizeof *u);
    for (size_t j = 0; j < p->weights.size; j++) {
        struct tr_free_weight *w = &p->weights.at[j];
        multiply(p, p->q.at + j * p->rank, along);
        w->curvature = fmax(p->sigma - dot(p->q.at + j * p->rank, along, p->rank), 1e-6 * p->sigma);
        w->d = 0;
    }
    for (int round = 0; round < rounds; round++) {
        double moved = go_round(p, u, along);
        first = round ? first : moved;
        if (moved <= 1e-4 * first) {
            return;
        }
    }
}

/* Gauss and Jordan, with the identity beside it. */
bool tr_proximal_invert(struct tr_proximal *p)
{
    size_t r = p->rank;
    double *a = p->n.at, *inverse = a + r * r;
    for (size_t i = 0; i < r * r; i++) {
        inverse[i] = i % (r + 1) == 0;
    }
    for (size_t c = 0; c < r; c++) {
        size_t pivot = c;
        for (size_t i = c + 1; i < r; i++) {
            pivot = fabs(a[i * r + c]) > fabs(a[pivot * r + c]) ? i : pivot;
        }
        double top = a[pivot * r + c];
        if (!(fabs(top) > 0 && isfinite(top))) {
            return false;
        }
        for (size_t k = 0; k < r; k++) {
            double x = a[pivot * r + k], y = inverse[pivot * r + k];
            a[pivot * r + k] = a[c * r + k];
            inverse[pivot * r + k] = inverse[c * r + k];
            a[c * r + k] = x / top;
            inverse[c * r + k] = y / top;
        }
        for (size_t i = 0; i < r; i++) {
            double factor = i == c ? 0 : a[i * r + c];
            for (size_t k = 0; factor != 0 && k < r; k++) {
                a[i * r + k] -= factor * a[c * r + k];
                inverse[i * r + k] -= factor * inverse[c * r + k];
            }
        }
    }
    memcpy(a, inverse, r * r * sizeof *a);
    return true;
}

void tr_proximal_free(struct tr_proximal *p)
{
    free(p->weights.at);
    free(p->q.at);
    free(p->n.at);
}
