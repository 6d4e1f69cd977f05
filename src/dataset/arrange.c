/* arrange.c - in which order the attributes are numbered, and their rows.
 *
 *     occurrences -> pairs of each attribute -> dense or sparse -> numbers -> occurrences rewritten
 *
 * The order is: dense before sparse, frequent before rare, first seen before later.
 */
#include "dataset/arranger.h"
#include "dataset/share.h"

static uint32_t outcome_count(const struct tr_dataset *dataset, bool edge)
{
    uint32_t labels = dataset->label_count;
    return edge && labels ? (labels - 1) * tr_row_width(labels) + labels : labels;
}

/* Without occurrences, pairs or an order so far; false on allocation failure. */
static bool arranger_begin(struct tr_arranger *x, struct tr_dataset *dataset, bool edge,
                           struct tr_attributes *attributes, uint32_t count)
{
    *x = (struct tr_arranger){.dataset = dataset,
                              .edge = edge,
                              .attributes = attributes,
                              .count = count,
                              .width = tr_row_width(dataset->label_count),
                              .outcomes = outcome_count(dataset, edge)};
    x->begin = tr_alloc((size_t)count + 1, sizeof *x->begin);
    x->order = tr_alloc(count, sizeof *x->order);
    x->number = tr_alloc(count, sizeof *x->number);
    return x->begin && x->order && x->number;
}

static void arranger_end(struct tr_arranger *x)
{
    free(x->of_segment);
    free(x->offset);
    free(x->begin);
    free(x->outcome.at);
    free(x->first);
    free(x->order);
    free(x->number);
    free(x->shared_with);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A stable sort of numbers by a 32-bit key, eight bits at a time. */
static bool sort_by_key(uint32_t *numbers, size_t count, const uint32_t *key)
{
    uint32_t *other = tr_alloc(count, sizeof *other);
    if (!other) {
        return false;
    }
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < count; i++) {
            start[(key[numbers[i]] >> shift & 255) + 1]++;
        }
        for (size_t i = 0; i < 256; i++) {
            start[i + 1] += start[i];
        }
        for (size_t i = 0; i < count; i++) {
            other[start[key[numbers[i]] >> shift & 255]++] = numbers[i];
        }
        memcpy(numbers, other, count * sizeof *numbers);
    }
    free(other);
    return true;
}

/* Sets `order`, `kept` and `dense`: of the attributes that are frequent enough, those that have a
 * row of their own. */
static bool choose_order(struct tr_arranger *x)
{
    uint32_t *key = tr_alloc(x->count, sizeof *key);
    if (!key) {
        return false;
    }
    for (uint32_t a = 0; a < x->count; a++) {
        uint64_t count = x->offset[a + 1] - x->offset[a];
        if (count < x->min_count || (x->first && x->first[a] != a)) {
            continue;
        }
        bool is_dense = tr_rows_worth_dense(x->outcomes, x->begin[a + 1] - x->begin[a]);
        uint32_t capped = count < 0x7FFFFFFF ? (uint32_t)count : 0x7FFFFFFF;
        key[a] = (is_dense ? 0 : 0x80000000u) | (0x7FFFFFFF - capped);
        x->dense += is_dense;
        x->order[x->kept++] = a;
    }
    bool ok = sort_by_key(x->order, x->kept, key);
    free(key);
    return ok;
}

