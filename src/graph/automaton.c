/* automaton.c - graphs of higher order, of observed and of counted states.
 *
 * All three are the automaton of Aho and Corasick over label histories. A history is a short list
 * of labels, oldest first, that may begin with the start; the kinds differ in which histories are
 * nodes:
 *
 *   order k     all of up to k labels; states are those of k labels and those that begin with the
 *               start
 *   observed    single labels, and every proper prefix of a gram
 *   counted     c, c c, c c c, ... up to the cap
 *
 * The link of a node is its longest proper suffix that is itself a node. Reading label c in node v,
 *
 *   next(v, c) = v c where that is a node, else next(link(v), c)
 *
 * so that the node reached is the longest suffix of everything read that is a node. The step fires
 * the grams h c for which h is a suffix of v: those kept at v, at link(v), at link(link(v)), ...
 * down to the empty history, whose grams have length 1.
 *
 * A node without children has the transitions of its link, so all nodes that share the first link
 * with children, the leader, form a fan. States are numbered fan by fan. Steps are numbered by the
 * state they lead to, so those that read one label in the states of a fan have consecutive numbers,
 * and all of them fire the grams of the leader, of its link, and so on: both are worked out once
 * for the fan, not for each state.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"

#include <string.h>

#define NO_NODE UINT32_MAX
#define EMPTY_NODE 0 // the history of no labels
#define START_NODE 1 // the history of the start alone

struct trie_node {
    uint16_t history[TR_MAX_ORDER]; // unused ones are 0
    uint8_t length;
    uint32_t link;
    uint32_t first_child, sibling; // nodes v c, as a list
    uint32_t first_gram;           // the grams that this history begins, as a list
    uint32_t fan;                  // the leader, whose transitions this one shares
    uint32_t row;                  // of a leader: its row in next_nodes()
    uint32_t state;                // TR_NO_STATE where it is none
};

struct fan {
    uint32_t leader;       // a node
    uint32_t begin, count; // its states
};

struct automaton {
    const struct tr_graph_plan *plan;
    TR_ARRAY(struct trie_node) nodes; // shorter ones first
    uint32_t *slots;                  // [slot_count] node + 1, or 0; open addressing by history
    size_t slot_count;
    uint32_t *next_gram; // [gram_count] the lists of first_gram
    uint32_t states, leaders;
    TR_ARRAY(struct fan) fans; // the last is the start, as if it were the state after all others
    uint32_t *node_of;         // [states] the node of each state
    bool *forbidden;           // [L + 1][L] steps between labels, row L: the start
    uint32_t *first_step;      // [fans][L] the step that reads a label in the first state of a fan
};

/* ---- nodes ----------------------------------------------------------------------------------- */

static size_t slot_of(const struct automaton *automaton, const uint16_t *history, size_t length)
{
    size_t mask = automaton->slot_count - 1;
    size_t slot = tr_hash64(history, length * sizeof *history) & mask;
    for (;; slot = (slot + 1) & mask) {
        uint32_t held = automaton->slots[slot];
        if (!held) {
            return slot;
        }
        const struct trie_node *node = &automaton->nodes.at[held - 1];
        if (node->length == length &&
            (length == 0 || memcmp(node->history, history, length * sizeof *history) == 0)) {
            return slot;
        }
    }
}

static uint32_t find_node(const struct automaton *automaton, const uint16_t *history, size_t length)
{
    return automaton->slots[slot_of(automaton, history, length)] - 1; // 0 becomes NO_NODE
}

