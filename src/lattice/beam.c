/* beam.c - beam search: only the best few states of each position are followed.
 *
 *   kept_1 = the `width` best of  start(z) + node_1(z)
 *   kept_i = the `width` best of  max over z' in kept_{i-1} of
 *                                 score(z') + step(z', z) + node_i(z) + edge_i(z', z)
 *
 * with the end's score added at the last position. This takes width * L transitions at a position
 * instead of all of them, and memory for width states instead of all. Ties between ways to reach a
 * state go to the lowest predecessor, as in Viterbi; ties between states, to the lowest.
 *
 * -log N of a state is added when a path is extended from it, so in a locally normalised model
 * states are ranked by the probability of the path to them.
 *
 * Forbidden transitions can leave a narrow beam without a complete path. The search is then
 * repeated with twice the width; a beam as wide as the number of states is an exact search, in
 * double precision.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* A state that was kept, and its predecessor among those kept at the position before. */
struct link {
    uint32_t state, back;
};

struct beam {
    struct tr_lattice *lattice;
    const struct tr_steps *steps;
    size_t width;
    struct tr_way
        *kept;    // [width] of the position at hand: the score, `from` the state, `rank` its link
    size_t count; // of those
    struct link *links; // [n][width]
    double *best;       // [S] the best score found for a state, minus infinity where there is none
    uint32_t *back;     // [S] which of those kept before it comes from
    uint32_t *reached;  // [S] the states that were found at this position
    size_t reached_count;
    float *row; // [width of rows] scratch
};

/* ---- one position ---------------------------------------------------------------------------- */

/* A way to a state at a position; kept[back] is where it comes from. */
static void reach(struct beam *beam, size_t position, uint32_t state, double score, uint32_t back)
{
    score += position + 1 == beam->lattice->length ? (double)beam->steps->score.end[state] : 0;
    double best = beam->best[state];
    if (!(score > -INFINITY) || score < best) {
        return;
    }
    if (!(best > -INFINITY)) {
        beam->reached[beam->reached_count++] = state;
    } else if (score == best && beam->kept[back].from > beam->kept[beam->back[state]].from) {
        return;
    }
    beam->best[state] = score;
    beam->back[state] = back;
}

static void reach_first(struct beam *beam)
{
    const struct tr_graph *graph = beam->lattice->graph;
    const float *node = tr_node_at(beam->lattice, 0);
    for (uint32_t c = 0; c < graph->labels; c++) {
        uint32_t z = beam->steps->start_state[c];
        if (z != TR_NO_STATE) {
            reach(beam, 0, z, (double)beam->steps->score.start[c] + (double)node[c], 0);
        }
    }
}

/* The scores of the transitions out of a state, by label. */
static const float *steps_out_of(struct beam *beam, uint32_t from)
{
    return beam->lattice->kind->out_scores(beam->steps, from, beam->row);
}

/* The edge scores of the steps out of a state to a position, by label; NULL where there are
 * none. */
static const float *edges_out_of(const struct beam *beam, size_t position, uint32_t from)
{
    const struct tr_graph *graph = beam->lattice->graph;
    const float *edges = tr_edges_at(beam->lattice, position);
    return edges ? edges + graph->label[from] * graph->width : NULL;
}

/* The score of a path, with -log N of its last state. */
static double score_before(const struct beam *beam, size_t position, uint32_t from, double score)
{
    const float *normalisers = tr_normalisers_at(beam->lattice, position - 1);
    return score + (normalisers ? (double)normalisers[from] : 0);
}

/* All steps out of kept[k]. */
static void reach_from(struct beam *beam, size_t position, uint32_t k)
{
    const struct tr_graph *graph = beam->lattice->graph;
    uint32_t from = beam->kept[k].from;
    const float *node = tr_node_at(beam->lattice, position);
    double before = score_before(beam, position, from, beam->kept[k].score);
    const float *edge = edges_out_of(beam, position, from);
    const float *row = steps_out_of(beam, from);
    const uint32_t *next = beam->lattice->kind->out_states(beam->lattice, beam->steps, from);
    for (uint32_t c = 0; c < graph->labels; c++) {
        double score = before + (double)row[c] + (double)node[c];
        if (next[c] != TR_NO_STATE) {
            reach(beam, position, next[c], edge ? score + (double)edge[c] : score, k);
        }
    }
}

