/* nbest.c - the m best paths, by the recursive enumeration of Jimenez and Marzal (1999).
 *
 * Forward, in double precision, the score of the best path to each state at each position:
 *
 *   delta_1(z) = start(z) + node_1(z)
 *   delta_i(z) = max_z' delta_{i-1}(z') + step(z', z) + node_i(z) + edge_i(z', z)
 *
 * Then backward, only where needed: the k-th best path to a state z at i extends the r-th best path
 * to some z' at i - 1. The candidates are, for each z', the best path to it that has not been
 * extended to z yet; to begin with its very best, whose score is delta_{i-1}(z'). After the r-th
 * path to z' was taken, the r+1-st becomes a candidate, which may have to be found in the same way:
 *
 *   next(z, i):  (z', r) = the last path found to z
 *                if there is a path r+1 to z', found by next(z', i - 1) where it is not known:
 *                    candidates += (z', r+1)
 *                the best candidate is the next path
 *
 * The recursion goes from each position to the one before, so it is a loop down a chain of states
 * and up again. At most m paths to a state are ever needed, so only its m best candidates are kept;
 * the cost is one pass over the transitions into each state visited.
 *
 * Sums are taken in the order of tr_lattice_path_score(), so that scores are the same to the last
 * bit. Rounding is monotone, so max(x) + c is the maximum of all x + c here too.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define NO_NODE UINT32_MAX

/* A state at a position that some path found goes through. */
struct node {
    uint32_t state;
    uint32_t next_here; // the next node of the same position
    /* The ways to reach it, both from ways[..] of the search. */
    size_t found_begin, waiting_begin;
    size_t found, found_room; // the paths that are known, best first
    size_t waiting;           // candidates, a heap with the best on top
    bool exhausted;           // there are no more than those found
};

struct search {
    struct tr_lattice *lattice;
    const struct tr_steps *steps;
    size_t m;
    const double *delta;          // [n][S]
    TR_ARRAY(struct node) nodes;  // the first is the end, after the last position
    TR_ARRAY(struct tr_way) ways; // of all nodes
    uint32_t *first_here;         // [n + 1] of the nodes of a position
    uint32_t *chain;              // [n + 1] of nodes that wait for the one before them
    struct tr_max_rows rows;      // scratch
};

/* ---- heaps of ways --------------------------------------------------------------------------- */

bool tr_way_better(const struct tr_way *a, const struct tr_way *b)
{
    if (a->score != b->score) {
        return a->score > b->score;
    }
    return a->from != b->from ? a->from < b->from : a->rank < b->rank;
}

/* Either the best or the worst is on top. */
static void sift_down(struct tr_way *heap, size_t count, size_t at, bool best_on_top)
{
    struct tr_way way = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && tr_way_better(&heap[child + 1], &heap[child]) == best_on_top) {
            child++;
        }
        if (tr_way_better(&heap[child], &way) != best_on_top) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = way;
}

static void make_heap(struct tr_way *heap, size_t count, bool best_on_top)
{
    for (size_t at = count / 2; at-- > 0;) {
        sift_down(heap, count, at, best_on_top);
    }
}

