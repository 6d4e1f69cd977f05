/* group_lists.c - the transitions of a sparse graph, laid out for groups of sequences. */
#include "lattice/group_lists.h"

#include "base/memory.h"

#include <string.h>

enum { EIGHT = 8, FOUR = 4 };

/* ---- places ---------------------------------------------------------------------------------- */

/* Sorts the numbers 0 .. count-1 by decreasing key, equal ones ascending. keys are below `limit`;
 * false on allocation failure. */
static bool sort_by_key(uint32_t *sorted, const uint32_t *key, uint32_t count, uint32_t limit)
{
    uint32_t *first = tr_alloc((size_t)limit + 1, sizeof *first);
    for (uint32_t i = 0; first && i < count; i++) {
        first[limit - key[i]]++;
    }
    for (uint32_t k = 0; first && k < limit; k++) {
        first[k + 1] += first[k];
    }
    for (uint32_t i = 0; first && i < count; i++) {
        sorted[first[limit - 1 - key[i]]++] = i;
    }
    free(first);
    return first;
}

/* How many labels the matrix has: a listed transition in it takes half the time of one in a list, and
 * so does one that is not listed. inside[k]: the listed transitions among the first k + 1 labels that
 * are not among the first k. */
static uint32_t choose_dense(const uint32_t *inside, uint32_t labels)
{
    uint32_t dense = 0, seen = 0;
    int64_t most = 0;
    for (uint32_t k = 1; k <= labels && k <= TR_GROUP_MATRIX; k++) {
        seen += inside[k - 1];
        int64_t saved = 2 * (int64_t)seen - (int64_t)k * k;
        if (k % EIGHT == 0 && saved > most) {
            most = saved;
            dense = k;
        }
    }
    return dense;
}

/* Labels by how many transitions are listed from and to them. scratch [2][labels] */
static bool choose_places(struct tr_group_lists *lists, const struct tr_graph *graph,
                          uint32_t *scratch)
{
    uint32_t labels = graph->labels, *degree = scratch, *sorted = scratch + labels;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            degree[graph->from[a]]++;
            degree[graph->to[a]]++;
        }
    }
    if (!sort_by_key(sorted, degree, labels, 2 * labels + 1)) {
        return false;
    }
    for (uint32_t k = 0; k < graph->width; k++) {
        lists->place[k < labels ? sorted[k] : k] = k;
    }
    memset(degree, 0, labels * sizeof *degree);
    for (uint32_t a = 0; a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            uint32_t from = lists->place[graph->from[a]], to = lists->place[graph->to[a]];
            degree[from > to ? from : to]++;
        }
    }
    lists->dense = choose_dense(degree, labels);
    return true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

struct step_listing {
    const struct tr_graph *graph;
    const struct tr_group_lists *lists;
    bool transposed;
    uint32_t *length; // [labels] of the list of each place; then where its next transition goes
    uint32_t *key;    // [labels] of the places, to sort them by
    uint32_t *sorted; // [step_count] the transitions by their other ends, ascending
    uint32_t *first;  // [labels + 1] scratch
};

struct ends {
    uint32_t into, other;
};

static bool is_from_start(const struct step_listing *list, uint32_t step)
{
    return list->graph->from[step] == TR_NO_STATE;
}

/* Of a transition that is not from the start. */
static struct ends ends_of(const struct step_listing *list, uint32_t step)
{
    uint32_t from = list->lists->place[list->graph->from[step]];
    uint32_t to = list->lists->place[list->graph->to[step]];
    return list->transposed ? (struct ends){from, to} : (struct ends){to, from};
}

static bool is_in_matrix(const struct step_listing *list, struct ends ends)
{
    return ends.into < list->lists->dense && ends.other < list->lists->dense;
}

/* A counting sort; returns how many there are. */
static uint32_t sort_by_other(const struct step_listing *list)
{
    uint32_t labels = list->graph->labels, *first = list->first;
    for (uint32_t a = 0; a < list->graph->step_count; a++) {
        if (!is_from_start(list, a)) {
            first[ends_of(list, a).other + 1]++;
        }
    }
    for (uint32_t c = 0; c < labels; c++) {
        first[c + 1] += first[c];
    }
    for (uint32_t a = 0; a < list->graph->step_count; a++) {
        if (!is_from_start(list, a)) {
            list->sorted[first[ends_of(list, a).other]++] = a;
        }
    }
    return first[labels - 1];
}

