/* sparse_viterbi.c - one position of Viterbi's recursion where unlisted transitions are free.
 *
 *   out(c) = max_z delta(z) + step(z, c),   step(z, c) = unlisted(c) where it is not listed
 *
 * Few z matter. The best one is taken first, with all its steps. Then no out(c) - unlisted(c) is
 * below
 *
 *   floor = min over the c that may stand here of out(c) - unlisted(c)
 *
 * and a z can raise an out(c) only by a listed step where delta(z) <= floor, and not at all where
 * even its best listed step, delta(z) + max_c (step(z,c) - unlisted(c)), is no better than the
 * floor. This is exact: a skipped z could not have changed a maximum, with a margin for rounding,
 * and backtracking compares every delta again.
 *
 * Where some c cannot be reached from the best z at all there is no floor: then the best unlisted
 * step into each c is found from the best z down, and listed steps are compared with those.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define ROUNDING 1e-5f // far more than a sum of a few floats loses, relative to its parts

/* Of the labels that are not resolved, those that `from` reaches by a step that is not
 * listed get their best unlisted score from it. Returns whether any are left. */
static bool resolve_from(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t from,
                         float score, float *out)
{
    uint32_t row = steps->of.sparse.bits_row[from];
    const uint64_t *listed = row == TR_NO_STATE
                                 ? NULL
                                 : steps->of.sparse.bits + row * steps->of.sparse.words;
    uint64_t left = 0;
    for (size_t w = 0; w < steps->of.sparse.words; w++) {
        uint64_t still_open = listed ? lattice->of.sparse.open[w] & listed[w] : 0;
        for (uint64_t now = lattice->of.sparse.open[w] & ~still_open; now; now &= now - 1) {
            size_t c = w * 64 + (size_t)__builtin_ctzll(now);
            out[c] = score + steps->score.unlisted[c];
        }
        lattice->of.sparse.open[w] = still_open;
        left |= still_open;
    }
    return left;
}

/* out(c) = unlisted(c) + max delta(z) over the z whose step to c is not listed. The z are taken
 * from the best down, until every c has one. */
static void best_unlisted(struct tr_lattice *lattice, const struct tr_steps *steps,
                          const float *delta, float *out)
{
    size_t width = lattice->graph->width;
    float *left = lattice->scratch.row;
    memcpy(left, delta, width * sizeof *left);
    for (size_t c = 0; c < width; c++) {
        out[c] = -INFINITY;
    }
    for (size_t w = 0; w < steps->of.sparse.words; w++) {
        size_t bits = lattice->graph->labels - w * 64;
        lattice->of.sparse.open[w] = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    }
    for (;;) {
        size_t from = lattice->kernels->argmax(left, width);
        float score = left[from];
        if (!(score > -INFINITY) || !resolve_from(lattice, steps, (uint32_t)from, score, out)) {
            return;
        }
        left[from] = -INFINITY;
    }
}

static void raise_listed(const struct tr_steps *steps, uint32_t from, float delta, float *out)
{
    for (uint32_t p = steps->of.sparse.out_begin[from]; p < steps->of.sparse.out_begin[from + 1];
         p++) {
        float score = delta + steps->of.sparse.out_score[p];
        float *best = &out[steps->of.sparse.out_to[p]];
        *best = score > *best ? score : *best;
    }
}

/* A listed step matters only where it beats the best unlisted one. Labels whose best step cannot
 * beat even the worst of those are skipped: nearly all where the best label is clear. */
static void max_by_label(struct tr_lattice *lattice, const struct tr_steps *steps,
                         const float *delta, float *out)
{
    uint32_t labels = lattice->graph->labels;
    best_unlisted(lattice, steps, delta, out);
    float lowest = INFINITY;
    for (uint32_t c = 0; c < labels; c++) {
        lowest = out[c] < lowest ? out[c] : lowest;
    }
    for (uint32_t from = 0; from < labels; from++) {
        if (delta[from] + steps->of.sparse.out_max[from] > lowest) {
            raise_listed(steps, from, delta[from], out);
        }
    }
}

void tr_sparse_viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps,
                           size_t position, const float *delta, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_kernels *kernels = lattice->kernels;
    size_t width = graph->width;
    uint32_t best = (uint32_t)kernels->argmax(delta, width);
    kernels->max_plus(out, delta + best,
                      lattice->kind->out_scores(steps, best, lattice->scratch.row), 1, width);
    float floor = kernels->least_above(out, steps->score.unlisted, tr_node_at(lattice, position),
                                       graph->labels);
    if (!(floor > -INFINITY)) {
        max_by_label(lattice, steps, delta, out);
        return;
    }
    floor -= ROUNDING * (1 + fabsf(floor) + fabsf(delta[best]));
    size_t count = kernels->list_above(lattice->of.sparse.listed, delta, steps->of.sparse.out_gain,
                                       floor, width);
    for (size_t i = 0; i < count; i++) {
        uint32_t from = lattice->of.sparse.listed[i];
        if (from == best) {
            continue;
        }
        if (delta[from] > floor) {
            kernels->raise(out, lattice->kind->out_scores(steps, from, lattice->scratch.row),
                           delta[from], width);
        } else {
            raise_listed(steps, from, delta[from], out);
        }
    }
}
