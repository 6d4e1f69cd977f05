/* segment.h - the trellis of a semi-Markov model (Sarawagi and Cohen 2004); for the files
 * segment*.c.
 *
 * A labelling is cut into segments (graph/segments.h). Its score is that of a first-order path, plus
 * a score for each segment of at most max_length tokens, which sees the segment as a whole:
 *
 *     score = first-order score + sum over segments (s .. i, type t) of segment[i][i - s + 1][t]
 *
 * Segments longer than the maximum length of their type are possible as well, with no score of
 * their own, so that no gold segment is lost, and all segmentations are counted once.
 *
 * All sums and maxima run over a graph with three kinds of cells at each position i:
 *
 *     begin(i, c)    a segment begins at i with the label c                   [labels]
 *     end(i, c)      a segment ends at i with the label c                     [labels]
 *     long(i, t)     a segment of type t has more than max_length tokens up to i, all but the first
 *                    of them labelled inside, and goes on                     [types]
 *
 *     begin(i, c) <- end(i - 1, c')                transition c' -> c                  Y^2
 *     end(i, c)   <- begin(i - d + 1, first)       d tokens, d <= max_length + 1       L Y
 *                 <- long(i - 1, t)
 *     long(i, t)  <- begin(i - max_length, first), long(i - 1, t)                      Y
 *
 * so that a sequence costs O(n L Y + n Y^2).
 */
#ifndef TRELLIS_LATTICE_SEGMENT_H
#define TRELLIS_LATTICE_SEGMENT_H

#include "lattice/lattice_internal.h"

#define TR_FROM_START SIZE_MAX

/* A move between cells. */
struct tr_segment_arc {
    size_t from;     // a cell, or TR_FROM_START
    double score;    // with the node scores of the tokens it covers
    uint32_t length; // tokens from the beginning of the segment; 0: none is begun
};

/* Steps within a segment, by the labels of their tokens. */
enum { TR_FIRST_LAST, TR_FIRST_INSIDE, TR_INSIDE_INSIDE, TR_INSIDE_LAST, TR_WITHIN_SEGMENTS };

struct tr_segment_lattice {
    struct tr_floats score;    // [n][L][width] of segments, where there are any
    struct tr_floats marginal; // [n][L][width]
    struct tr_floats part;     // [2][n][width] scratch of who fills in scores
    bool has_scores;

    /* What both kernels leave behind, beside the marginals. */
    double *pair;            // [labels][width] expected counts of transitions
    double *end;             // [labels] P(last label)
    size_t lanes;            // types, padded to a multiple of 4
    struct tr_doubles inner; // [n + 1][lanes] differences of P(inside at i)

    /* In double precision and log space, by cell. */
    struct tr_doubles alpha, beta;
    struct tr_segment_arc *arcs; // [max_arcs] scratch: those that lead to a cell
    double *log_p;               // [max_arcs] scratch

    /* In single precision with scaling (segment_sums.c). */
    bool is_fast;                         // the kernel that was used last
    struct tr_floats factor;              // [n][width] of nodes
    struct tr_floats begin;               // [n][width] forward sums of begin()
    struct tr_floats onwards, back;       // [n][lanes] forward and backward sums of long()
    struct tr_floats opened, passed;      // [n][lanes] of first tokens, and of tokens inside
    struct tr_floats to_first;            // [n][lanes] backward sums of first tokens
    struct tr_floats whole;               // [n][L + 1][lanes] of segments
    float *in_progress;                   // [lanes] forward sums of segments that have begun
    float *direct, *enter, *stay, *leave; // [lanes] factors of steps within a segment
    double *within[TR_WITHIN_SEGMENTS];   // [lanes] expected counts of these
    /* By length and type [L + 1][lanes], each 1 or 0: segments that have a score, those of one token
     * more, and both. */
    float *seen, *longer, *counted;
    float *begins, *alone; // [width] 1 for labels that begin a segment, and that have no type
};

/* ---- cells ----------------------------------------------------------------------------------- */

static inline size_t tr_segment_cells(const struct tr_graph *graph)
{
    return 2 * (size_t)graph->labels + graph->segments->types;
}
static inline size_t tr_cell_begin(const struct tr_graph *graph, size_t i, size_t c)
{
    return i * tr_segment_cells(graph) + c;
}
static inline size_t tr_cell_end(const struct tr_graph *graph, size_t i, size_t c)
{
    return i * tr_segment_cells(graph) + graph->labels + c;
}
static inline size_t tr_cell_long(const struct tr_graph *graph, size_t i, size_t t)
{
    return i * tr_segment_cells(graph) + 2 * (size_t)graph->labels + t;
}

/* The arcs into the cell `k` of position i, in lattice->of.segment->arcs; returns how many. */
size_t tr_segment_arcs(const struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                       size_t k);

/* The score of a segment of d tokens that ends at i, 0 where it has none. */
static inline double tr_segment_score(const struct tr_lattice *lattice, size_t i, size_t d,
                                      const struct tr_segment_type *type)
{
    const struct tr_segment_lattice *segment = lattice->of.segment;
    size_t rows = lattice->graph->segments->max_length;
    return segment->has_scores && d <= type->max_length
               ? (double)segment->score.at[(i * rows + d - 1) * lattice->graph->width + type->head]
               : 0;
}

/* ---- the kernels ----------------------------------------------------------------------------- */

/* Room for what both leave behind, all 0. */
bool tr_segment_clear_results(struct tr_lattice *lattice);
/* Adds p to the marginals and counts of a segment of type t and d tokens that ends at i; or, where
 * it goes on as long(i, t), of its first d tokens. */
void tr_segment_count(struct tr_lattice *lattice, size_t i, size_t d, size_t t, bool goes_on,
                      float p);
/* Adds P(inside), which is kept as differences, to the node marginals. */
void tr_segment_add_inner(struct tr_lattice *lattice);

/* Room for the fast kernel; false on allocation failure. */
bool tr_segment_make_room(struct tr_lattice *lattice);
/* False where single precision is not enough. */
bool tr_segment_fast_sums(struct tr_lattice *lattice, const struct tr_steps *steps);
/* log Z and marginals; of label pairs [n][labels][width] too where `edges` is not NULL. */
trellis_status tr_segment_reference_sums(struct tr_lattice *lattice, const struct tr_steps *steps,
                                         float *edges, trellis_error *error);

trellis_status tr_segment_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint16_t *labels, trellis_error *error);
trellis_status tr_segment_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                                uint16_t *labels, double *scores, size_t *ret_count,
                                trellis_error *error);
trellis_status tr_segment_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 struct tr_random *random, size_t count, uint16_t *labels,
                                 trellis_error *error);
trellis_status tr_segment_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  double *ret_entropy, trellis_error *error);
/* The forward sums alone, and log Z; TRELLIS_DATA where there is no path or a score is NaN. */
trellis_status tr_segment_forward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  trellis_error *error);

/* Writes the labels of the tokens that an arc into cell k of position i covers; returns the position
 * of the cell it comes from. */
size_t tr_segment_write(const struct tr_graph *graph, size_t i, size_t k,
                        const struct tr_segment_arc *arc, uint16_t *labels);

#endif
