/* histories.c - graphs whose steps are looked up instead of listed, for pruned search.
 *
 * The states are the histories that automaton.c calls observed: single labels, and every proper
 * prefix of a gram. That file lists the steps from each of them with each label, S * L in all. A
 * pruned search takes so few of those that looking them up is cheaper: a table holds, for a history
 * h and a label c,
 *
 *     the history h c, where it is one, and the gram h c, where it has a weight
 *
 * and reading c after v looks at v, at its link (its longest proper suffix that is a history), at
 * the link of that, down to the empty history. The first history found is the next state, and all
 * grams found are fired. Memory is proportional to grams and histories, not to labels times
 * histories.
 *
 * Level k of the graph is the same with histories of at most k labels: since every prefix of a
 * history is one too, the same chain of links finds the longest suffix of at most k labels.
 */
#include "base/memory.h"
#include "graph/build.h"

#include <string.h>

enum { EMPTY, START, FIRST_STATE }; // histories: of no label, of the start alone, then the states

#define NO_FEATURE UINT32_MAX
#define MAX_HISTORIES (UINT32_C(1) << 31)

/* What may follow a history. */
struct history_entry {
    uint32_t history; // + 1; 0: a free place
    uint32_t child;   // the history with the label after it, 0 where it is none
    uint32_t feature; // NO_FEATURE: none
    uint16_t label;
    bool forbidden; // after a single label or the start
};

struct tr_histories {
    TR_ARRAY(uint32_t) link;       // of each history
    TR_ARRAY(uint8_t) depth;       // its labels, the start among them
    struct history_entry *entries; // [entry_room] open addressing
    size_t entry_count, entry_room;
};

/* ---- the table ------------------------------------------------------------------------------- */

static size_t place_of(const struct tr_histories *h, uint32_t history, uint32_t label)
{
    uint64_t key = ((uint64_t)history << 16 | label) * UINT64_C(0x9E3779B97F4A7C15);
    size_t mask = h->entry_room - 1, place = (size_t)(key >> 32) & mask;
    while (h->entries[place].history &&
           (h->entries[place].history != history + 1 || h->entries[place].label != label)) {
        place = (place + 1) & mask;
    }
    return place;
}

static bool grow(struct tr_histories *h)
{
    struct history_entry *old = h->entries;
    size_t old_room = h->entry_room, room = old_room ? 2 * old_room : 1024;
    struct history_entry *entries = tr_alloc(room, sizeof *entries);
    if (!entries) {
        return false;
    }
    h->entries = entries;
    h->entry_room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].history) {
            entries[place_of(h, old[i].history - 1, old[i].label)] = old[i];
        }
    }
    free(old);
    return true;
}

/* The entry of a history and a label, created if there is none; NULL on allocation failure. */
static struct history_entry *entry_for(struct tr_histories *h, uint32_t history, uint32_t label)
{
    if (2 * (h->entry_count + 1) > h->entry_room && !grow(h)) {
        return NULL;
    }
    struct history_entry *entry = &h->entries[place_of(h, history, label)];
    if (!entry->history) {
        *entry = (struct history_entry){
            .history = history + 1, .label = (uint16_t)label, .feature = NO_FEATURE};
        h->entry_count++;
    }
    return entry;
}

static uint32_t child_of(const struct tr_histories *h, uint32_t history, uint32_t label)
{
    const struct history_entry *entry = &h->entries[place_of(h, history, label)];
    return entry->history ? entry->child : 0;
}

/* ---- building -------------------------------------------------------------------------------- */

static bool add_history(struct tr_histories *h, uint32_t link, uint32_t depth)
{
    return tr_push(&h->link, link) && tr_push(&h->depth, (uint8_t)depth);
}

/* The link of h c: the first child by c along the links of h. All shorter histories must exist. */
static uint32_t link_of(const struct tr_histories *h, uint32_t history, uint32_t label)
{
    uint32_t found = 0;
    while (!found && history != EMPTY) {
        history = h->link.at[history];
        found = child_of(h, history, label);
    }
    return found;
}

/* The history h c, created if there is none; 0 on allocation failure or if there are too many. */
static uint32_t extend(struct tr_histories *h, uint32_t history, uint32_t label)
{
    uint32_t made = (uint32_t)h->link.size, found = child_of(h, history, label);
    if (found) {
        return found;
    }
    struct history_entry *entry = made < MAX_HISTORIES ? entry_for(h, history, label) : NULL;
    if (!entry || !add_history(h, link_of(h, history, label), (uint32_t)h->depth.at[history] + 1)) {
        return 0;
    }
    entry->child = made;
    return made;
}

static bool add_labels(struct tr_histories *h, uint32_t labels)
{
    bool ok = grow(h) && add_history(h, EMPTY, 0) && add_history(h, EMPTY, 1);
    for (uint32_t c = 0; ok && c < labels; c++) {
        ok = extend(h, EMPTY, c) != 0;
    }
    return ok;
}