/* Lengths, order and begin; false on allocation failure. */
static bool order_lists(struct tr_group_sums *sums, const struct step_listing *list, uint32_t count)
{
    uint32_t labels = list->graph->labels;
    for (uint32_t k = 0; k < count; k++) {
        struct ends ends = ends_of(list, list->sorted[k]);
        list->length[ends.into] += !is_in_matrix(list, ends);
    }
    for (uint32_t c = 0; c < labels; c++) {
        list->length[c] = (list->length[c] + FOUR - 1) / FOUR * FOUR;
        list->key[c] = list->length[c] + (c < list->lists->dense ? labels + FOUR : 0);
    }
    if (!sort_by_key(sums->order, list->key, labels, 2 * (labels + FOUR))) {
        return false;
    }
    for (uint32_t k = 0; k < labels; k++) {
        uint32_t c = sums->order[k], next = sums->begin[k] + list->length[c];
        list->length[c] = sums->begin[k];
        sums->begin[k + 1] = next;
    }
    return true;
}

static void fill_lists(struct tr_group_sums *sums, const struct step_listing *list, uint32_t count)
{
    uint32_t dense = list->lists->dense;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t step = list->sorted[k];
        struct ends ends = ends_of(list, step);
        if (is_in_matrix(list, ends)) {
            sums->at[step] = ends.other * dense + ends.into;
        } else {
            uint32_t p = list->length[ends.into]++;
            sums->other[p] = ends.other * TR_LANES_OF_GROUP;
            sums->at[step] = dense * dense + p;
        }
    }
}

static bool make_factors(struct tr_group_sums *sums, uint32_t dense, uint32_t listed)
{
    sums->other = tr_alloc(listed, sizeof *sums->other);
    sums->factor = tr_alloc(listed, sizeof *sums->factor);
    sums->less = tr_alloc(listed, sizeof *sums->less);
    sums->matrix = tr_alloc_aligned((size_t)dense * dense, sizeof *sums->matrix);
    if (!sums->other || !sums->factor || !sums->less || !sums->matrix) {
        return false;
    }
    for (uint32_t p = 0; p < listed; p++) {
        sums->factor[p] = 1;
    }
    for (uint32_t j = 0; j < dense * dense; j++) {
        sums->matrix[j] = 1;
    }
    return true;
}

static bool make_sums(struct tr_group_sums *sums, const struct tr_group_lists *lists,
                      const struct tr_graph *graph, bool transposed)
{
    uint32_t labels = graph->labels;
    struct step_listing list = {.graph = graph,
                                .lists = lists,
                                .transposed = transposed,
                                .length = tr_alloc(labels, sizeof *list.length),
                                .key = tr_alloc(labels, sizeof *list.key),
                                .sorted = tr_alloc(graph->step_count, sizeof *list.sorted),
                                .first = tr_alloc((size_t)labels + 1, sizeof *list.first)};
    sums->order = tr_alloc(labels, sizeof *sums->order);
    sums->begin = tr_alloc((size_t)labels + 1, sizeof *sums->begin);
    sums->at = tr_alloc(graph->step_count, sizeof *sums->at);
    bool made = list.length && list.key && list.sorted && list.first && sums->order &&
                sums->begin && sums->at;
    uint32_t count = made ? sort_by_other(&list) : 0;
    made = made && order_lists(sums, &list, count) &&
           make_factors(sums, lists->dense, sums->begin[labels]);
    if (made) {
        fill_lists(sums, &list, count);
    }
    free(list.length);
    free(list.key);
    free(list.sorted);
    free(list.first);
    return made;
}

bool tr_group_lists_make(struct tr_group_lists *lists, const struct tr_graph *graph)
{
    if (graph->labels > TR_GROUP_LABELS) {
        return true;
    }
    lists->labels = graph->labels;
    lists->place = tr_alloc(graph->width, sizeof *lists->place);
    uint32_t *scratch = tr_alloc(2 * (size_t)graph->labels, sizeof *scratch);
    bool made = lists->place && scratch && choose_places(lists, graph, scratch) &&
                make_sums(&lists->into, lists, graph, false) &&
                make_sums(&lists->out_of, lists, graph, true);
    free(scratch);
    return made;
}

static void free_sums(struct tr_group_sums *sums)
{
    free(sums->order);
    free(sums->begin);
    free(sums->other);
    free(sums->factor);
    free(sums->less);
    free(sums->matrix);
    free(sums->at);
}

void tr_group_lists_free(struct tr_group_lists *lists)
{
    free(lists->place);
    free_sums(&lists->into);
    free_sums(&lists->out_of);
}

/* ---- factors --------------------------------------------------------------------------------- */

static void set(struct tr_group_sums *sums, uint32_t in_matrix, uint32_t step, float factor)
{
    uint32_t at = sums->at[step];
    if (at < in_matrix) {
        sums->matrix[at] = factor;
    } else {
        sums->factor[at - in_matrix] = factor;
        sums->less[at - in_matrix] = factor - 1;
    }
}

void tr_group_lists_set(struct tr_group_lists *lists, uint32_t step, float factor)
{
    if (lists->labels) {
        set(&lists->into, lists->dense * lists->dense, step, factor);
        set(&lists->out_of, lists->dense * lists->dense, step, factor);
    }
}