/* The best of the states reached are kept and linked; the rest is forgotten. */
static void prune(struct beam *beam, size_t position)
{
    struct link *links = beam->links + position * beam->width;
    beam->count = 0;
    for (size_t k = 0; k < beam->reached_count; k++) {
        uint32_t z = beam->reached[k];
        tr_ways_offer(beam->kept, &beam->count, beam->width,
                      (struct tr_way){beam->best[z], z, beam->back[z]});
        beam->best[z] = -INFINITY;
    }
    for (size_t k = 0; k < beam->count; k++) {
        links[k] = (struct link){beam->kept[k].from, beam->kept[k].rank};
    }
    beam->reached_count = 0;
}

/* ---- the whole sequence ---------------------------------------------------------------------- */

/* The index of the best state kept. */
static size_t best_kept(const struct beam *beam)
{
    size_t best = 0;
    for (size_t k = 1; k < beam->count; k++) {
        best = tr_way_better(&beam->kept[k], &beam->kept[best]) ? k : best;
    }
    return best;
}

/* Extends the beam to a position. */
static void advance(struct beam *beam, size_t position)
{
    if (position == 0) {
        reach_first(beam);
    }
    for (uint32_t k = 0; position > 0 && k < beam->count; k++) {
        reach_from(beam, position, k);
    }
    prune(beam, position);
}

/* The labels of the path to one of the states kept at position n - 1. */
static void trace(const struct beam *beam, size_t n, size_t place, uint16_t *labels)
{
    for (size_t i = n; i-- > 0;) {
        struct link link = beam->links[i * beam->width + place];
        labels[i] = beam->lattice->graph->label[link.state];
        place = link.back;
    }
}

/* Returns whether a complete path survived. */
static bool search(struct beam *beam, uint16_t *labels)
{
    size_t n = beam->lattice->length;
    advance(beam, 0);
    for (size_t i = 1; i < n && beam->count > 0; i++) {
        advance(beam, i);
    }
    if (beam->count > 0) {
        trace(beam, n, best_kept(beam), labels);
    }
    return beam->count > 0;
}

/* Room for a beam of this width, in place of what was there. */
static bool widen(struct beam *beam, size_t width)
{
    size_t count;
    beam->width = width;
    free(beam->kept);
    free(beam->links);
    beam->links = NULL;
    beam->kept = tr_alloc(width, sizeof *beam->kept);
    if (!beam->kept || __builtin_mul_overflow(beam->lattice->length, width, &count)) {
        return false;
    }
    beam->links = tr_alloc(count, sizeof *beam->links);
    return beam->links;
}

static bool make_beam(struct beam *beam, size_t width)
{
    const struct tr_graph *graph = beam->lattice->graph;
    beam->best = tr_alloc(graph->states, sizeof *beam->best);
    beam->back = tr_alloc(graph->states, sizeof *beam->back);
    beam->reached = tr_alloc(graph->states, sizeof *beam->reached);
    beam->row = tr_alloc(graph->width, sizeof *beam->row);
    for (uint32_t z = 0; beam->best && z < graph->states; z++) {
        beam->best[z] = -INFINITY;
    }
    return beam->best && beam->back && beam->reached && beam->row && widen(beam, width);
}

static void free_beam(struct beam *beam)
{
    free(beam->kept);
    free(beam->links);
    free(beam->best);
    free(beam->back);
    free(beam->reached);
    free(beam->row);
}

trellis_status tr_listed_beam(struct tr_lattice *lattice, const struct tr_steps *steps,
                              size_t width, uint16_t *labels, double *ret_score,
                              trellis_error *error)
{
    size_t states = lattice->graph->states;
    struct beam beam = {.lattice = lattice, .steps = steps};
    trellis_status status = TRELLIS_OK;
    width = width < 1 ? 1 : width < states ? width : states;
    bool fits = make_beam(&beam, width), found = fits && search(&beam, labels);
    while (fits && !found && width < states) {
        width = width < states / 2 ? 2 * width : states;
        fits = widen(&beam, width);
        found = fits && search(&beam, labels);
    }
    if (!fits) {
        status = tr_fail_memory(error);
    } else if (found) {
        *ret_score = tr_lattice_path_score(lattice, steps, labels);
    }
    if (fits && (!found || !isfinite(*ret_score))) {
        status = tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
    }
    free_beam(&beam);
    return status;
}

