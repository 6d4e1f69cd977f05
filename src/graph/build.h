/* build.h - the three ways a graph is built, for graph.c alone. */
#ifndef TRELLIS_GRAPH_BUILD_H
#define TRELLIS_GRAPH_BUILD_H

#include "graph/graph.h"

/* All fill in a zeroed graph whose labels, width and features are set. The plan has been checked.
 * After a failure tr_graph_destroy() frees what was allocated. */
trellis_status tr_graph_build_first_order(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                          enum tr_listing listing, trellis_error *error);
trellis_status tr_graph_build_automaton(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                        trellis_error *error);

trellis_status tr_graph_build_histories(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                        trellis_error *error);
void tr_histories_destroy(struct tr_histories *histories);

/* Allocates the arrays sized by states, and those sized by steps and features. */
bool tr_graph_make_states(struct tr_graph *graph, uint32_t states);
bool tr_graph_make_steps(struct tr_graph *graph, size_t steps, size_t features);

/* Lists by key, in one array: count into begin[key + 1], sum the counts, place each item at
 * begin[key]++, and shift back. begin is [keys + 1]. */
void tr_graph_sum_counts(uint32_t *begin, size_t keys);
void tr_graph_shift_back(uint32_t *begin, size_t keys);

/* The error for a graph with too many steps. */
trellis_status tr_graph_too_large(const struct tr_graph_plan *plan, trellis_error *error);

#endif