static bool grow_slots(struct automaton *automaton)
{
    size_t count = automaton->slot_count ? 2 * automaton->slot_count : 1024;
    uint32_t *slots = tr_alloc(count, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(automaton->slots);
    automaton->slots = slots;
    automaton->slot_count = count;
    for (uint32_t v = 0; v < automaton->nodes.size; v++) {
        const struct trie_node *node = &automaton->nodes.at[v];
        slots[slot_of(automaton, node->history, node->length)] = v + 1;
    }
    return true;
}

/* Adds a history unless it exists. Its suffixes that become nodes are shorter and so exist already,
 * as does the history without its last label. */
static trellis_status add_node(struct automaton *automaton, const uint16_t *history, size_t length)
{
    if (2 * (automaton->nodes.size + 1) > automaton->slot_count && !grow_slots(automaton)) {
        return TRELLIS_MEMORY;
    }
    size_t slot = slot_of(automaton, history, length);
    if (automaton->slots[slot]) {
        return TRELLIS_OK;
    }
    uint32_t number = (uint32_t)automaton->nodes.size;
    size_t max = tr_graph_max_steps(automaton->plan);
    if (((size_t)number + 1) * automaton->plan->labels > max + (max >> 2)) {
        return TRELLIS_LIMIT;
    }
    struct trie_node node = {.length = (uint8_t)length,
                             .first_child = NO_NODE,
                             .sibling = NO_NODE,
                             .first_gram = NO_NODE,
                             .state = TR_NO_STATE};
    if (length) {
        memcpy(node.history, history, length * sizeof *history);
    }
    for (size_t i = 1; i <= length; i++) {
        node.link = find_node(automaton, history + i, length - i);
        if (node.link != NO_NODE) {
            break;
        }
    }
    if (!tr_push(&automaton->nodes, node)) {
        return TRELLIS_MEMORY;
    }
    automaton->slots[slot] = number + 1;
    if (length > 0 && number != START_NODE) {
        uint32_t parent = find_node(automaton, history, length - 1);
        automaton->nodes.at[number].sibling = automaton->nodes.at[parent].first_child;
        automaton->nodes.at[parent].first_child = number;
    }
    return TRELLIS_OK;
}

/* The empty history, the start, and all single labels. */
static trellis_status add_first_nodes(struct automaton *automaton)
{
    uint16_t start = (uint16_t)automaton->plan->labels;
    trellis_status status = add_node(automaton, NULL, 0);
    status = status ? status : add_node(automaton, &start, 1);
    for (uint32_t c = 0; c < automaton->plan->labels && !status; c++) {
        status = add_node(automaton, &(uint16_t){(uint16_t)c}, 1);
    }
    return status;
}

/* All histories of 2 to k labels: every node of one label less, and one more label. */
static trellis_status add_all_nodes(struct automaton *automaton)
{
    size_t begin = START_NODE;
    for (uint32_t length = 2; length <= automaton->plan->order; length++) {
        size_t end = automaton->nodes.size;
        for (size_t v = begin; v < end; v++) {
            uint16_t history[TR_MAX_ORDER];
            memcpy(history, automaton->nodes.at[v].history, sizeof history);
            if (tr_interrupted(automaton->plan->interruption)) {
                return TRELLIS_INTERRUPTED;
            }
            for (uint32_t c = 0; c < automaton->plan->labels; c++) {
                history[length - 1] = (uint16_t)c;
                trellis_status status = add_node(automaton, history, length);
                if (status) {
                    return status;
                }
            }
        }
        begin = end;
    }
    return TRELLIS_OK;
}

/* Every prefix of a gram, shorter ones first, without the gram's last label, which is read next. */
static trellis_status add_observed_nodes(struct automaton *automaton)
{
    const struct tr_graph_plan *plan = automaton->plan;
    for (uint32_t length = 2; length <= plan->order; length++) {
        for (size_t i = 0; i < plan->gram_count; i++) {
            if (plan->grams[i].length > length) {
                trellis_status status = add_node(automaton, plan->grams[i].label, length);
                if (status) {
                    return status;
                }
            }
        }
    }
    return TRELLIS_OK;
}

static trellis_status add_counted_nodes(struct automaton *automaton)
{
    const struct tr_graph_plan *plan = automaton->plan;
    for (uint32_t count = 2; count <= plan->count_cap; count++) {
        for (uint32_t c = 0; c < plan->labels; c++) {
            uint16_t history[TR_MAX_ORDER];
            for (uint32_t i = 0; i < count; i++) {
                history[i] = (uint16_t)c;
            }
            trellis_status status = add_node(automaton, history, count);
            if (status) {
                return status;
            }
        }
    }
    return TRELLIS_OK;
}

static bool is_state(const struct automaton *automaton, const struct trie_node *node, bool dense)
{
    return !dense || node->length == automaton->plan->order ||
           node->history[0] == automaton->plan->labels;
}

/* The fan of each node, and how many states it has: count[leader]. A single label is a fan of its
 * own even where it has no children, so that all states of a fan have one label. */
static void find_fans(struct automaton *automaton, bool dense, uint32_t *count)
{
    for (uint32_t v = 0; v < automaton->nodes.size; v++) {
        struct trie_node *node = &automaton->nodes.at[v];
        bool leads = node->first_child != NO_NODE || node->length <= 1;
        node->fan = leads ? v : automaton->nodes.at[node->link].fan;
        if (leads) {
            node->row = automaton->leaders++;
        }
        count[node->fan] += v > START_NODE && is_state(automaton, node, dense);
    }
}

/* Numbers the states, fan by fan, and lists the fans. */
static trellis_status number_states(struct automaton *automaton, bool dense)
{
    size_t nodes = automaton->nodes.size;
    uint32_t *next = tr_alloc(nodes, sizeof *next); // the next state of each leader's fan
    automaton->node_of = tr_alloc(nodes, sizeof *automaton->node_of);
    bool made = next && automaton->node_of;
    if (made) {
        find_fans(automaton, dense, next);
    }
    for (uint32_t v = START_NODE + 1; made && v < nodes; v++) {
        struct fan fan = {.leader = v, .begin = automaton->states, .count = next[v]};
        next[v] = automaton->states;
        automaton->states += fan.count;
        made = fan.count == 0 || tr_push(&automaton->fans, fan);
    }
    made = made && tr_push(&automaton->fans, ((struct fan){START_NODE, automaton->states, 1}));
    for (uint32_t v = START_NODE + 1; made && v < nodes; v++) {
        struct trie_node *node = &automaton->nodes.at[v];
        if (is_state(automaton, node, dense)) {
            node->state = next[node->fan]++;
            automaton->node_of[node->state] = v;
        }
    }
    free(next);
    return made ? TRELLIS_OK : TRELLIS_MEMORY;
}

/* Order k: L^k histories of k labels and L + .. + L^(k-1) after the start, each with L steps. */
static bool all_nodes_fit(const struct tr_graph_plan *plan)
{
    size_t steps = plan->labels; // cannot overflow: L <= 60000, and each product is checked
    for (uint32_t length = 1; length <= plan->order; length++) {
        steps *= plan->labels;
        if (steps > tr_graph_max_steps(plan)) {
            return false;
        }
    }
    return true;
}

static trellis_status add_nodes(struct automaton *automaton)
{
    const struct tr_graph_plan *plan = automaton->plan;
    bool dense = plan->count_cap <= 1 && !plan->observed_states;
    if (dense && !all_nodes_fit(plan)) {
        return TRELLIS_LIMIT;
    }
    trellis_status status = add_first_nodes(automaton);
    if (!status) {
        status = plan->count_cap > 1     ? add_counted_nodes(automaton)
                 : plan->observed_states ? add_observed_nodes(automaton)
                                         : add_all_nodes(automaton);
    }
    return status ? status : number_states(automaton, dense);
}

/* Attaches each gram to the history that it begins with. */
static trellis_status attach_grams(struct automaton *automaton, trellis_error *error)
{
    const struct tr_graph_plan *plan = automaton->plan;
    automaton->next_gram = tr_alloc(plan->gram_count, sizeof *automaton->next_gram);
    if (!automaton->next_gram) {
        return tr_fail_memory(error);
    }
    for (size_t i = plan->gram_count; i-- > 0;) {
        const struct tr_gram *gram = &plan->grams[i];
        uint32_t v = find_node(automaton, gram->label, gram->length - 1u);
        if (v == NO_NODE) {
            return tr_fail(error, TRELLIS_MODEL,
                           "label gram %zu must repeat one label, because states are counted", i);
        }
        automaton->next_gram[i] = automaton->nodes.at[v].first_gram;
        automaton->nodes.at[v].first_gram = (uint32_t)i;
    }
    return TRELLIS_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool list_forbidden(struct automaton *automaton)
{
    const struct tr_graph_plan *plan = automaton->plan;
    automaton->forbidden = tr_alloc(((size_t)plan->labels + 1) * plan->labels, sizeof(bool));
    if (!automaton->forbidden) {
        return false;
    }
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        if (plan->forbidden[i][1] < plan->labels) {
            automaton->forbidden[(size_t)plan->forbidden[i][0] * plan->labels +
                                 plan->forbidden[i][1]] = true;
        }
    }
    return true;
}

/* next(v, c) for all leaders, by the formula above: [leaders][L] */
static uint32_t *next_nodes(const struct automaton *automaton)
{
    size_t labels = automaton->plan->labels;
    const struct trie_node *nodes = automaton->nodes.at;
    uint32_t *next = tr_alloc(automaton->leaders * labels, sizeof *next);
    for (uint32_t v = 0; next && v < automaton->nodes.size; v++) {
        if (nodes[v].fan != v) {
            continue;
        }
        uint32_t *row = next + nodes[v].row * labels;
        if (v != EMPTY_NODE) {
            memcpy(row, next + nodes[nodes[nodes[v].link].fan].row * labels, labels * sizeof *row);
        }
        for (uint32_t w = nodes[v].first_child; w != NO_NODE; w = nodes[w].sibling) {
            row[nodes[w].history[nodes[v].length]] = w;
        }
    }
    return next;
}

/* Fills first_step with the state that each step leads to, TR_NO_STATE where it is forbidden, and
 * counts the steps into each state. */
static bool find_next_states(struct tr_graph *graph, struct automaton *automaton)
{
    size_t labels = graph->labels;
    uint32_t *next = next_nodes(automaton);
    automaton->first_step = tr_alloc(automaton->fans.size * labels, sizeof(uint32_t));
    for (size_t f = 0; next && automaton->first_step && f < automaton->fans.size; f++) {
        const struct trie_node *leader = &automaton->nodes.at[automaton->fans.at[f].leader];
        size_t last = leader->history[leader->length - 1];
        for (size_t c = 0; c < labels; c++) {
            uint32_t to = automaton->nodes.at[next[leader->row * labels + c]].state;
            bool forbidden = automaton->forbidden[last * labels + c];
            automaton->first_step[f * labels + c] = forbidden ? TR_NO_STATE : to;
            if (!forbidden) {
                graph->in_begin[to + 1] += automaton->fans.at[f].count;
            }
        }
    }
    bool found = next && automaton->first_step;
    free(next);
    tr_graph_sum_counts(graph->in_begin, graph->states);
    return found;
}

/* Numbers the steps by where they lead to, and puts the numbers into first_step and step_at. */
static void number_steps(struct tr_graph *graph, const struct automaton *automaton)
{
    size_t labels = graph->labels;
    for (size_t f = 0; f < automaton->fans.size && !tr_interrupted(automaton->plan->interruption);
         f++) {
        const struct fan *fan = &automaton->fans.at[f];
        uint32_t *first = automaton->first_step + f * labels;
        for (size_t c = 0; c < labels; c++) {
            uint32_t to = first[c];
            if (to == TR_NO_STATE) {
                continue;
            }
            first[c] = graph->in_begin[to];
            graph->in_begin[to] += fan->count;
            for (uint32_t i = 0; i < fan->count; i++) {
                graph->from[first[c] + i] = fan->leader == START_NODE ? TR_NO_STATE
                                                                      : fan->begin + i;
                graph->to[first[c] + i] = to;
            }
        }
        for (uint32_t i = 0; i < fan->count; i++) {
            uint32_t *row = graph->step_at + (size_t)(fan->begin + i) * labels;
            for (size_t c = 0; c < labels; c++) {
                row[c] = first[c] == TR_NO_STEP ? TR_NO_STEP : first[c] + i;
            }
        }
    }
    tr_graph_shift_back(graph->in_begin, graph->states);
}

/* ---- features -------------------------------------------------------------------------------- */

/* Counts or places the grams of a node where a step out of states first .. last - 1 of a fan, or
 * the end there, fires them. */
static void visit_grams_of(struct tr_graph *graph, const struct automaton *automaton, size_t f,
                           uint32_t first, uint32_t last, uint32_t node, bool placing)
{
    const struct fan *fan = &automaton->fans.at[f];
    uint32_t g = automaton->nodes.at[node].first_gram;
    for (; g != NO_NODE; g = automaton->next_gram[g]) {
        const struct tr_gram *gram = &automaton->plan->grams[g];
        uint32_t c = gram->label[gram->length - 1];
        bool end = c == graph->labels + 1;
        uint32_t at = !end                        ? automaton->first_step[f * graph->labels + c]
                      : fan->leader == START_NODE ? TR_NO_STEP
                                                  : fan->begin;
        uint32_t *begin = end ? graph->end_begin : graph->feature_begin;
        uint32_t *feature = end ? graph->end_feature : graph->feature;
        if (at == TR_NO_STEP) { // forbidden, or the end of an empty sequence
            continue;
        }
        for (uint32_t i = first; i < last; i++) {
            if (placing) {
                feature[begin[at + i]++] = g;
            } else {
                begin[at + i + 1]++;
            }
        }
    }
}

/* Visits every (state, gram) where the gram is fired by a step out of the state or at its end:
 * counts it first, and places it once the counts are summed. What only one state of a fan fires is
 * longer than what all of them do. */
static void visit_grams(struct tr_graph *graph, const struct automaton *automaton, bool placing)
{
    const struct trie_node *nodes = automaton->nodes.at;
    for (size_t f = 0; f < automaton->fans.size && !tr_interrupted(automaton->plan->interruption);
         f++) {
        const struct fan *fan = &automaton->fans.at[f];
        uint32_t v = fan->leader;
        for (uint32_t i = 0; v != START_NODE && i < fan->count; i++) {
            for (uint32_t h = automaton->node_of[fan->begin + i]; h != v; h = nodes[h].link) {
                visit_grams_of(graph, automaton, f, i, i + 1, h, placing);
            }
        }
        for (; v != EMPTY_NODE; v = nodes[v].link) {
            visit_grams_of(graph, automaton, f, 0, fan->count, v, placing);
        }
        visit_grams_of(graph, automaton, f, 0, fan->count, EMPTY_NODE, placing);
    }
}

/* How many pairs visit_grams() will visit; too many are refused before they are counted. */
static trellis_status features_fit(const struct automaton *automaton, trellis_error *error)
{
    size_t *held = tr_alloc(automaton->nodes.size, sizeof *held), total = 0;
    if (!held) {
        return tr_fail_memory(error);
    }
    for (size_t v = 0; v < automaton->nodes.size; v++) {
        const struct trie_node *node = &automaton->nodes.at[v];
        for (uint32_t g = node->first_gram; g != NO_NODE; g = automaton->next_gram[g]) {
            held[v]++;
        }
        held[v] += v == EMPTY_NODE ? 0 : held[node->link];
        total += held[v];
    }
    free(held);
    return total < UINT32_MAX ? TRELLIS_OK : tr_graph_too_large(automaton->plan, error);
}

static bool place_features(struct tr_graph *graph, const struct automaton *automaton)
{
    free(graph->feature);
    visit_grams(graph, automaton, false);
    tr_graph_sum_counts(graph->feature_begin, graph->step_count);
    tr_graph_sum_counts(graph->end_begin, graph->states);
    graph->feature = tr_alloc(graph->feature_begin[graph->step_count], sizeof *graph->feature);
    graph->end_feature = tr_alloc(graph->end_begin[graph->states], sizeof *graph->end_feature);
    if (!graph->feature || !graph->end_feature) {
        return false;
    }
    visit_grams(graph, automaton, true);
    tr_graph_shift_back(graph->feature_begin, graph->step_count);
    tr_graph_shift_back(graph->end_begin, graph->states);
    return true;
}

static void place_labels(struct tr_graph *graph, const struct automaton *automaton)
{
    for (uint32_t z = 0; z < graph->states; z++) {
        const struct trie_node *node = &automaton->nodes.at[automaton->node_of[z]];
        graph->label[z] = node->history[node->length - 1];
    }
    for (size_t i = 0; i < automaton->plan->forbidden_count; i++) {
        if (automaton->plan->forbidden[i][1] == graph->labels + 1) {
            for (uint32_t z = 0; z < graph->states; z++) {
                graph->end_forbidden[z] |= graph->label[z] == automaton->plan->forbidden[i][0];
            }
        }
    }
}

static bool place_fans(struct tr_graph *graph, const struct automaton *automaton)
{
    graph->fan_count = (uint32_t)automaton->fans.size - 1; // all but the start
    graph->fan_begin = tr_alloc(automaton->fans.size, sizeof *graph->fan_begin);
    for (size_t f = 0; graph->fan_begin && f < automaton->fans.size; f++) {
        graph->fan_begin[f] = automaton->fans.at[f].begin;
    }
    return graph->fan_begin;
}

/* The arrays of the graph, from the nodes of the automaton; false on allocation failure. */
static bool fill_graph(struct tr_graph *graph, struct automaton *automaton)
{
    size_t rows = (size_t)automaton->states + 1;
    graph->step_at = tr_alloc(rows * graph->labels, sizeof *graph->step_at);
    if (!graph->step_at || !tr_graph_make_states(graph, automaton->states) ||
        !list_forbidden(automaton) || !find_next_states(graph, automaton) ||
        !place_fans(graph, automaton) ||
        !tr_graph_make_steps(graph, graph->in_begin[graph->states], 0)) {
        return false;
    }
    number_steps(graph, automaton);
    place_labels(graph, automaton);
    return place_features(graph, automaton);
}

trellis_status tr_graph_build_automaton(struct tr_graph *graph, const struct tr_graph_plan *plan,
                                        trellis_error *error)
{
    struct automaton automaton = {.plan = plan};
    trellis_status status = add_nodes(&automaton);
    if (status) {
        status = status == TRELLIS_LIMIT    ? tr_graph_too_large(plan, error)
                 : status == TRELLIS_MEMORY ? tr_fail_memory(error)
                                            : status;
    }
    if (!status) {
        status = attach_grams(&automaton, error);
    }
    if (!status && ((size_t)automaton.states + 1) * plan->labels > tr_graph_max_steps(plan)) {
        status = tr_graph_too_large(plan, error);
    }
    if (!status) {
        status = features_fit(&automaton, error);
    }
    if (!status && !fill_graph(graph, &automaton)) {
        status = tr_fail_memory(error);
    }
    if ((!status && tr_interrupted(plan->interruption)) || status == TRELLIS_INTERRUPTED) {
        status = tr_fail(error, TRELLIS_INTERRUPTED, "interrupted");
    }
    free(automaton.nodes.at);
    free(automaton.slots);
    free(automaton.next_gram);
    free(automaton.fans.at);
    free(automaton.node_of);
    free(automaton.forbidden);
    free(automaton.first_step);
    return status;
}