trellis_status tr_lattice_beam(struct tr_lattice *lattice, const struct tr_steps *steps,
                               size_t width, uint16_t *labels, double *ret_score,
                               trellis_error *error)
{
    *ret_score = 0;
    return lattice->length == 0
               ? TRELLIS_OK
               : lattice->kind->beam(lattice, steps, width, labels, ret_score, error);
}

/* ---- where a search for gold labels goes wrong ----------------------------------------------- */

/* Gold labels followed beside the beam. */
struct followed {
    const uint16_t *labels;
    uint32_t state; // at the position at hand
    double score;   // of the labels up to there, minus infinity where they cannot be
    bool kept;      // whether their states all were, so far
};

/* Sums in the same order as reach_from(), so that equal paths have equal scores. */
static void follow(struct beam *beam, size_t position, struct followed *gold)
{
    uint16_t c = gold->labels[position];
    double node = (double)tr_node_at(beam->lattice, position)[c];
    if (position == 0) {
        gold->score = (double)beam->steps->score.start[c] + node;
    } else if (gold->state != TR_NO_STATE) {
        const float *edge = edges_out_of(beam, position, gold->state);
        double before = score_before(beam, position, gold->state, gold->score);
        double score = before + (double)steps_out_of(beam, gold->state)[c] + node;
        gold->score = edge ? score + (double)edge[c] : score;
    }
    if (position == 0 || gold->state != TR_NO_STATE) {
        gold->state = tr_graph_next(beam->lattice->graph, gold->state, c);
    }
    if (gold->state == TR_NO_STATE) {
        gold->score = -INFINITY;
    } else if (position + 1 == beam->lattice->length) {
        gold->score += (double)beam->steps->score.end[gold->state];
    }
    bool kept = false;
    for (size_t k = 0; k < beam->count; k++) {
        kept = kept || beam->kept[k].from == gold->state;
    }
    gold->kept = gold->kept && kept;
}

/* A violation: the labels of the path to a state kept at position prefix - 1. */
struct violation {
    size_t prefix, place;
    double amount; // by which they score more than gold
};

/* The length of the violating prefix; 0 where no path survives in the beam. */
static size_t find_violation(struct beam *beam, bool early, const uint16_t *labels, uint16_t *found)
{
    struct followed gold = {.labels = labels, .state = TR_NO_STATE, .kept = true};
    struct violation largest = {.amount = -INFINITY};
    size_t n = beam->lattice->length;
    advance(beam, 0);
    for (size_t i = 0; i < n && beam->count > 0; i++) {
        follow(beam, i, &gold);
        bool last = i + 1 == n;
        size_t best = best_kept(beam);
        struct violation here = {i + 1, best, beam->kept[best].score - gold.score};
        if (last) {
            trace(beam, n, here.place, found);
            if (memcmp(found, labels, n * sizeof *labels) == 0) {
                return n;
            }
        }
        if (early && (last || !gold.kept)) {
            largest = here;
            break;
        }
        bool differs = last || !gold.kept || here.amount > 0;
        if (!early && differs && here.amount >= largest.amount) {
            largest = here;
        }
        if (!last) {
            advance(beam, i + 1);
        }
    }
    trace(beam, largest.prefix, largest.place, found);
    return largest.prefix;
}

trellis_status tr_lattice_beam_violation(struct tr_lattice *lattice, const struct tr_steps *steps,
                                         size_t width, bool early, const uint16_t *gold,
                                         uint16_t *labels, size_t *ret_prefix, trellis_error *error)
{
    size_t n = lattice->length, states = lattice->graph->states;
    struct beam beam = {.lattice = lattice, .steps = steps};
    *ret_prefix = 0;
    if (n == 0) {
        return TRELLIS_OK;
    }
    width = width < 1 ? 1 : width < states ? width : states;
    bool fits = make_beam(&beam, width);
    if (fits) {
        *ret_prefix = find_violation(&beam, early, gold, labels);
        memcpy(labels + *ret_prefix, gold + *ret_prefix, (n - *ret_prefix) * sizeof *labels);
    }
    free_beam(&beam);
    return !fits         ? tr_fail_memory(error)
           : *ret_prefix ? TRELLIS_OK
                         : tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
}
