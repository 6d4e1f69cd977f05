/* graph.h - which states a path can be in, and what may follow what.
 *
 * A graph is a deterministic automaton over labels. It begins in a start state; reading label c in
 * state z it moves to the one state next(z, c), or nowhere where the step is forbidden. So each
 * sequence of labels is one path of states and the other way round, and sums over label sequences are
 * sums over paths. Each state but the start stands for one label, the one read last:
 *
 *   first order    the state is the label: z = c
 *   order k        z = the last k labels (fewer near the start); the step a b -> b c is the
 *                  rule n(z) = p(z') of the seed paper, equation 18
 *   counted        z = (label, how many times in a row it was read, up to a cap)
 *
 * A step feature is a label gram: the label read and up to `order` labels before it, the start and
 * the end of the sequence counted as labels. A step fires every listed gram that its path matches.
 */
#ifndef TRELLIS_GRAPH_GRAPH_H
#define TRELLIS_GRAPH_GRAPH_H

#include "base/error.h"

#define TR_MOST_ORDER 8
#define TR_MOST_LABELS 60000
#define TR_NO_STATE UINT32_MAX

/* A label gram, oldest label first: gram[0 .. length-1]. length 2 is a plain step. With L labels,
 * the value L stands for the start (only as the first) and L + 1 for the end (only as the last). */
struct tr_gram {
    uint8_t length; // 1 to order + 1
    uint16_t label[TR_MOST_ORDER + 1];
};

/* What a graph is made from; kept in the model file. */
struct tr_graph_plan {
    uint32_t labels;             // L
    uint32_t order;              // 0 (no steps: a classifier for each position), 1, 2, ...
    uint32_t count_cap;          // > 1: counted states (with order 1 only); else 0
    bool observed_states;        // order >= 2: only label grams that occur in `grams` become states,
                                 // anything else falls back to the longest suffix that is one
    const struct tr_gram *grams; // [gram_count] the step features, no two the same
    size_t gram_count;
    const uint16_t (*forbidden)[2]; // [forbidden_count] steps (from, to); L as from: start; L + 1 as to: end
    size_t forbidden_count;
};

struct tr_graph {
    uint32_t labels;
    uint32_t width;   // labels rounded up to a multiple of 16: the stride of score rows
    uint32_t states;  // S, the start not counted
    uint32_t features; // step features, numbered as in the plan's grams
    bool first_order; // the state is the label, and every step is allowed or listed
    bool free_steps;  // first order only: steps that are not listed are allowed and score 0
    uint16_t *label;  // [S]

    /* Steps, sorted by the state they lead to; those into state z are in_begin[z] .. in_begin[z+1]-1.
     * A step out of the start has from[] = TR_NO_STATE. With free_steps only those with a feature or a
     * prohibition are listed; a forbidden one has feature_begin[a] == feature_begin[a+1] and
     * forbidden[a]. */
    uint32_t step_count;
    uint32_t *in_begin;      // [S + 1]
    uint32_t *from;          // [step_count]
    bool *forbidden;         // [step_count]
    uint32_t *feature_begin; // [step_count + 1] into feature
    uint32_t *feature;       // the grams that the step fires

    /* Ends: the grams fired when a sequence ends in state z, and whether it may. */
    uint32_t *end_begin; // [S + 1] into end_feature
    uint32_t *end_feature;
    bool *end_forbidden; // [S]
};

trellis_status tr_graph_create(const struct tr_graph_plan *plan, struct tr_graph **ret_graph,
                               trellis_error *error);
void tr_graph_destroy(struct tr_graph *graph);

/* The state after reading a label in a state (TR_NO_STATE: the start); TR_NO_STATE where forbidden. */
uint32_t tr_graph_next(const struct tr_graph *graph, uint32_t state, uint16_t label);

#endif
