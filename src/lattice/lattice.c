/* lattice.c - the workspace of a sequence: its scores, and all that is independent of the kind of
 * graph.
 *
 * Node scores hold the restrictions too: a label that is not allowed at a position scores minus
 * infinity.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Aligned room for count * each elements of `size` bytes; the old contents are lost. NULL on
 * allocation failure. Grows by half, or by just what is needed where memory is short. */
static void *grow(void *at, size_t *capacity, size_t count, size_t each, size_t size)
{
    size_t need, larger = *capacity + *capacity / 2;
    bool overflows = __builtin_mul_overflow(count, each, &need);
    if (!overflows && need <= *capacity && at) {
        return at;
    }
    free(at);
    *capacity = 0;
    if (overflows) {
        return NULL;
    }
    larger = larger > need ? larger : need;
    at = tr_alloc_aligned(larger, size);
    if (!at && larger > need) {
        at = tr_alloc_aligned(larger = need, size);
    }
    *capacity = at ? larger : 0;
    return at;
}

bool tr_floats_room(struct tr_floats *floats, size_t count, size_t each)
{
    floats->at = grow(floats->at, &floats->capacity, count, each, sizeof *floats->at);
    return floats->at;
}

bool tr_doubles_room(struct tr_doubles *doubles, size_t count, size_t each)
{
    doubles->at = grow(doubles->at, &doubles->capacity, count, each, sizeof *doubles->at);
    return doubles->at;
}

bool tr_indices_room(struct tr_indices *indices, size_t count, size_t each)
{
    indices->at = grow(indices->at, &indices->capacity, count, each, sizeof *indices->at);
    return indices->at;
}

float *tr_lattice_matrix(struct tr_lattice *lattice)
{
    if (!lattice->scratch.matrix) {
        lattice->scratch.matrix = tr_alloc_aligned((size_t)lattice->graph->labels *
                                                       lattice->graph->width,
                                                   sizeof *lattice->scratch.matrix);
    }
    return lattice->scratch.matrix;
}

const struct tr_lattice_kind *tr_lattice_kind_of(const struct tr_graph *graph)
{
    return graph->segments       ? &tr_segment_kind
           : graph->pruned       ? &tr_pruned_kind
           : !graph->first_order ? &tr_general_kind
           : graph->free_steps   ? &tr_sparse_kind
                                 : &tr_dense_kind;
}

static bool make_scratch(struct tr_lattice *lattice)
{
    struct tr_scratch *scratch = &lattice->scratch;
    scratch->row = tr_alloc_aligned(lattice->stride, sizeof *scratch->row);
    scratch->second_row = tr_alloc_aligned(lattice->stride, sizeof *scratch->second_row);
    scratch->double_row = tr_alloc_aligned(lattice->stride, sizeof *scratch->double_row);
    scratch->next = tr_alloc(lattice->graph->labels, sizeof *scratch->next);
    return scratch->row && scratch->second_row && scratch->double_row && scratch->next;
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
    lattice->kind = tr_lattice_kind_of(graph);
    lattice->kernels = tr_kernels();
    lattice->stride = tr_padded(graph->states);
    if (!make_scratch(lattice) || !tr_floats_room(&lattice->scores.node, 1, graph->width) ||
        (lattice->kind->make && !lattice->kind->make(lattice))) {
        tr_lattice_destroy(lattice);
        return tr_fail_memory(error);
    }
    *ret_lattice = lattice;
    return TRELLIS_OK;
}

void tr_lattice_destroy(struct tr_lattice *lattice)
{
    if (!lattice) {
        return;
    }
    if (lattice->kind->free) {
        lattice->kind->free(lattice);
    }
    free(lattice->scores.node.at);
    free(lattice->scores.edge.at);
    free(lattice->scores.residual.at);
    free(lattice->scores.normaliser.at);
    free(lattice->fast.alpha.at);
    free(lattice->fast.to.at);
    free(lattice->fast.inverse.at);
    free(lattice->fast.pair.at);
    free(lattice->log_space.alpha.at);
    free(lattice->log_space.beta.at);
    free(lattice->marginal.node.at);
    free(lattice->marginal.edge.at);
    free(lattice->decided_in.at);
    tr_free_counts(&lattice->counts);
    free(lattice->scratch.row);
    free(lattice->scratch.second_row);
    free(lattice->scratch.double_row);
    free(lattice->scratch.matrix);
    free(lattice->scratch.next);
    free(lattice);
}

