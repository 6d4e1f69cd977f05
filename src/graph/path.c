/* path.c - the path of a sequence of labels through a graph, transition by transition. */
#include "graph/path.h"

#include <string.h>

struct tr_path_walk tr_path_walk(const struct tr_graph *graph, const uint16_t *labels,
                                 size_t length)
{
    return (struct tr_path_walk){
        .graph = graph, .labels = labels, .length = length, .to = TR_NO_STATE};
}

/* Finds the state that a label leads to, and the features fired by that step. */
static void follow_listed(struct tr_path_walk *walk, uint16_t label)
{
    const struct tr_graph *graph = walk->graph;
    const uint32_t *begin = graph->feature_begin, *features = graph->feature;
    uint32_t step;
    if (graph->step_at) {
        size_t row = walk->from == TR_NO_STATE ? graph->states : walk->from;
        step = graph->step_at[row * graph->labels + label];
        walk->to = step == TR_NO_STEP ? TR_NO_STATE : graph->to[step];
    } else {
        step = tr_graph_step(graph, walk->from, label);
        walk->to = step != TR_NO_STEP && graph->forbidden[step] ? TR_NO_STATE : label;
    }
    if (walk->to == TR_NO_STATE) {
        return;
    }
    if (step == TR_NO_STEP) {
        begin = graph->free_begin;
        features = graph->free_feature;
        step = walk->to;
    }
    walk->feature = features + begin[step];
    walk->count = begin[step + 1] - begin[step];
}

static void follow_listed_end(struct tr_path_walk *walk)
{
    const uint32_t *begin = walk->graph->end_begin + walk->from;
    walk->feature = walk->graph->end_feature + begin[0];
    walk->count = begin[1] - begin[0];
}

static void follow_pruned(struct tr_path_walk *walk, uint32_t label)
{
    const struct tr_graph *graph = walk->graph;
    walk->reading = tr_graph_read(graph, walk->from, label, graph->order);
    walk->to = label < graph->labels ? walk->reading.next : TR_NO_STATE;
    walk->feature = walk->reading.feature;
    walk->count = walk->reading.count;
}

bool tr_path_next(struct tr_path_walk *walk)
{
    const struct tr_graph *graph = walk->graph;
    if (walk->length == 0 || walk->taken > walk->length || walk->forbidden) {
        return false;
    }
    bool end = walk->taken == walk->length;
    walk->position = walk->taken++;
    walk->from = walk->to;
    walk->to = TR_NO_STATE;
    walk->count = 0;
    if (end && graph->end_forbidden[walk->from]) {
        walk->forbidden = true;
    } else if (graph->pruned) {
        follow_pruned(walk, end ? graph->labels + 1 : walk->labels[walk->position]);
    } else if (end) {
        follow_listed_end(walk);
    } else {
        follow_listed(walk, walk->labels[walk->position]);
    }
    walk->forbidden = walk->forbidden || (!end && walk->to == TR_NO_STATE);
    return true;
}

size_t tr_path_features(const struct tr_graph *graph, uint32_t from, uint32_t to, uint32_t *feature)
{
    struct tr_path_walk walk = {.graph = graph, .from = from};
    if (from == TR_NO_STATE && to == TR_NO_STATE) {
        return 0; // an empty sequence fires nothing
    }
    if (graph->pruned) {
        follow_pruned(&walk, to == TR_NO_STATE ? graph->labels + 1 : graph->label[to]);
    } else if (to == TR_NO_STATE) {
        follow_listed_end(&walk);
    } else {
        follow_listed(&walk, graph->label[to]);
    }
    if (walk.count) {
        memcpy(feature, walk.feature, walk.count * sizeof *feature);
    }
    return walk.count;
}
