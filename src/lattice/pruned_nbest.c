/* pruned_nbest.c - the m best paths among the survivors of a pruned search.
 *
 * Cells are few, so each keeps its own m best ways: a way extends the r-th best way to a cell
 * before it by an arc. Of the ways to all cells of the last position the m best are followed back.
 */
#include "lattice/pruned.h"

#include <string.h>

/* The ways to each cell, and last those to the end. */
struct ways {
    TR_ARRAY(struct tr_way) all; // `from` is a cell
    size_t *begin;               // [cells + 1] best first
    size_t *count;               // [cells + 1]
    size_t max;                  // m
};

static int by_score(const void *a, const void *b)
{
    return tr_way_better(a, b) ? -1 : tr_way_better(b, a);
}

static size_t ways_before(const struct ways *ways, const struct tr_arc *arc)
{
    return arc->from == TR_NO_CELL ? 1 : ways->count[arc->from];
}

static void offer_ways(struct ways *ways, uint32_t from, double score, size_t to, size_t room)
{
    size_t count = from == TR_NO_CELL ? 1 : ways->count[from];
    for (uint32_t rank = 0; rank < count; rank++) {
        double before = from == TR_NO_CELL ? 0 : ways->all.at[ways->begin[from] + rank].score;
        tr_ways_offer(ways->all.at + ways->begin[to], &ways->count[to], room,
                      (struct tr_way){before + score, from, rank});
    }
}

/* Room for all ways to a cell, at most m; false on allocation failure. */
static bool make_room(struct ways *ways, size_t to, size_t available)
{
    size_t room = available < ways->max ? available : ways->max;
    ways->begin[to] = ways->all.size;
    ways->count[to] = 0;
    if (!tr_reserve(&ways->all, ways->all.size + room)) {
        return false;
    }
    ways->all.size += room;
    return true;
}

static void sort_ways(struct ways *ways, size_t to)
{
    qsort(ways->all.at + ways->begin[to], ways->count[to], sizeof *ways->all.at, by_score);
}

/* The ways to the cells of a position. */
static bool advance(const struct tr_pruning *p, struct ways *ways, size_t i)
{
    size_t begin = p->cell_begin.at[i], end = p->cell_begin.at[i + 1];
    bool ok = true;
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        size_t *available = &ways->count[p->arcs.at[a].to]; // until the ways are found
        size_t more = ways_before(ways, &p->arcs.at[a]);
        *available = *available + more < ways->max ? *available + more : ways->max;
    }
    for (size_t k = begin; ok && k < end; k++) {
        ok = make_room(ways, k, ways->count[k]);
    }
    for (size_t a = p->arc_begin.at[i]; ok && a < p->arc_begin.at[i + 1]; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        size_t next = arc->to + 1u < end ? ways->begin[arc->to + 1] : ways->all.size;
        offer_ways(ways, arc->from, arc->score, arc->to, next - ways->begin[arc->to]);
    }
    for (size_t k = begin; ok && k < end; k++) {
        sort_ways(ways, k);
    }
    return ok;
}

/* The best ways to the end, stored as those of one more cell. */
static bool finish(const struct tr_pruning *p, struct ways *ways, size_t n)
{
    size_t end = p->cells.size, available = 0;
    for (size_t k = p->cell_begin.at[n - 1]; k < end; k++) {
        available += ways->count[k];
    }
    if (!make_room(ways, end, available)) {
        return false;
    }
    for (size_t k = p->cell_begin.at[n - 1]; k < end; k++) {
        offer_ways(ways, (uint32_t)k, 0, end, ways->all.size - ways->begin[end]);
    }
    sort_ways(ways, end);
    return true;
}

static void trace(const struct tr_lattice *lattice, const struct ways *ways, struct tr_way way,
                  uint16_t *labels)
{
    const struct tr_pruning *p = lattice->of.pruning;
    for (size_t i = lattice->length; i-- > 0;) {
        labels[i] = lattice->graph->label[p->cells.at[way.from].state];
        way = ways->all.at[ways->begin[way.from] + way.rank];
    }
}

trellis_status tr_pruned_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                               uint16_t *labels, double *scores, size_t *ret_count,
                               trellis_error *error)
{
    const struct tr_pruning *p = lattice->of.pruning;
    size_t n = lattice->length;
    trellis_status status = tr_pruned_search(lattice, steps, error);
    if (status) {
        return status;
    }
    struct ways ways = {.max = m,
                        .begin = tr_alloc(p->cells.size + 1, sizeof *ways.begin),
                        .count = tr_alloc(p->cells.size + 1, sizeof *ways.count)};
    bool ok = ways.begin && ways.count;
    for (size_t i = 0; ok && i < n; i++) {
        ok = advance(p, &ways, i);
    }
    ok = ok && finish(p, &ways, n);
    *ret_count = ok ? ways.count[p->cells.size] : 0;
    for (size_t k = 0; k < *ret_count; k++) {
        struct tr_way way = ways.all.at[ways.begin[p->cells.size] + k];
        trace(lattice, &ways, way, labels + k * n);
        scores[k] = way.score;
    }
    free(ways.all.at);
    free(ways.begin);
    free(ways.count);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}