void tr_ways_offer(struct tr_way *kept, size_t *count, size_t max, struct tr_way way)
{
    if (*count < max) {
        kept[(*count)++] = way;
        if (*count == max) {
            make_heap(kept, max, false);
        }
    } else if (tr_way_better(&way, &kept[0])) {
        kept[0] = way;
        sift_down(kept, max, 0, false);
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

static void start_row(const struct search *search, double *out)
{
    const struct tr_graph *graph = search->lattice->graph;
    for (uint32_t z = 0; z < graph->states; z++) {
        out[z] = -INFINITY;
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        uint32_t z = search->steps->start_state[c];
        if (z != TR_NO_STATE) {
            out[z] = (double)search->steps->score.start[c] + tr_state_score(search->lattice, 0, z);
        }
    }
}

static void forward(struct search *search, double *delta)
{
    struct tr_lattice *lattice = search->lattice;
    size_t states = lattice->graph->states;
    start_row(search, delta);
    for (size_t i = 1; i < lattice->length; i++) {
        double *out = delta + i * states;
        for (size_t z = 0; z < states; z++) {
            out[z] = -INFINITY;
        }
        lattice->kind->max_row(lattice, search->steps, i, &search->rows, out - states, out);
    }
}

/* ---- one state ------------------------------------------------------------------------------- */

/* The score of a way to z at a position: its score so far, then step, node and edge. The end
 * follows the last position. */
static double extend(const struct search *search, size_t position, uint32_t z, uint32_t from,
                     double before, float step)
{
    const struct tr_lattice *lattice = search->lattice;
    const struct tr_graph *graph = lattice->graph;
    double score = before + (double)step;
    if (position < lattice->length) {
        const float *edges = tr_edges_at(lattice, position);
        score += tr_state_score(lattice, position, z);
        if (edges) {
            score += (double)edges[graph->label[from] * (size_t)graph->width + graph->label[z]];
        }
    }
    return score;
}

/* The score of the step from a state to a state, or to the end. */
static float step_score(const struct search *search, size_t position, uint32_t from, uint32_t z)
{
    if (position == search->lattice->length) {
        return search->steps->score.end[from];
    }
    uint32_t a = tr_graph_step(search->lattice->graph, from, z);
    return a == TR_NO_STEP ? search->steps->score.unlisted[z] : search->steps->score.step[a];
}

/* The transitions into a state that do not come from the start, or into the end: how many, where
 * they come from (*ret_from NULL: from 0, 1, 2, ...) and what they score. */
static size_t steps_into(const struct search *search, size_t position, uint32_t z,
                         const uint32_t **ret_from, const float **ret_score)
{
    if (position == search->lattice->length) {
        *ret_from = NULL;
        *ret_score = search->steps->score.end;
        return search->lattice->graph->states;
    }
    struct tr_arrivals arrivals = search->lattice->kind->arrivals(search->lattice, search->steps,
                                                                  z);
    *ret_from = arrivals.from;
    *ret_score = arrivals.score;
    return arrivals.count;
}

/* The candidates of a state: the m best of the best ways through each z'. */
static bool gather(struct search *search, size_t position, struct node *node)
{
    const double *before = search->delta + (position - 1) * search->lattice->graph->states;
    const uint32_t *from;
    const float *score;
    size_t count = steps_into(search, position, node->state, &from, &score);
    size_t max = count < search->m ? count : search->m;
    node->waiting_begin = search->ways.size;
    if (!tr_reserve(&search->ways, search->ways.size + max)) {
        return false;
    }
    struct tr_way *waiting = search->ways.at + node->waiting_begin;
    for (size_t k = 0; k < count; k++) {
        uint32_t z = from ? from[k] : (uint32_t)k;
        struct tr_way way = {extend(search, position, node->state, z, before[z], score[k]), z, 0};
        if (way.score > -INFINITY) {
            tr_ways_offer(waiting, &node->waiting, max, way);
        }
    }
    make_heap(waiting, node->waiting, true);
    search->ways.size += node->waiting;
    return true;
}

/* Room for one more path; a full node moves to the end of the array. */
static bool make_found_room(struct search *search, struct node *node)
{
    if (node->found < node->found_room) {
        return true;
    }
    size_t room = node->found_room ? 2 * node->found_room : 2, begin = search->ways.size;
    room = room < search->m ? room : search->m;
    if (!tr_reserve(&search->ways, begin + room)) {
        return false;
    }
    memcpy(search->ways.at + begin, search->ways.at + node->found_begin,
           node->found * sizeof *search->ways.at);
    search->ways.size += room;
    node->found_begin = begin;
    node->found_room = room;
    return true;
}

/* The best candidate becomes the next path. */
static bool take_best(struct search *search, struct node *node)
{
    node->exhausted = node->waiting == 0;
    if (node->exhausted) {
        return true;
    }
    if (!make_found_room(search, node)) {
        return false;
    }
    struct tr_way *waiting = search->ways.at + node->waiting_begin;
    search->ways.at[node->found_begin + node->found++] = waiting[0];
    waiting[0] = waiting[--node->waiting];
    if (node->waiting > 0) {
        sift_down(waiting, node->waiting, 0, true);
    }
    return true;
}

/* The node of a state at a position with at least its best path, created if needed; NO_NODE on
 * allocation failure. At the first position the one path comes from the start. */
static uint32_t node_at(struct search *search, size_t position, uint32_t state)
{
    for (uint32_t k = search->first_here[position]; k != NO_NODE;
         k = search->nodes.at[k].next_here) {
        if (search->nodes.at[k].state == state) {
            return k;
        }
    }
    uint32_t made = (uint32_t)search->nodes.size;
    struct node node = {.state = state, .next_here = search->first_here[position]};
    if (position == 0) {
        node.found = 1;
        node.exhausted = true;
    } else if (!gather(search, position, &node) || !take_best(search, &node)) {
        return NO_NODE;
    }
    if (made == NO_NODE || !tr_push(&search->nodes, node)) {
        return NO_NODE;
    }
    search->first_here[position] = made;
    return made;
}

/* ---- the next path --------------------------------------------------------------------------- */

static const struct tr_way *last_found(const struct search *search, const struct node *node)
{
    return &search->ways.at[node->found_begin + node->found - 1];
}

/* Down: the states whose next path is needed, from the end to the first position where it is known.
 * The next path to chain[i] needs the one to chain[i + 1]. Returns how many, 0 on allocation
 * failure. */
static size_t follow_chain(struct search *search)
{
    size_t count = 0, position = search->lattice->length;
    uint32_t at = 0;
    for (;;) {
        search->chain[count++] = at;
        struct tr_way last = *last_found(search, &search->nodes.at[at]);
        at = node_at(search, --position, last.from);
        if (at == NO_NODE) {
            return 0;
        }
        const struct node *before = &search->nodes.at[at];
        if (before->exhausted || before->found > last.rank + (size_t)1) {
            return count;
        }
    }
}

/* Up: the successor of the path taken last becomes a candidate, and the best candidate the next
 * path. */
static bool find_next(struct search *search, size_t position, uint32_t at)
{
    struct tr_way last = *last_found(search, &search->nodes.at[at]);
    const struct node *before = &search->nodes.at[node_at(search, position - 1, last.from)];
    struct node *node = &search->nodes.at[at];
    if (before->found > last.rank + (size_t)1) {
        struct tr_way *waiting = search->ways.at + node->waiting_begin;
        double score = search->ways.at[before->found_begin + last.rank + 1].score;
        float step = step_score(search, position, last.from, node->state);
        struct tr_way way = {extend(search, position, node->state, last.from, score, step),
                             last.from, last.rank + 1};
        size_t k = node->waiting++;
        for (; k > 0 && tr_way_better(&way, &waiting[(k - 1) / 2]); k = (k - 1) / 2) {
            waiting[k] = waiting[(k - 1) / 2];
        }
        waiting[k] = way;
    }
    return take_best(search, node);
}

/* One more path to the end; the end is exhausted where there is none. False on allocation
 * failure. */
static bool next_path(struct search *search)
{
    size_t count = follow_chain(search);
    bool ok = count > 0;
    while (ok && count-- > 0) {
        ok = find_next(search, search->lattice->length - count, search->chain[count]);
    }
    return ok;
}

/* The labels of the path found last, from the end to the start. */
static bool write_labels(struct search *search, uint16_t *labels)
{
    struct tr_way way = *last_found(search, &search->nodes.at[0]);
    for (size_t i = search->lattice->length; i-- > 0;) {
        labels[i] = search->lattice->graph->label[way.from];
        uint32_t at = node_at(search, i, way.from);
        if (at == NO_NODE) {
            return false;
        }
        way = i > 0 ? search->ways.at[search->nodes.at[at].found_begin + way.rank] : way;
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool make_search(struct search *search)
{
    struct tr_lattice *lattice = search->lattice;
    struct tr_max_rows *rows = &search->rows;
    size_t n = lattice->length, width = lattice->graph->width;
    search->first_here = tr_alloc(n + 1, sizeof *search->first_here);
    search->chain = tr_alloc(n + 1, sizeof *search->chain);
    rows->best = tr_alloc(width, sizeof *rows->best);
    rows->left = tr_alloc(width, sizeof *rows->left);
    rows->max_out = tr_alloc(width, sizeof *rows->max_out);
    if (!search->first_here || !search->chain || !rows->best || !rows->left || !rows->max_out ||
        !tr_doubles_room(&lattice->log_space.alpha, n, lattice->graph->states)) {
        return false;
    }
    for (size_t i = 0; i <= n; i++) {
        search->first_here[i] = NO_NODE;
    }
    search->delta = lattice->log_space.alpha.at;
    return true;
}

static void free_search(struct search *search)
{
    free(search->nodes.at);
    free(search->ways.at);
    free(search->first_here);
    free(search->chain);
    free(search->rows.best);
    free(search->rows.left);
    free(search->rows.max_out);
}

static trellis_status enumerate(struct search *search, uint16_t *labels, double *scores,
                                size_t *ret_count, trellis_error *error)
{
    size_t n = search->lattice->length;
    if (node_at(search, n, TR_NO_STATE) == NO_NODE) {
        return tr_fail_memory(error);
    }
    const struct node *end = &search->nodes.at[0];
    if (end->exhausted || !isfinite(last_found(search, end)->score)) {
        return tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
    }
    for (size_t k = 0; k < search->m && !search->nodes.at[0].exhausted; k++) {
        scores[k] = last_found(search, &search->nodes.at[0])->score;
        if (!write_labels(search, labels + k * n) || (k + 1 < search->m && !next_path(search))) {
            *ret_count = 0;
            return tr_fail_memory(error);
        }
        *ret_count = k + 1;
    }
    return TRELLIS_OK;
}

trellis_status tr_listed_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                               uint16_t *labels, double *scores, size_t *ret_count,
                               trellis_error *error)
{
    struct search search = {.lattice = lattice, .steps = steps, .m = m};
    trellis_status status = TRELLIS_OK;
    if (make_search(&search)) {
        forward(&search, lattice->log_space.alpha.at);
        status = enumerate(&search, labels, scores, ret_count, error);
    } else {
        status = tr_fail_memory(error);
    }
    free_search(&search);
    return status;
}

trellis_status tr_lattice_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                                uint16_t *labels, double *scores, size_t *ret_count,
                                trellis_error *error)
{
    lattice->computed = TR_NOTHING;
    *ret_count = 0;
    if (m > 0 && lattice->length == 0) {
        scores[0] = 0;
        *ret_count = 1;
    }
    if (m == 0 || lattice->length == 0) {
        return TRELLIS_OK;
    }
    m = m < UINT32_MAX ? m : UINT32_MAX; // ranks are 32 bits
    return lattice->kind->nbest(lattice, steps, m, labels, scores, ret_count, error);
}
