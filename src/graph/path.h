/* path.h - the path of a sequence of labels through a graph, transition by transition.
 *
 *     struct tr_path_walk walk = tr_path_walk(graph, labels, n);
 *     while (tr_path_next(&walk)) {
 *         ... walk.feature[0 .. walk.count - 1] are fired between walk.from and walk.to ...
 *     }
 *
 * n labels make n + 1 transitions: one into each position, and one to the end. No labels make none.
 */
#ifndef TRELLIS_GRAPH_PATH_H
#define TRELLIS_GRAPH_PATH_H

#include "graph/graph.h"

struct tr_path_walk {
    const struct tr_graph *graph;
    const uint16_t *labels; // [length]
    size_t length;
    size_t taken; // transitions so far

    /* The transition at hand. */
    size_t position;           // that it leads to; the length for the end
    uint32_t from, to;         // states; TR_NO_STATE: from the start, to the end
    bool forbidden;            // the walk ends here; nothing is fired
    size_t count;              // of features
    const uint32_t *feature;   // [count] until the next transition
    struct tr_reading reading; // of a pruned graph
};

struct tr_path_walk tr_path_walk(const struct tr_graph *graph, const uint16_t *labels,
                                 size_t length);
/* Moves to the next transition; false where there is none, or after a forbidden one. */
bool tr_path_next(struct tr_path_walk *walk);

/* Writes the features fired by an allowed transition from a state (TR_NO_STATE: the start) to a
 * state (TR_NO_STATE: the end) into feature [TR_MAX_ORDER + 1]; returns how many. */
size_t tr_path_features(const struct tr_graph *graph, uint32_t from, uint32_t to,
                        uint32_t *feature);

#endif
