/* lattice.c - the workspace of a sequence: its scores, and what does not depend on the kind of graph.
 *
 * The node scores hold everything that is known about a label at a position, restrictions included:
 * a label that may not stand there scores minus infinity.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- memory -------------------------------------------------------------------------------------- */

/* Room for count * each elements of `size` bytes, in place of what was there. */
static bool make_room(void **at, size_t *capacity, size_t count, size_t each, size_t size)
{
    size_t need, larger = *capacity + *capacity / 2;
    if (__builtin_mul_overflow(count, each, &need)) {
        return false;
    }
    if (need <= *capacity && *at) {
        return true;
    }
    free(*at);
    *capacity = 0;
    larger = larger > need ? larger : need;
    *at = tr_alloc_aligned(larger, size);
    if (!*at && larger > need) {
        *at = tr_alloc_aligned(larger = need, size);
    }
    *capacity = *at ? larger : 0;
    return *at;
}

bool tr_floats_room(struct tr_floats *floats, size_t count, size_t each)
{
    void *at = floats->at;
    bool made = make_room(&at, &floats->capacity, count, each, sizeof *floats->at);
    floats->at = at;
    return made;
}

bool tr_doubles_room(struct tr_doubles *doubles, size_t count, size_t each)
{
    void *at = doubles->at;
    bool made = make_room(&at, &doubles->capacity, count, each, sizeof *doubles->at);
    doubles->at = at;
    return made;
}

bool tr_indices_room(struct tr_indices *indices, size_t count, size_t each)
{
    void *at = indices->at;
    bool made = make_room(&at, &indices->capacity, count, each, sizeof *indices->at);
    indices->at = at;
    return made;
}

float *tr_lattice_matrix(struct tr_lattice *lattice)
{
    if (!lattice->matrix) {
        lattice->matrix = tr_alloc_aligned((size_t)lattice->graph->labels * lattice->graph->width,
                                           sizeof *lattice->matrix);
    }
    return lattice->matrix;
}

trellis_status tr_lattice_create(const struct tr_graph *graph, struct tr_lattice **ret_lattice,
                                 trellis_error *error)
{
    *ret_lattice = NULL;
    struct tr_lattice *lattice = tr_alloc(1, sizeof *lattice);
    if (!lattice) {
        return tr_fail_memory(error);
    }
    lattice->graph = graph;
    lattice->kernels = tr_kernels();
    lattice->stride = tr_padded(graph->states);
    lattice->row = tr_alloc_aligned(lattice->stride, sizeof *lattice->row);
    lattice->second_row = tr_alloc_aligned(lattice->stride, sizeof *lattice->second_row);
    lattice->double_row = tr_alloc_aligned(lattice->stride, sizeof *lattice->double_row);
    lattice->identity = tr_alloc(graph->labels, sizeof *lattice->identity);
    lattice->live = tr_alloc((size_t)graph->labels + 1, sizeof *lattice->live);
    lattice->listed = tr_alloc(graph->width, sizeof *lattice->listed);
    lattice->open = tr_alloc(((size_t)graph->labels + 63) / 64, sizeof *lattice->open);
    if (!lattice->row || !lattice->second_row || !lattice->double_row || !lattice->identity ||
        !lattice->open || !lattice->live || !lattice->listed ||
        !tr_floats_room(&lattice->node, 1, graph->width) ||
        (graph->pruned && !tr_pruning_create(lattice))) {
        tr_lattice_destroy(lattice);
        return tr_fail_memory(error);
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        lattice->identity[c] = c;
    }
    *ret_lattice = lattice;
    return TRELLIS_OK;
}

void tr_lattice_destroy(struct tr_lattice *lattice)
{
    if (!lattice) {
        return;
    }
    free(lattice->node.at);
    free(lattice->residual.at);
    free(lattice->edge.at);
    free(lattice->leave.at);
    free(lattice->alpha.at);
    free(lattice->to.at);
    free(lattice->marginal.at);
    free(lattice->inverse.at);
    free(lattice->pair.at);
    free(lattice->edge_marginal.at);
    free(lattice->turned.at);
    free(lattice->log_alpha.at);
    free(lattice->log_beta.at);
    free(lattice->history.at);
    free(lattice->outer);
    free(lattice->step_count);
    free(lattice->start_count);
    free(lattice->end_count);
    free(lattice->free_count);
    free(lattice->row);
    free(lattice->second_row);
    free(lattice->matrix);
    free(lattice->double_row);
    free(lattice->identity);
    free(lattice->live);
    free(lattice->open);
    free(lattice->listed);
    tr_pruning_destroy(lattice->pruning);
    free(lattice);
}

void tr_lattice_use_reference(struct tr_lattice *lattice, bool reference)
{
    lattice->reference = reference;
    lattice->computed = TR_NOTHING;
}

/* ---- scores -------------------------------------------------------------------------------------- */

trellis_status tr_lattice_begin(struct tr_lattice *lattice, size_t length, trellis_error *error)
{
    lattice->computed = TR_NOTHING;
    lattice->has_edges = lattice->has_leaves = lattice->has_residuals = false;
    lattice->length = 0;
    if (lattice->pruning) {
        tr_pruning_begin(lattice->pruning);
    }
    if (!tr_floats_room(&lattice->node, length, lattice->graph->width)) {
        return tr_fail_memory(error);
    }
    lattice->length = length;
    memset(lattice->node.at, 0, length * lattice->graph->width * sizeof(float));
    return TRELLIS_OK;
}

float *tr_lattice_nodes(struct tr_lattice *lattice)
{
    return lattice->node.at;
}

