/* first_order.c - the graph whose states are the labels.
 *
 * Most steps of a large label set carry no feature: with 472 tags, 7,763 of 222,784 do. They are
 * then left out: an unlisted step is allowed and scores its label's prior, and the lattice sums
 * over all steps plus corrections for the listed few (docs/design.md, decision 4). Where many steps
 * carry features, or labels are few, listing all of them lets the lattice use plain matrices, which
 * is faster.
 */
#include "base/memory.h"
#include "graph/build.h"

#define FEW_LABELS 32     // up to here all steps are listed
#define LISTED_SHARE_OF 3 // and where more than a third would be

/* A step that must be listed, and why. */
struct entry {
    uint32_t to, from; // labels; from L is the start
    uint32_t feature;  // PROHIBITED: a prohibition instead
};
#define PROHIBITED UINT32_MAX

/* The grams and prohibitions of the plan, by the label that a step leads to. */
struct listing {
    struct entry *entries, *spare; // [count], sorted by (to, from)
    size_t count;
    size_t pairs; // different (to, from) among them
};

/* Moves entries into `sorted`, stable, by one of their two labels: begin is scratch [keys + 1]. */
static void sort_by(const struct entry *entries, struct entry *sorted, size_t count, bool by_to,
                    size_t *begin, size_t keys)
{
    for (size_t k = 0; k <= keys; k++) {
        begin[k] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        begin[(by_to ? entries[i].to : entries[i].from) + 1]++;
    }
    for (size_t k = 0; k < keys; k++) {
        begin[k + 1] += begin[k];
    }
    for (size_t i = 0; i < count; i++) {
        sorted[begin[by_to ? entries[i].to : entries[i].from]++] = entries[i];
    }
}

static bool same_step(const struct entry *a, const struct entry *b)
{
    return a->to == b->to && a->from == b->from;
}

/* Collects and sorts the entries; those of ends are not among them. */
static bool list_entries(struct listing *listing, const struct tr_graph_plan *plan)
{
    uint32_t labels = plan->labels;
    size_t max = plan->gram_count + plan->forbidden_count;
    size_t *begin = tr_alloc((size_t)labels + 2, sizeof *begin);
    listing->entries = tr_alloc(max, sizeof *listing->entries);
    listing->spare = tr_alloc(max, sizeof *listing->spare);
    if (!begin || !listing->entries || !listing->spare) {
        free(begin);
        return false;
    }
    for (size_t i = 0; i < plan->gram_count; i++) {
        const struct tr_gram *gram = &plan->grams[i];
        if (gram->length == 2 && gram->label[1] < labels) {
            listing->entries[listing->count++] = (struct entry){gram->label[1], gram->label[0],
                                                                (uint32_t)i};
        }
    }
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        if (plan->forbidden[i][1] < labels) {
            listing->entries[listing->count++] = (struct entry){plan->forbidden[i][1],
                                                                plan->forbidden[i][0], PROHIBITED};
        }
    }
    sort_by(listing->entries, listing->spare, listing->count, false, begin, (size_t)labels + 1);
    sort_by(listing->spare, listing->entries, listing->count, true, begin, (size_t)labels + 1);
    for (size_t i = 0; i < listing->count; i++) {
        listing->pairs += i == 0 || !same_step(&listing->entries[i], &listing->entries[i - 1]);
    }
    free(begin);
    return true;
}

/* The grams of length 1: free_begin, free_feature. */
static bool list_priors(struct tr_graph *graph, const struct tr_graph_plan *plan)
{
    graph->free_begin = tr_alloc((size_t)plan->labels + 1, sizeof *graph->free_begin);
    graph->free_feature = tr_alloc(plan->gram_count, sizeof *graph->free_feature);
    if (!graph->free_begin || !graph->free_feature) {
        return false;
    }
    for (size_t i = 0; i < plan->gram_count; i++) {
        if (plan->grams[i].length == 1 && plan->grams[i].label[0] < plan->labels) {
            graph->free_begin[plan->grams[i].label[0] + 1]++;
        }
    }
    tr_graph_sum_counts(graph->free_begin, plan->labels);
    for (size_t i = 0; i < plan->gram_count; i++) {
        if (plan->grams[i].length == 1 && plan->grams[i].label[0] < plan->labels) {
            graph->free_feature[graph->free_begin[plan->grams[i].label[0]]++] = (uint32_t)i;
        }
    }
    tr_graph_shift_back(graph->free_begin, plan->labels);
    return true;
}