/* The history made of the first `length` labels of a gram; 0 if there is none, or if length is
 * 0. */
static uint32_t history_of(const struct tr_histories *h, const struct tr_gram *gram, size_t length,
                           uint32_t labels)
{
    uint32_t history = EMPTY;
    for (size_t i = 0; i < length; i++) {
        history = gram->label[i] == labels ? START : child_of(h, history, gram->label[i]);
    }
    return history;
}

/* The prefixes of grams, shorter ones first. */
static bool add_beginnings(struct tr_histories *h, const struct tr_graph_plan *plan)
{
    for (uint32_t length = 2; length <= plan->order; length++) {
        for (size_t i = 0; i < plan->gram_count; i++) {
            const struct tr_gram *gram = &plan->grams[i];
            if (gram->length > length) {
                uint32_t before = history_of(h, gram, length - 1, plan->labels);
                if (!extend(h, before, gram->label[length - 1])) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool add_features(struct tr_histories *h, const struct tr_graph_plan *plan)
{
    for (size_t i = 0; i < plan->gram_count; i++) {
        const struct tr_gram *gram = &plan->grams[i];
        uint32_t before = history_of(h, gram, gram->length - 1u, plan->labels);
        struct history_entry *entry = entry_for(h, before, gram->label[gram->length - 1]);
        if (!entry) {
            return false;
        }
        entry->feature = (uint32_t)i;
    }
    return true;
}

static bool add_forbidden(struct tr_histories *h, const struct tr_graph_plan *plan)
{
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        uint32_t from = plan->forbidden[i][0];
        struct history_entry *entry = entry_for(
            h, from == plan->labels ? START : FIRST_STATE + from, plan->forbidden[i][1]);
        if (!entry) {
            return false;
        }
        entry->forbidden = true;
    }
    return true;
}

/* The label of a state is that of its link, down to the single labels. */
static bool place_labels(struct tr_graph *graph)
{
    const struct tr_histories *h = graph->histories;
    graph->states = (uint32_t)h->link.size - FIRST_STATE;
    graph->label = tr_alloc(graph->states, sizeof *graph->label);
    graph->end_forbidden = tr_alloc(graph->states, sizeof *graph->end_forbidden);
    bool ok = graph->label && graph->end_forbidden;
    for (uint32_t z = 0; ok && z < graph->states; z++) {
        graph->label[z] = z < graph->labels
                              ? (uint16_t)z
                              : graph->label[h->link.at[z + FIRST_STATE] - FIRST_STATE];
    }
    for (uint32_t z = 0; ok && z < graph->states; z++) {
        graph->end_forbidden[z] = tr_graph_read(graph, z, graph->labels + 1, graph->order).next ==
                                  TR_NO_STATE;
    }
    return ok;
}

trellis_status tr_graph_build_histories(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                        trellis_error *error)
{
    struct tr_histories *h = graph->histories = tr_alloc(1, sizeof *h);
    graph->pruned = true;
    graph->threshold = plan->threshold;
    graph->order = plan->order;
    return h && add_labels(h, plan->labels) && add_beginnings(h, plan) && add_features(h, plan) &&
                   add_forbidden(h, plan) && place_labels(graph)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

void tr_histories_destroy(struct tr_histories *h)
{
    if (h) {
        free(h->link.at);
        free(h->depth.at);
        free(h->entries);
        free(h);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct tr_reading tr_graph_read(const struct tr_graph *graph, uint32_t state, uint32_t label,
                                uint32_t level)
{
    const struct tr_histories *h = graph->histories;
    struct tr_reading reading = {.next = TR_NO_STATE};
    uint32_t history = level == 0 ? EMPTY : state == TR_NO_STATE ? START : FIRST_STATE + state;
    uint32_t next = 0;
    bool forbidden = false;
    for (;; history = h->link.at[history]) {
        const struct history_entry *entry = &h->entries[place_of(h, history, label)];
        if (entry->history) {
            forbidden = forbidden || entry->forbidden;
            if (entry->feature != NO_FEATURE) {
                reading.feature[reading.count++] = entry->feature;
            }
            next = next || h->depth.at[history] >= level ? next : entry->child;
        }
        if (history == EMPTY) {
            break;
        }
    }
    if (forbidden) {
        reading.count = 0;
    } else {
        reading.next = next ? next - FIRST_STATE : state;
    }
    return reading;
}

uint32_t tr_graph_shorten(const struct tr_graph *graph, uint32_t state, uint32_t level)
{
    const struct tr_histories *h = graph->histories;
    uint32_t history = FIRST_STATE + state;
    while (h->depth.at[history] > level) {
        history = h->link.at[history];
    }
    return history - FIRST_STATE;
}