void tr_lattice_interrupt_by(struct tr_lattice *lattice, const struct tr_interruption *interruption)
{
    lattice->interruption = interruption;
}

void tr_lattice_use_reference(struct tr_lattice *lattice, bool reference)
{
    lattice->use_reference = reference;
    lattice->computed = TR_NOTHING;
}

/* ---- scores ---------------------------------------------------------------------------------- */

trellis_status tr_lattice_begin(struct tr_lattice *lattice, size_t length, trellis_error *error)
{
    lattice->computed = TR_NOTHING;
    lattice->scores.has_edges = lattice->scores.has_normalisers = lattice->scores.has_residuals =
        false;
    lattice->length = 0;
    if (lattice->kind->begin) {
        lattice->kind->begin(lattice);
    }
    if (!tr_floats_room(&lattice->scores.node, length, lattice->graph->width)) {
        return tr_fail_memory(error);
    }
    lattice->length = length;
    memset(lattice->scores.node.at, 0, length * lattice->graph->width * sizeof(float));
    return TRELLIS_OK;
}

float *tr_lattice_nodes(struct tr_lattice *lattice)
{
    return lattice->scores.node.at;
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
    lattice->scores.has_residuals = make_zeros(lattice, &lattice->scores.residual,
                                               lattice->graph->width);
    return lattice->scores.has_residuals;
}

float *tr_lattice_residuals(struct tr_lattice *lattice)
{
    return lattice->scores.has_residuals ? lattice->scores.residual.at : NULL;
}

bool tr_lattice_make_edges(struct tr_lattice *lattice)
{
    lattice->scores.has_edges = make_zeros(lattice, &lattice->scores.edge,
                                           (size_t)lattice->graph->labels * lattice->graph->width);
    return lattice->scores.has_edges;
}

float *tr_lattice_edges(struct tr_lattice *lattice)
{
    return lattice->scores.has_edges ? lattice->scores.edge.at : NULL;
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
    float *node = lattice->scores.node.at + position * width, *kept = lattice->scratch.row;
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        kept[c] = -INFINITY;
    }
    for (size_t i = 0; i < count; i++) {
        kept[labels[i]] = node[labels[i]];
    }
    memcpy(node, kept, lattice->graph->labels * sizeof *node);
    return TRELLIS_OK;
}

void tr_lattice_pad_nodes(struct tr_lattice *lattice)
{
    size_t labels = lattice->graph->labels, width = lattice->graph->width;
    for (size_t i = 0; labels < width && i < lattice->length; i++) {
        for (size_t j = labels; j < width; j++) {
            lattice->scores.node.at[i * width + j] = -INFINITY;
        }
    }
}

/* ---- the score of a path --------------------------------------------------------------------- */

/* start(z_1) + sum_i node[i][label(z_i)] + step(z_{i-1}, z_i) + edge[i][..][..] + end(z_n), and
 * -log N of the states */
double tr_listed_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            const uint16_t *labels)
{
    const struct tr_graph *graph = lattice->graph;
    uint32_t state = TR_NO_STATE;
    double score = 0;
    for (size_t i = 0; i < lattice->length; i++) {
        uint32_t next = tr_graph_next(graph, state, labels[i]);
        if (next == TR_NO_STATE) {
            return -INFINITY;
        }
        uint32_t a = tr_graph_step(graph, state, next);
        score += a == TR_NO_STEP ? tr_exact(steps->score.unlisted, steps->residual.unlisted, next)
                                 : tr_exact(steps->score.step, steps->residual.step, a);
        score += tr_state_score(lattice, i, next);
        if (i > 0 && lattice->scores.has_edges) {
            score += (double)tr_edges_at(lattice, i)[labels[i - 1] * graph->width + labels[i]];
        }
        state = next;
    }
    return state == TR_NO_STATE ? 0
                                : score + tr_exact(steps->score.end, steps->residual.end, state);
}

double tr_lattice_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                             const uint16_t *labels)
{
    return lattice->kind->path_score(lattice, steps, labels);
}
