/* path.c - the path of a sequence of labels through a graph, transition by transition. */
#include "graph/path.h"

#include <string.h>

struct tr_path_walk tr_path_walk(const struct tr_graph *graph, const uint16_t *labels,
                                 size_t length)
{
    return (struct tr_path_walk){
        .graph = graph, .labels = labels, .length = length, .to = TR_NO_STATE};
}

/* The features of an automaton that lists its transitions, in place. */
static size_t listed_features(const struct tr_graph *graph, uint32_t from, uint32_t to,
                              const uint32_t **ret_features)
{
    const uint32_t *begin = graph->feature_begin, *features = graph->feature;
    uint32_t place = to == TR_NO_STATE ? from : tr_graph_step(graph, from, to);
    if (to == TR_NO_STATE) {
        begin = graph->end_begin;
        features = graph->end_feature;
    } else if (place == TR_NO_STEP) {
        if (!graph->free_steps) {
            return 0;
        }
        begin = graph->free_begin;
        features = graph->free_feature;
        place = to;
    }
    *ret_features = features + begin[place];
    return begin[place + 1] - begin[place];
}

size_t tr_path_features(const struct tr_graph *graph, uint32_t from, uint32_t to, uint32_t *feature)
{
    const uint32_t *fired = NULL;
    size_t count;
    struct tr_reading reading;
    if (from == TR_NO_STATE && to == TR_NO_STATE) {
        return 0; // an empty sequence fires nothing
    }
    if (graph->pruned) {
        uint32_t label = to == TR_NO_STATE ? graph->labels + 1 : graph->label[to];
        reading = tr_graph_read(graph, from, label, graph->order);
        fired = reading.feature;
        count = reading.count;
    } else {
        count = listed_features(graph, from, to, &fired);
    }
    if (count) {
        memcpy(feature, fired, count * sizeof *feature);
    }
    return count;
}

bool tr_path_next(struct tr_path_walk *walk)
{
    bool more = walk->length > 0 && walk->taken <= walk->length && !walk->forbidden;
    if (!more) {
        return false;
    }
    bool end = walk->taken == walk->length;
    walk->position = walk->taken++;
    walk->from = walk->to;
    walk->to = end ? TR_NO_STATE
                   : tr_graph_next(walk->graph, walk->from, walk->labels[walk->position]);
    walk->forbidden = end ? walk->graph->end_forbidden[walk->from] : walk->to == TR_NO_STATE;
    walk->count = walk->forbidden
                      ? 0
                      : tr_path_features(walk->graph, walk->from, walk->to, walk->feature);
    return true;
}