/* end_begin, end_feature, end_forbidden: (c, end) is fired by the ends in c, (end) alone by all. */
static bool list_ends(struct tr_graph *graph, const struct tr_graph_plan *plan)
{
    uint32_t labels = plan->labels;
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        if (plan->forbidden[i][1] == labels + 1 && plan->forbidden[i][0] < labels) {
            graph->end_forbidden[plan->forbidden[i][0]] = true;
        }
    }
    for (int placing = 0; placing < 2; placing++) {
        for (size_t i = 0; i < plan->gram_count; i++) {
            const struct tr_gram *gram = &plan->grams[i];
            if (gram->label[gram->length - 1] != labels + 1) {
                continue;
            }
            uint32_t first = gram->length == 1 ? 0
                                               : gram->label[0]; // L, the start: an empty sequence
            uint32_t last = gram->length == 1 ? labels : first + (first < labels);
            for (uint32_t c = first; c < last; c++) {
                if (placing) {
                    graph->end_feature[graph->end_begin[c]++] = (uint32_t)i;
                } else {
                    graph->end_begin[c + 1]++;
                }
            }
        }
        if (placing) {
            tr_graph_shift_back(graph->end_begin, labels);
        } else {
            tr_graph_sum_counts(graph->end_begin, labels);
            graph->end_feature = tr_alloc(graph->end_begin[labels], sizeof *graph->end_feature);
            if (!graph->end_feature) {
                return false;
            }
        }
    }
    return true;
}

/* Appends the step from -> to with its entries; returns the next entry. */
static size_t append_step(struct tr_graph *graph, const struct listing *listing, size_t entry,
                          uint32_t from, uint32_t to, uint32_t *step)
{
    uint32_t a = (*step)++, end = graph->feature_begin[a];
    graph->from[a] = from == graph->labels ? TR_NO_STATE : from;
    graph->to[a] = to;
    for (; entry < listing->count && listing->entries[entry].to == to &&
           listing->entries[entry].from == from;
         entry++) {
        if (listing->entries[entry].feature == PROHIBITED) {
            graph->forbidden[a] = true;
        } else {
            graph->feature[end++] = listing->entries[entry].feature;
        }
    }
    for (uint32_t p = graph->free_begin[to]; p < graph->free_begin[to + 1]; p++) {
        graph->feature[end++] = graph->free_feature[p];
    }
    graph->feature_begin[a + 1] = graph->forbidden[a] ? graph->feature_begin[a] : end;
    return entry;
}

static void append_steps(struct tr_graph *graph, const struct listing *listing)
{
    size_t entry = 0;
    uint32_t step = 0;
    for (uint32_t to = 0; to < graph->labels; to++) {
        graph->label[to] = (uint16_t)to;
        graph->in_begin[to] = step;
        if (graph->free_steps) {
            while (entry < listing->count && listing->entries[entry].to == to) {
                entry = append_step(graph, listing, entry, listing->entries[entry].from, to, &step);
            }
        } else {
            for (uint32_t from = 0; from <= graph->labels; from++) {
                entry = append_step(graph, listing, entry, from, to, &step);
            }
        }
    }
    graph->in_begin[graph->labels] = step;
}

static bool steps_are_free(const struct tr_graph_plan *plan, enum tr_listing listing, size_t pairs)
{
    size_t all = (size_t)plan->labels * (plan->labels + 1);
    if (listing != TR_LIST_BY_SIZE) {
        return listing == TR_LIST_FREE;
    }
    if (plan->order == 0 && pairs == 0) {
        return true;
    }
    return plan->labels > FEW_LABELS && pairs <= all / LISTED_SHARE_OF;
}

/* An upper bound of the features that all listed steps fire. */
static size_t fired_by_steps(const struct tr_graph *graph, const struct listing *listing)
{
    size_t fired = listing->count;
    if (!graph->free_steps) {
        return fired + ((size_t)graph->labels + 1) * graph->free_begin[graph->labels];
    }
    for (size_t i = 0; i < listing->count; i++) {
        uint32_t to = listing->entries[i].to;
        if (i == 0 || !same_step(&listing->entries[i], &listing->entries[i - 1])) {
            fired += graph->free_begin[to + 1] - graph->free_begin[to];
        }
    }
    return fired;
}

/* The listed steps, once states, priors and ends are there. */
static trellis_status list_steps(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                 const struct listing *listed, trellis_error *error)
{
    size_t steps = graph->free_steps ? listed->pairs : (size_t)plan->labels * (plan->labels + 1);
    size_t fired = fired_by_steps(graph, listed);
    if (steps > tr_graph_max_steps(plan) || fired > UINT32_MAX) {
        return tr_graph_too_large(plan, error);
    }
    if (!tr_graph_make_steps(graph, steps, fired)) {
        return tr_fail_memory(error);
    }
    append_steps(graph, listed);
    return TRELLIS_OK;
}

trellis_status tr_graph_build_first_order(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                          enum tr_listing listing, trellis_error *error)
{
    struct listing listed = {0};
    trellis_status status = TRELLIS_OK;
    if (!tr_graph_make_states(graph, plan->labels) || !list_entries(&listed, plan) ||
        !list_priors(graph, plan) || !list_ends(graph, plan)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        graph->free_steps = steps_are_free(plan, listing, listed.pairs);
        status = list_steps(graph, plan, &listed, error);
    }
    free(listed.entries);
    free(listed.spare);
    return status;
}