/* Room for a row of `each` zeros at every position; false on allocation failure. */
static bool make_zeros(struct tr_lattice *lattice, struct tr_floats *floats, size_t each)
{
    bool made = tr_floats_room(floats, lattice->length, each);
    if (made) {
        memset(floats->at, 0, lattice->length * each * sizeof *floats->at);
    }
    return made;
}

bool tr_lattice_make_residuals(struct tr_lattice *lattice)
{
    lattice->has_residuals = make_zeros(lattice, &lattice->residual, lattice->graph->width);
    return lattice->has_residuals;
}

float *tr_lattice_residuals(struct tr_lattice *lattice)
{
    return lattice->has_residuals ? lattice->residual.at : NULL;
}

bool tr_lattice_make_edges(struct tr_lattice *lattice)
{
    lattice->has_edges = make_zeros(lattice, &lattice->edge,
                                    (size_t)lattice->graph->labels * lattice->graph->width);
    return lattice->has_edges;
}

float *tr_lattice_edges(struct tr_lattice *lattice)
{
    return lattice->has_edges ? lattice->edge.at : NULL;
}

const float *tr_lattice_edges_of(const struct tr_lattice *lattice, size_t position)
{
    return tr_edges_at(lattice, position);
}

trellis_status tr_lattice_restrict(struct tr_lattice *lattice, size_t position,
                                   const uint16_t *labels, size_t count, trellis_error *error)
{
    uint32_t width = lattice->graph->width;
    if (position >= lattice->length) {
        return tr_fail(error, TRELLIS_DATA, "position %zu is beyond the end of the sequence",
                       position + 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (labels[i] >= lattice->graph->labels) {
            return tr_fail(error, TRELLIS_DATA, "there is no label number %u", labels[i]);
        }
    }
    float *node = lattice->node.at + position * width, *kept = lattice->row;
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        kept[c] = -INFINITY;
    }
    for (size_t i = 0; i < count; i++) {
        kept[labels[i]] = node[labels[i]];
    }
    memcpy(node, kept, lattice->graph->labels * sizeof *node);
    return TRELLIS_OK;
}

void tr_lattice_seal(struct tr_lattice *lattice)
{
    size_t labels = lattice->graph->labels, width = lattice->graph->width;
    for (size_t i = 0; labels < width && i < lattice->length; i++) {
        for (size_t j = labels; j < width; j++) {
            lattice->node.at[i * width + j] = -INFINITY;
        }
    }
}

const float *tr_lattice_scores_at(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  size_t position)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    const float *edges = tr_edges_at(lattice, position);
    if (steps->matrix && !edges) {
        return steps->matrix;
    }
    float *matrix = tr_lattice_matrix(lattice);
    if (!matrix) {
        return NULL;
    }
    for (size_t from = 0; from < graph->labels; from++) {
        memcpy(matrix + from * width, steps->matrix ? steps->matrix + from * width : steps->free,
               width * sizeof *matrix);
    }
    for (uint32_t a = 0; !steps->matrix && a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            matrix[graph->from[a] * width + graph->to[a]] = steps->score[a];
        }
    }
    for (size_t from = 0; edges && from < graph->labels; from++) {
        for (size_t to = 0; to < graph->labels; to++) {
            matrix[from * width + to] += edges[from * width + to];
        }
    }
    return matrix;
}

const float *tr_lattice_column_at(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  size_t position, uint32_t to)
{
    const struct tr_graph *graph = lattice->graph;
    const float *edges = tr_edges_at(lattice, position);
    if (steps->matrix && !edges) {
        return steps->matrix_by_to + (size_t)to * graph->width;
    }
    float *column = lattice->row;
    if (steps->matrix) {
        memcpy(column, steps->matrix_by_to + (size_t)to * graph->width,
               graph->width * sizeof *column);
    } else {
        float unlisted = steps->free[to];
        for (uint32_t from = 0; from < graph->labels; from++) {
            column[from] = unlisted;
        }
        for (uint32_t a = graph->in_begin[to]; a < tr_steps_in_end(graph, to); a++) {
            column[graph->from[a]] = steps->score[a];
        }
    }
    for (size_t from = 0; edges && from < graph->labels; from++) {
        column[from] += edges[from * graph->width + to];
    }
    return column;
}

/* ---- the score of a path ------------------------------------------------------------------------- */

/* start(z_1) + sum_i node[i][label(z_i)] + step(z_{i-1}, z_i) + edge[i][..][..] + end(z_n), and what leaving
 * states scores */
double tr_lattice_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                             const uint16_t *labels)
{
    const struct tr_graph *graph = lattice->graph;
    uint32_t state = TR_NO_STATE;
    double score = 0;
    if (graph->pruned) {
        return tr_pruned_path_score(lattice, steps, labels);
    }
    for (size_t i = 0; i < lattice->length; i++) {
        uint32_t next = tr_graph_next(graph, state, labels[i]);
        if (next == TR_NO_STATE) {
            return -INFINITY;
        }
        uint32_t a = tr_graph_step(graph, state, next);
        score += a == TR_NO_STEP ? tr_exact(steps->free, steps->residual_free, next)
                                 : tr_exact(steps->score, steps->residual_score, a);
        score += tr_state_score(lattice, i, next);
        if (i > 0 && lattice->has_edges) {
            score += (double)tr_edges_at(lattice, i)[labels[i - 1] * graph->width + labels[i]];
        }
        state = next;
    }
    return state == TR_NO_STATE ? 0 : score + tr_exact(steps->end, steps->residual_end, state);
}