/* Sets `number`: attributes with a row in their order, then those that share the row of another. */
static bool number_attributes(struct tr_arranger *x)
{
    x->shared_with = tr_alloc(x->first ? x->count : 0, sizeof *x->shared_with);
    if (!x->shared_with) {
        return false;
    }
    for (uint32_t a = 0; a < x->count; a++) {
        x->number[a] = TR_NONE;
    }
    for (uint32_t i = 0; i < x->kept; i++) {
        x->number[x->order[i]] = i;
    }
    for (uint32_t a = 0; x->first && a < x->count; a++) {
        uint32_t owner = x->number[x->first[a]];
        if (x->first[a] != a && owner != TR_NONE) {
            x->shared_with[x->shared] = owner;
            x->number[a] = x->kept + x->shared++;
        }
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Replaces the rows of the attributes by rows of the pairs in the new order. */
static trellis_status make_rows(struct tr_arranger *x, trellis_error *error)
{
    tr_rows_destroy(x->attributes->rows);
    x->attributes->rows = NULL;
    uint64_t *begin = tr_alloc((size_t)x->kept + 1, sizeof *begin);
    for (uint32_t i = 0; begin && i < x->kept; i++) {
        begin[i + 1] = begin[i] + (x->begin[x->order[i] + 1] - x->begin[x->order[i]]);
    }
    uint32_t *outcome = begin ? tr_alloc(begin[x->kept], sizeof *outcome) : NULL;
    if (!outcome) {
        free(begin);
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < x->kept; i++) {
        memcpy(outcome + begin[i], x->outcome.at + x->begin[x->order[i]],
               (begin[i + 1] - begin[i]) * sizeof *outcome);
    }
    trellis_status status = tr_rows_create(x->outcomes, x->kept, x->dense, begin, outcome,
                                           &x->attributes->rows, error);
    if (!status) {
        status = tr_rows_share(x->attributes->rows, x->shared, x->shared_with, error);
        x->shared_with = NULL;
    }
    return status;
}

/* Once the pairs are known: numbers the attributes, rewrites the occurrences and makes the rows. */
static trellis_status finalise_order(struct tr_arranger *x, trellis_error *error)
{
    if (!choose_order(x) || !number_attributes(x)) {
        return tr_fail_memory(error);
    }
    tr_renumber_occurrences(x);
    if (!tr_attribute_index_renumber(&x->attributes->index, x->number, x->kept + x->shared)) {
        return tr_fail_memory(error);
    }
    return make_rows(x, error);
}

/* Finds which attributes share a row and leaves only the first of each group in the corpus. */
static bool share_rows(struct tr_arranger *x)
{
    struct tr_occurrences *occurrences = tr_occurrences_of(x->dataset, x->edge);
    x->first = tr_share_find(occurrences, x->dataset->tokens, x->count, x->ranks);
    if (x->first) {
        tr_share_drop(occurrences, x->dataset->tokens, x->first);
    }
    for (uint32_t a = 0; x->first && x->of_segment && a < x->count; a++) {
        x->first[a] = x->of_segment[a] ? a : x->first[a]; // they occur at no token
    }
    return x->first;
}

/* Which attributes are those of segments. */
static bool mark_segments(struct tr_arranger *x)
{
    const struct tr_occurrences *occurrences = &x->dataset->segment;
    x->of_segment = tr_alloc(x->count, sizeof *x->of_segment);
    for (size_t k = 0; x->of_segment && k < occurrences->attribute.size; k++) {
        x->of_segment[occurrences->attribute.at[k]] = true;
    }
    return x->of_segment && tr_unite_marks(x, x->of_segment);
}

static trellis_status arrange(struct tr_dataset *dataset, bool edge,
                              struct tr_attributes *attributes, const struct tr_arrangement *plan,
                              trellis_error *error)
{
    struct tr_arranger x;
    uint32_t count = (uint32_t)attributes->index.entries.size;
    bool ok = arranger_begin(&x, dataset, edge, attributes, count);
    x.min_count = plan->min_count;
    x.min_feature_count = plan->min_feature_count;
    x.whole = edge ? NULL : plan->whole;
    x.pool = plan->pool;
    x.ranks = plan->ranks;
    if (ok && !edge && plan->segments) {
        x.segments = plan->segments;
        ok = mark_segments(&x);
    }
    if (ok && plan->share && !tr_occurrences_have_values(tr_occurrences_of(dataset, edge)) &&
        count > 0) {
        ok = share_rows(&x);
    }
    if (ok) {
        bool by_outcome = dataset->open_begin.size && !plan->all_features;
        x.offset = by_outcome ? tr_count_outcomes(&x) : tr_count_occurrences(&x);
        ok = x.offset && tr_sum_counts(&x, x.offset) &&
             (plan->all_features ? tr_make_all_pairs(&x)
                                 : tr_find_seen_pairs(&x) && tr_unite_pairs(&x));
    }
    if (ok && x.min_feature_count > 0) {
        tr_drop_empty(&x);
    }
    trellis_status status = ok ? finalise_order(&x, error) : tr_fail_memory(error);
    arranger_end(&x);
    return status;
}

trellis_status tr_dataset_prune(struct tr_dataset *dataset, struct tr_dataset *dev, bool edge,
                                struct tr_attributes *attributes, const float *weights,
                                trellis_error *error)
{
    struct tr_arranger x;
    bool ok = arranger_begin(&x, dataset, edge, attributes, attributes->rows->attributes);
    x.dev = dev;
    x.min_count = 1;
    if (ok) {
        x.offset = tr_count_occurrences(&x);
        ok = x.offset && tr_find_weighted_pairs(&x, weights);
    }
    trellis_status status = ok ? finalise_order(&x, error) : tr_fail_memory(error);
    arranger_end(&x);
    return status;
}

/* Frees the unused end of an array. */
static void *trim(void *at, size_t *capacity, size_t size, size_t element)
{
    void *smaller = size && size < *capacity ? realloc(at, size * element) : NULL;
    if (smaller) {
        *capacity = size;
    }
    return smaller ? smaller : at;
}
#define TRIM(array)                                                                                \
    ((array).at = trim((array).at, &(array).capacity, (array).size, sizeof *(array).at))

trellis_status tr_dataset_arrange(struct tr_dataset *dataset, struct tr_vocabulary *vocabulary,
                                  const struct tr_arrangement *arrangement, trellis_error *error)
{
    if (dataset->label_count > 0 &&
        (uint64_t)tr_row_width(dataset->label_count) * dataset->label_count > UINT32_MAX) {
        return tr_fail(error, TRELLIS_LIMIT, "too many labels: %u", dataset->label_count);
    }
    trellis_status status = arrange(dataset, false, &vocabulary->node, arrangement, error);
    if (!status) {
        status = arrange(dataset, true, &vocabulary->edge, arrangement, error);
    }
    TRIM(dataset->node.begin);
    TRIM(dataset->node.attribute);
    TRIM(dataset->node.value);
    TRIM(dataset->edge.begin);
    TRIM(dataset->edge.attribute);
    TRIM(dataset->edge.value);
    TRIM(dataset->segment.begin);
    TRIM(dataset->segment.attribute);
    TRIM(dataset->segment.value);
    TRIM(dataset->gold);
    TRIM(vocabulary->node.index.bytes);
    return status;
}
