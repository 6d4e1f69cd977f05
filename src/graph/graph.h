/* graph.h - the states of a path and the transitions between them.
 *
 * A graph is a deterministic automaton over labels. It begins in a start state; reading label c in
 * state z it moves to the one state next(z, c), or none where the transition is forbidden. So label
 * sequences and paths of states correspond one to one, and sums over label sequences are sums over
 * paths. Each state but the start stands for one label, the one read last:
 *
 *   first order    the state is the label: z = c
 *   order k        z = the last k labels (fewer near the start); the step a b -> b c is the
 *                  rule n(z) = p(z') of Wu (2013), equation 18
 *   observed       z = the longest suffix of the labels read that is a prefix of some gram
 *   counted        z = (label, length of its run so far, up to a cap)
 *   pruned         as observed, but steps are not listed: they are looked up one by one
 *                  (histories.c), since a pruned search takes few of them
 *
 * A step feature is a label gram: the label read and up to `order` labels before it, the start and
 * the end of the sequence counted as labels. A step fires every listed gram that its path matches.
 */
#ifndef TRELLIS_GRAPH_GRAPH_H
#define TRELLIS_GRAPH_GRAPH_H

#include "base/error.h"
#include "base/interruption.h"
#include "graph/segments.h"

#define TR_MAX_ORDER 8
#define TR_MAX_LABELS 60000
#define TR_MAX_STEPS (UINT32_C(1) << 26)
#define TR_NO_STATE UINT32_MAX
#define TR_NO_STEP UINT32_MAX

/* A label gram, oldest label first: gram[0 .. length-1]. length 2 is a plain step, length 1 a prior
 * of the label. With L labels, the value L stands for the start (only as the first, and not alone)
 * and L + 1 for the end (only as the last). In a graph with counted states all labels but the last
 * are the same, c .. c d: it fires where d follows at least that many c in a row. */
struct tr_gram {
    uint8_t length; // 1 to order + 1; with counted states to count_cap + 1
    uint16_t label[TR_MAX_ORDER + 1];
};

/* What a graph is made from; kept in the model file. */
struct tr_graph_plan {
    uint32_t labels;      // L
    uint32_t order;       // 0 (no steps: a classifier for each position), 1, 2, ...
    uint32_t count_cap;   // 2 to TR_MAX_ORDER: counted states (with order 1 only); else 0
    bool observed_states; // order >= 2: only label grams that begin one of `grams` become states,
                          // anything else falls back to the longest suffix that is one
    bool pruned;      // order >= 1: observed states for a pruned search; overrides the field above
    double threshold; // of that search: states with a lower posterior are pruned
    const struct tr_gram *grams; // [gram_count] the step features, no two the same
    size_t gram_count;
    const uint16_t (
        *forbidden)[2]; // [forbidden_count] steps (from, to); L as from: start; L + 1 as to: end
    size_t forbidden_count;
    size_t max_steps; // limit on steps below TR_MAX_STEPS; 0: none
    /* Order 1: paths are cut into segments, whose scores a lattice adds (lattice/segment.h). NULL:
     * they are not. Outlives the graph. */
    const struct tr_segments *segments;
    const struct tr_interruption
        *interruption; // ends the building, with TRELLIS_INTERRUPTED; NULL: nothing does
};

static inline size_t tr_graph_max_steps(const struct tr_graph_plan *plan)
{
    return plan->max_steps && plan->max_steps < TR_MAX_STEPS ? plan->max_steps : TR_MAX_STEPS;
}

/* The labels of the longest gram that a plan can have. */
static inline uint32_t tr_graph_longest(const struct tr_graph_plan *plan)
{
    return (plan->count_cap > 1 ? plan->count_cap : plan->order) + 1;
}

