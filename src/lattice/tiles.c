/* tiles.c - sums over the steps of a first-order graph where those that are not listed are free.
 *
 * M(a,b) = 1 for a step that is not listed. The labels b are taken in blocks of eight; a tile holds
 * the eight factors M(a,b) of one a and one block in which at least one step is listed. With T the
 * tiles of the block of b,
 *
 *   sum_a row(a) M(a,b) = sum over a in T of row(a) M(a,b) + (sum_a row(a) - sum over a in T of
 *   row(a))
 *
 * where the first sum is a few products of whole vectors, and the second part is the same for all
 * eight labels. The difference cancels where nearly all of the row lies in T: it is taken in double
 * precision, and where it is negligible beside the sum of the row (steps that are forbidden, or
 * nearly so), the block is summed again term by term.
 *
 * Of 461 labels with 7,763 listed steps there are 3,177 tiles, where all steps would make 26,738.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define CANCELLED 1e-7 // a difference this small beside its parts is recomputed

/* ---- making ---------------------------------------------------------------------------------- */

/* The labels at both ends of a listed step: the one that is summed into, and the other. */
static void ends_of(const struct tr_graph *graph, uint32_t a, bool transposed, uint32_t *ret_into,
                    uint32_t *ret_other)
{
    *ret_into = transposed ? graph->from[a] : graph->to[a];
    *ret_other = transposed ? graph->to[a] : graph->from[a];
}

/* Numbers the tiles of a block by `other`: tile_of[other] becomes the number of its tile. Returns
 * the next number. */
static uint32_t number_tiles(uint32_t *tile_of, uint32_t labels, uint32_t next, uint32_t *other)
{
    for (uint32_t a = 0; a < labels; a++) {
        if (tile_of[a] != TR_NO_STATE) {
            if (other) {
                other[next] = a;
            }
            tile_of[a] = next++;
        }
    }
    return next;
}

/* The listed steps, except those from the start, by the block they are summed into: those of block
 * k are step[first[k]] .. step[first[k+1]-1]. */
struct block_list {
    const struct tr_graph *graph;
    bool transposed;
    uint32_t *step;    // [step_count]
    uint32_t *first;   // [blocks + 1]
    uint32_t *tile_of; // [labels] scratch: the tile of a label in the current block
};

/* Numbers the tiles of a block and, unless `tiles->other` is NULL, records them. */
static void mark_block(struct tr_tiles *tiles, const struct block_list *list, uint32_t block)
{
    const struct tr_graph *graph = list->graph;
    const uint32_t *step = list->step + list->first[block];
    size_t count = list->first[block + 1] - list->first[block];
    uint32_t into, other, *tile_of = list->tile_of;
    for (uint32_t c = 0; c < graph->labels; c++) {
        tile_of[c] = TR_NO_STATE;
    }
    for (size_t i = 0; i < count; i++) {
        ends_of(graph, step[i], list->transposed, &into, &other);
        tile_of[other] = 0;
    }
    tiles->begin[block + 1] = number_tiles(tile_of, graph->labels, tiles->begin[block],
                                           tiles->other);
    for (size_t i = 0; tiles->other && i < count; i++) {
        ends_of(graph, step[i], list->transposed, &into, &other);
        tiles->place[step[i]] = tile_of[other] * TR_LANES + into % TR_LANES;
    }
}

/* A counting sort into list->step and list->first. */
static void sort_by_block(const struct block_list *list)
{
    const struct tr_graph *graph = list->graph;
    uint32_t blocks = graph->width / TR_LANES, into, other, *first = list->first;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        ends_of(graph, a, list->transposed, &into, &other);
        if (graph->from[a] != TR_NO_STATE) {
            first[into / TR_LANES + 1]++;
        }
    }
    for (uint32_t k = 0; k < blocks; k++) {
        first[k + 1] += first[k];
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        ends_of(graph, a, list->transposed, &into, &other);
        if (graph->from[a] != TR_NO_STATE) {
            list->step[first[into / TR_LANES]++] = a;
        }
    }
    for (uint32_t k = blocks; k > 0; k--) {
        first[k] = first[k - 1];
    }
    first[0] = 0;
}

