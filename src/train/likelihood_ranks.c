/* likelihood_ranks.c - how ranks share the gradient of a likelihood and the weights.
 *
 * Every rank owns a slice of the features (base/slices.h) and adds up the gradient over its own
 * sequences, which have but some of all attributes. It sends the gradient of the features that these
 * touch to their owners, and where the weights are split as well (tr_likelihood_split), it gets their
 * weights back, in single precision, as they are scored with:
 *
 *     sums of the ranks --8 bytes--> gradient of the slice --L-BFGS--> w of the slice --4 bytes--> weights
 *
 * Features that a sequence has through bundles are summed apart, because they are multiplied by a
 * root of the sum (tr_rows_take), and only sums on the grid are exact (pass.h).
 */
#include "train/likelihood.h"

static void set_bits(uint64_t *marks, size_t first, size_t end)
{
    for (size_t bit = first; bit < end; bit++) {
        marks[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

static bool has_bit(const uint64_t *marks, size_t bit)
{
    return marks[bit / 64] >> (bit % 64) & 1;
}

static void mark_attributes(const struct tr_occurrences *occurrences, size_t first, size_t end,
                            uint64_t *marks)
{
    if (occurrences->attribute.size == 0) {
        return;
    }
    for (uint32_t k = occurrences->begin.at[first]; k < occurrences->begin.at[end]; k++) {
        uint32_t a = occurrences->attribute.at[k];
        marks[a / 64] |= (uint64_t)1 << (a % 64);
    }
}

static void mark_features(const struct tr_rows *rows, const uint64_t *attributes, size_t first,
                          uint64_t *marks)
{
    for (uint32_t a = 0; a < rows->attributes; a++) {
        if (has_bit(attributes, a)) {
            set_bits(marks, first + rows->begin[a], first + rows->begin[a + 1]);
        }
    }
}

/* What the sequences of this rank have to do with: attributes and features, as bits. */
struct marks {
    uint64_t *node, *edge, *features;
};

static bool make_marks(const struct tr_likelihood *l, struct marks *marks)
{
    const struct tr_training *t = l->training;
    const struct tr_vocabulary *vocabulary = &t->data.vocabulary;
    marks->node = tr_alloc(vocabulary->node.rows->attributes / 64 + 1, sizeof *marks->node);
    marks->edge = tr_alloc(vocabulary->edge.rows->attributes / 64 + 1, sizeof *marks->edge);
    marks->features = tr_alloc(l->size / 64 + 1, sizeof *marks->features);
    if (!marks->node || !marks->edge || !marks->features) {
        return false;
    }
    const struct tr_dataset *data = &t->data.train;
    size_t first = 0, end = data->sequences;
    if (!t->data.shared) {
        tr_pass_share(t, data, t->ranks.rank, &first, &end);
    }
    first = data->sequence.at[first];
    end = data->sequence.at[end];
    mark_attributes(&data->node, first, end, marks->node);
    mark_attributes(&data->segment, first * data->max_segment, end * data->max_segment,
                    marks->node);
    mark_attributes(&data->edge, first, end, marks->edge);
    mark_features(vocabulary->node.rows, marks->node, 0, marks->features);
    mark_features(vocabulary->edge.rows, marks->edge, l->node, marks->features);
    set_bits(marks->features, l->node + l->edge, l->size);
    return true;
}

static void free_marks(struct marks *marks)
{
    free(marks->node);
    free(marks->edge);
    free(marks->features);
}

/* Features that many ranks touch are more to send than others, and frequent ones stand together, so
 * slices are cut by what is sent for them: 8 bytes and 4, and 8 where they are inherited. */
static trellis_status balance(struct tr_likelihood *l, const struct marks *marks,
                              trellis_error *error)
{
    struct tr_ranks *ranks = &l->training->ranks;
    const struct tr_bundles *b = l->bundles;
    uint64_t *cost = tr_alloc(l->slices.blocks, sizeof *cost);
    trellis_status status = tr_ranks_agree(ranks, cost ? TRELLIS_OK : tr_fail_memory(error), error);
    for (size_t j = 0; !status && j < l->size; j++) {
        cost[j / TR_SLICE_BLOCK] += has_bit(marks->features, j) ? 3 : 0;
    }
    for (uint32_t i = 0; !status && b && i < b->inherits; i++) {
        uint64_t end = b->rows->begin[b->heir[i] + 1];
        for (uint64_t j = b->rows->begin[b->heir[i]]; j < end; j++) {
            cost[j / TR_SLICE_BLOCK] += has_bit(marks->node, b->heir[i]) ? 2 : 0;
        }
    }
    if (!status) {
        status = tr_ranks_sum_integers(ranks, cost, l->slices.blocks, error);
    }
    if (!status) {
        tr_slices_balance(&l->slices, cost);
    }
    free(cost);
    return status;
}

/* Which features of heirs this rank adds to, and where those of each slice begin. */
static trellis_status touch_heirs(struct tr_likelihood *l, const struct marks *marks, size_t *begin,
                                  trellis_error *error)
{
    const struct tr_bundles *b = l->bundles;
    struct tr_ranks *ranks = &l->training->ranks;
    uint64_t *heirs = tr_alloc(b->heir_begin[b->inherits] / 64 + 1, sizeof *heirs);
    trellis_status status = tr_ranks_agree(ranks, heirs ? TRELLIS_OK : tr_fail_memory(error),
                                           error);
    memset(begin, 0, ((size_t)ranks->count + 1) * sizeof *begin);
    for (uint32_t i = 0; !status && i < b->inherits; i++) {
        uint64_t first = b->rows->begin[b->heir[i]], end = b->rows->begin[b->heir[i] + 1];
        if (has_bit(marks->node, b->heir[i])) {
            set_bits(heirs, b->heir_begin[i], b->heir_begin[i + 1]);
        }
        for (unsigned r = 1; r <= ranks->count; r++) { // the features before the slice of rank r
            uint64_t slice = tr_slices_begin(&l->slices, r);
            begin[r] += slice <= first ? 0 : (slice < end ? slice : end) - first;
        }
    }
    if (!status) {
        status = tr_touched_create(&l->inherited, ranks, begin, heirs, error);
    }
    free(heirs);
    return status;
}

trellis_status tr_likelihood_touch(struct tr_likelihood *l, trellis_error *error)
{
    struct tr_ranks *ranks = &l->training->ranks;
    struct marks marks = {0};
    size_t *begin = tr_alloc((size_t)ranks->count + 1, sizeof *begin);
    bool ok = begin && make_marks(l, &marks);
    trellis_status status = tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
    if (!status) {
        status = balance(l, &marks, error);
    }
    for (unsigned r = 0; !status && r <= ranks->count; r++) {
        begin[r] = tr_slices_begin(&l->slices, r);
    }
    if (!status) {
        status = tr_touched_create(&l->touched, ranks, begin, marks.features, error);
    }
    if (!status && l->bundles) {
        status = touch_heirs(l, &marks, begin, error);
    }
    free_marks(&marks);
    free(begin);
    return status;
}

/* ---- the gradient ---------------------------------------------------------------------------- */

trellis_status tr_likelihood_add_ranks(struct tr_likelihood *l, double *sums, trellis_error *error)
{
    trellis_status status = tr_touched_sum(&l->touched, sums, error);
    if (!status && l->bundles) {
        status = tr_touched_sum(&l->inherited, l->bundles->inherited, error);
    }
    return status;
}

/* ---- the weights ----------------------------------------------------------------------------- */

trellis_status tr_likelihood_split(struct tr_likelihood *l, trellis_error *error)
{
    struct tr_ranks *ranks = &l->training->ranks;
    l->sums = tr_alloc_aligned(l->size, sizeof *l->sums);
    l->values = tr_alloc_aligned(l->size, sizeof *l->values);
    l->split = true;
    return tr_ranks_agree(ranks, l->sums && l->values ? TRELLIS_OK : tr_fail_memory(error), error);
}

/* The part of the range first .. end-1 that is in the slice of this rank, counted from `first`. */
static size_t part_of(const struct tr_slices *slices, size_t first, size_t end, size_t *ret_end)
{
    size_t from = slices->first > first ? slices->first : first;
    size_t to = slices->first + slices->held < end ? slices->first + slices->held : end;
    *ret_end = to > from ? to - first : 0;
    return to > from ? from - first : 0;
}

/* The weights of the slice. */
static void round_slice(struct tr_likelihood *l, const double *w)
{
    const struct tr_vocabulary *vocabulary = &l->training->data.vocabulary;
    size_t edges = l->node, steps = l->node + l->edge, end;
    size_t first = part_of(&l->slices, 0, edges, &end);
    float *values = l->values + l->slices.first;
    l->active = (double)tr_rows_round(vocabulary->node.rows, w, first, end, values);
    w += end - first;
    values += end - first;
    first = part_of(&l->slices, edges, steps, &end);
    l->active += (double)tr_rows_round(vocabulary->edge.rows, w, first, end, values);
    w += end - first;
    values += end - first;
    first = part_of(&l->slices, steps, l->size, &end);
    for (size_t j = 0; j < end - first; j++) {
        values[j] = (float)w[j];
        l->active += values[j] != 0;
    }
}

struct placing {
    const struct tr_rows *rows;
    const float *values;
    float *weights;
};

static double place_piece(void *user, size_t begin, size_t end)
{
    const struct placing *x = user;
    tr_rows_place(x->rows, x->values, (uint32_t)begin, (uint32_t)end, x->weights);
    return 0;
}

trellis_status tr_likelihood_pull(struct tr_likelihood *l, const double *w, bool all,
                                  trellis_error *error)
{
    const struct tr_training *t = l->training;
    float *weights = l->at.weights;
    struct placing node = {t->data.vocabulary.node.rows, l->values, weights};
    struct placing edge = {t->data.vocabulary.edge.rows, l->values + l->node,
                           weights + t->layout.node_size};
    round_slice(l, w);
    trellis_status status = all ? tr_slices_gather(&l->slices, l->values, sizeof *l->values, error)
                                : tr_touched_pull(&l->touched, l->values, error);
    tr_pool_sum(t->pool, node.rows->attributes, place_piece, &node);
    tr_pool_sum(t->pool, edge.rows->attributes, place_piece, &edge);
    memcpy(weights + t->layout.step_begin, l->values + l->node + l->edge,
           t->layout.step_size * sizeof *weights);
    return status;
}