struct tr_graph {
    uint32_t labels;
    uint32_t width;    // labels rounded up to a multiple of 8: the stride of score rows
    uint32_t states;   // S, the start not counted
    uint32_t features; // step features, numbered as in the plan's grams
    bool first_order;  // the state is the label, and every step is allowed or listed
    bool
        free_steps; // first order only: steps that are not listed are allowed and fire free_feature
    uint16_t *label; // [S]

    /* Steps, sorted by the state they lead to; those into state z are in_begin[z] ..
     * in_begin[z+1]-1, in the order of the states they come from, the start (TR_NO_STATE) last. In
     * first order without free_steps all are listed, L + 1 into each state. With free_steps only
     * those with a feature of their own or a prohibition are. Otherwise all that are not forbidden
     * are. A forbidden step that is listed fires nothing and has forbidden[a]. */
    uint32_t step_count;
    uint32_t *in_begin;      // [S + 1]
    uint32_t *from;          // [step_count]
    uint32_t *to;            // [step_count]
    bool *forbidden;         // [step_count]
    uint32_t *feature_begin; // [step_count + 1] into feature
    uint32_t *feature;       // the grams that the step fires, the longest first
    uint32_t *step_at; // [S + 1][L] the step that reads a label in a state (row S: the start),
                       // TR_NO_STEP where forbidden; NULL in first order

    /* Fans, not in first order: states with one label from which each label leads to the same
     * state. At order k these are the L + 1 states that differ in their oldest label alone. */
    uint32_t fan_count;
    uint32_t *fan_begin; // [fan_count + 1] the states of a fan are fan_begin[f] .. fan_begin[f+1]-1

    /* First order: the label priors, fired by every step into a state, listed or not. */
    uint32_t *free_begin; // [S + 1] into free_feature; NULL otherwise
    uint32_t *free_feature;

    /* Ends: the grams fired when a sequence ends in state z, and whether it may. */
    uint32_t *end_begin; // [S + 1] into end_feature
    uint32_t *end_feature;
    bool *end_forbidden; // [S]

    const struct tr_segments *segments; // of the plan

    /* A pruned graph has labels, width, states, features, label, end_forbidden and these; none of
     * the rest. */
    bool pruned;
    double threshold;
    uint32_t order;
    struct tr_histories *histories;
};

trellis_status tr_graph_create(const struct tr_graph_plan *plan, struct tr_graph **ret_graph,
                               trellis_error *error);
void tr_graph_destroy(struct tr_graph *graph);

/* Which steps a first-order graph lists. tr_graph_create() decides by their number; tests
 * choose. */
enum tr_listing { TR_LIST_BY_SIZE, TR_LIST_FREE, TR_LIST_ALL };
trellis_status tr_graph_create_listing(const struct tr_graph_plan *plan, enum tr_listing listing,
                                       struct tr_graph **ret_graph, trellis_error *error);

/* The result of reading a label in a pruned graph: the next state, and the features fired. */
struct tr_reading {
    uint32_t next; // TR_NO_STATE where the step is forbidden, and at the end where it may not be
    uint32_t count;
    uint32_t feature[TR_MAX_ORDER + 1]; // [count] the longest gram first
};
/* A pruned graph at a level, that is, at a lower order: states have at most that many labels, and
 * longer grams are not fired. Level 0 has no states. Label L + 1 is the end; the next state is then
 * the one given. */
struct tr_reading tr_graph_read(const struct tr_graph *graph, uint32_t state, uint32_t label,
                                uint32_t level);
/* The state that a state is reduced to at a lower level, 1 or more. */
uint32_t tr_graph_shorten(const struct tr_graph *graph, uint32_t state, uint32_t level);

/* The state after reading a label in a state (TR_NO_STATE: the start); TR_NO_STATE where
 * forbidden. */
uint32_t tr_graph_next(const struct tr_graph *graph, uint32_t state, uint16_t label);
/* The listed step from a state (TR_NO_STATE: the start) to a state, TR_NO_STEP where none is
 * listed. */
uint32_t tr_graph_step(const struct tr_graph *graph, uint32_t from, uint32_t to);

#endif