/* The first pass counts the tiles, the second fills them in. All factors are 1 until they are
 * set. */
static bool fill_tiles(struct tr_tiles *tiles, const struct block_list *list)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < tiles->blocks; k++) {
            mark_block(tiles, list, k);
        }
        size_t count = tiles->begin[tiles->blocks];
        if (pass == 0) {
            tiles->other = tr_alloc(count, sizeof *tiles->other);
            tiles->factor = tr_alloc_aligned(count * TR_LANES, sizeof *tiles->factor);
            if (!tiles->other || !tiles->factor) {
                return false;
            }
            for (size_t j = 0; j < count * TR_LANES; j++) {
                tiles->factor[j] = 1;
            }
        }
    }
    return true;
}

bool tr_tiles_make(struct tr_tiles *tiles, const struct tr_graph *graph, bool transposed)
{
    tiles->blocks = graph->width / TR_LANES;
    tiles->begin = tr_alloc((size_t)tiles->blocks + 1, sizeof *tiles->begin);
    tiles->place = tr_alloc(graph->step_count, sizeof *tiles->place);
    struct block_list list = {
        .graph = graph,
        .transposed = transposed,
        .step = tr_alloc(graph->step_count, sizeof *list.step),
        .first = tr_alloc((size_t)tiles->blocks + 1, sizeof *list.first),
        .tile_of = tr_alloc(graph->labels, sizeof *list.tile_of),
    };
    bool made = tiles->begin && tiles->place && list.step && list.first && list.tile_of;
    if (made) {
        sort_by_block(&list);
        made = fill_tiles(tiles, &list);
    }
    free(list.step);
    free(list.first);
    free(list.tile_of);
    return made;
}

void tr_tiles_free(struct tr_tiles *tiles)
{
    free(tiles->begin);
    free(tiles->other);
    free(tiles->factor);
    free(tiles->place);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Sums a block with cancellation again, from positive terms only. */
static void sum_block(const struct tr_tiles *tiles, uint32_t block, const double *row,
                      uint32_t labels, float *out)
{
    double sum[TR_LANES] = {0}, unlisted = 0;
    uint32_t k = tiles->begin[block];
    for (uint32_t a = 0; a < labels; a++) {
        if (k < tiles->begin[block + 1] && tiles->other[k] == a) {
            for (uint32_t j = 0; j < TR_LANES; j++) {
                sum[j] += row[a] * (double)tiles->factor[(size_t)k * TR_LANES + j];
            }
            k++;
        } else {
            unlisted += row[a];
        }
    }
    for (uint32_t j = 0; j < TR_LANES; j++) {
        out[block * TR_LANES + j] = (float)(sum[j] + unlisted);
    }
}

void tr_tiles_sum(const struct tr_lattice *lattice, const struct tr_tiles *tiles, const float *row,
                  float *out)
{
    const struct tr_graph *graph = lattice->graph;
    double all = lattice->kernels->widen(lattice->scratch.double_row, row, graph->width);
    float least = (float)(CANCELLED * all);
    if (lattice->kernels->tiled_sums(out, lattice->scratch.double_row, row, all, tiles->begin,
                                     tiles->other, tiles->factor, tiles->blocks) < least) {
        for (uint32_t block = 0; block < tiles->blocks; block++) {
            uint32_t j = block * TR_LANES, end = j + TR_LANES;
            while (j < end && !(out[j] < least)) {
                j++;
            }
            if (j < end) {
                sum_block(tiles, block, lattice->scratch.double_row, graph->labels, out);
            }
        }
    }
    memset(out + graph->labels, 0, (graph->width - graph->labels) * sizeof *out);
}
