/* arrange.c - which pairs become features, and in which order the attributes are numbered.
 *
 *     occurrences -> pairs of each attribute -> dense or sparse -> numbers -> occurrences rewritten
 *
 * A token whose label is open counts with every label listed for it, and with none where any will do.
 * The order is: dense before sparse, frequent before rare, first seen before later. Within a token
 * the occurrences are sorted, so that the dense rows are added in one run without a branch missed.
 */
#include "dataset/share.h"

#include "base/pool.h"

enum { BUCKET_MOST = 1 << 25 }; // occurrences gathered at once, to bound the memory

struct pairs {
    uint64_t *begin; // [attributes + 1]
    TR_ARRAY(uint32_t) outcome;
};

/* The outcomes that a token was seen with: from [froms] by to [tos]. */
struct outcomes {
    const uint16_t *from, *to;
    size_t froms, tos;
};

static struct outcomes outcomes_at(const struct tr_dataset *dataset, bool edge, size_t token)
{
    static const uint16_t nothing[] = {0};
    struct outcomes outcomes = {.from = nothing, .froms = 1};
    outcomes.tos = tr_dataset_open(dataset, token, &outcomes.to);
    if (edge) {
        outcomes.froms = tr_dataset_open(dataset, token - 1, &outcomes.from);
    }
    return outcomes;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Every label, or label pair, for the attribute at hand. */
static bool push_all(const struct tr_dataset *dataset, bool edge, uint32_t width,
                     struct pairs *pairs)
{
    uint32_t labels = dataset->label_count;
    for (uint32_t from = 0; from < (edge ? labels : 1); from++) {
        for (uint32_t to = 0; to < labels; to++) {
            if (!tr_push(&pairs->outcome, from * width + to)) {
                return false;
            }
        }
    }
    return true;
}

/* The distinct outcomes of attributes first .. last-1, in one pass over the occurrences. `bucket`
 * has room for all of them; `filled` [last - first] and `stamp` [outcomes] are scratch. */
static bool gather(const struct tr_dataset *dataset, bool edge, uint32_t width, uint32_t first,
                   uint32_t last, const uint64_t *offset, const bool *whole, uint32_t *bucket,
                   uint32_t *filled, uint32_t *stamp, struct pairs *pairs)
{
    const struct tr_occurrences *occurrences = edge ? &dataset->edge : &dataset->node;
    for (size_t t = 0; t < dataset->tokens; t++) {
        if (occurrences->begin.at[t] == occurrences->begin.at[t + 1]) {
            continue;
        }
        struct outcomes seen = outcomes_at(dataset, edge, t);
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            uint32_t a = occurrences->attribute.at[k];
            if (a < first || a >= last) {
                continue;
            }
            for (size_t i = 0; i < seen.froms; i++) {
                for (size_t j = 0; j < seen.tos; j++) {
                    uint64_t at = offset[a] - offset[first] + filled[a - first]++;
                    bucket[at] = seen.from[i] * width + seen.to[j];
                }
            }
        }
    }
    for (uint32_t a = first; a < last; a++) {
        size_t before = pairs->outcome.size;
        if (whole && whole[a]) {
            if (!push_all(dataset, edge, width, pairs)) {
                return false;
            }
            pairs->begin[a + 1] = pairs->outcome.size;
            continue;
        }
        for (uint64_t i = offset[a]; i < offset[a + 1]; i++) {
            uint32_t outcome = bucket[i - offset[first]];
            if (stamp[outcome] != a + 1) {
                stamp[outcome] = a + 1;
                if (!tr_push(&pairs->outcome, outcome)) {
                    return false;
                }
            }
        }
        if (pairs->outcome.size > before) {
            qsort(pairs->outcome.at + before, pairs->outcome.size - before, sizeof(uint32_t),
                  by_value);
        }
        pairs->begin[a + 1] = pairs->outcome.size;
    }
    return true;
}

/* How often each attribute was seen with an outcome, as a running sum. */
static uint64_t *outcome_offsets(const struct tr_dataset *dataset, bool edge, size_t attributes)
{
    const struct tr_occurrences *occurrences = edge ? &dataset->edge : &dataset->node;
    uint64_t *offset = tr_alloc(attributes + 1, sizeof *offset);
    for (size_t t = 0; offset && t < dataset->tokens; t++) {
        bool any = occurrences->begin.at[t] < occurrences->begin.at[t + 1];
        struct outcomes seen = any ? outcomes_at(dataset, edge, t) : (struct outcomes){0};
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            offset[occurrences->attribute.at[k] + 1] += seen.froms * seen.tos;
        }
    }
    for (size_t a = 0; offset && a < attributes; a++) {
        offset[a + 1] += offset[a];
    }
    return offset;
}

/* How often each attribute occurs, as a running sum. The counts of the dictionary may be capped. */
static uint64_t *occurrence_offsets(const struct tr_occurrences *occurrences, size_t attributes)
{
    uint64_t *offset = tr_alloc(attributes + 1, sizeof *offset);
    if (offset) {
        for (size_t k = 0; k < occurrences->attribute.size; k++) {
            offset[occurrences->attribute.at[k] + 1]++;
        }
        for (size_t a = 0; a < attributes; a++) {
            offset[a + 1] += offset[a];
        }
    }
    return offset;
}

static bool gather_all(const struct tr_dataset *dataset, bool edge, uint32_t outcomes,
                       uint32_t width, uint32_t attributes, const uint64_t *offset,
                       const bool *whole, struct pairs *pairs)
{
    if (attributes == 0) {
        return true; // label pairs can be billions: no room for them where nothing is to be seen
    }
    uint32_t *stamp = tr_alloc(outcomes, sizeof *stamp), *bucket = NULL, *filled = NULL;
    bool fine = stamp != NULL;
    for (uint32_t first = 0, last; fine && first < attributes; first = last) {
        for (last = first + 1; last < attributes && offset[last + 1] - offset[first] <= BUCKET_MOST;
             last++) {}
        bucket = tr_alloc(offset[last] - offset[first], sizeof *bucket);
        filled = tr_alloc(last - first, sizeof *filled);
        fine = bucket && filled &&
               gather(dataset, edge, width, first, last, offset, whole, bucket, filled, stamp,
                      pairs);
        free(bucket);
        free(filled);
    }
    free(stamp);
    return fine;
}

/* Every label (or label pair) for every attribute. */
static bool all_pairs(const struct tr_dataset *dataset, bool edge, uint32_t width,
                      uint32_t attributes, struct pairs *pairs)
{
    for (uint32_t a = 0; a < attributes; a++) {
        if (!push_all(dataset, edge, width, pairs)) {
            return false;
        }
        pairs->begin[a + 1] = pairs->outcome.size;
    }
    return true;
}

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

/* The new order: order[new] = old, without those seen too rarely and without shared; how many are dense. */
static bool choose_order(const struct pairs *pairs, const uint64_t *offset, uint32_t attributes,
                         uint32_t outcomes, uint32_t min_count, const uint32_t *first,
                         uint32_t *order, uint32_t *kept, uint32_t *dense)
{
    uint32_t *key = tr_alloc(attributes, sizeof *key);
    if (!key) {
        return false;
    }
    *kept = *dense = 0;
    for (uint32_t a = 0; a < attributes; a++) {
        uint64_t count = offset[a + 1] - offset[a];
        if (count < min_count || (first && first[a] != a)) {
            continue;
        }
        bool is_dense = tr_rows_worth_dense(outcomes, pairs->begin[a + 1] - pairs->begin[a]);
        uint32_t capped = count < 0x7FFFFFFF ? (uint32_t)count : 0x7FFFFFFF;
        key[a] = (is_dense ? 0 : 0x80000000u) | (0x7FFFFFFF - capped);
        *dense += is_dense;
        order[(*kept)++] = a;
    }
    bool fine = sort_by_key(order, *kept, key);
    free(key);
    return fine;
}

/* Sorts the attributes of one token, and their values along; Shell's sort, because there are twenty of
 * them as a rule and ten thousand at worst. */
static void sort_token(uint32_t *attribute, float *value, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3) {
        gap = gap * 3 + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (size_t i = gap; i < count; i++) {
            uint32_t moved = attribute[i];
            float moved_value = value ? value[i] : 1;
            size_t j = i;
            for (; j >= gap && attribute[j - gap] > moved; j -= gap) {
                attribute[j] = attribute[j - gap];
                if (value) {
                    value[j] = value[j - gap];
                }
            }
            attribute[j] = moved;
            if (value) {
                value[j] = moved_value;
            }
        }
    }
}

void tr_occurrences_sort(struct tr_occurrences *occurrences, size_t first, size_t end)
{
    float *value = occurrences->value.size ? occurrences->value.at : NULL;
    for (size_t t = first; t < end; t++) {
        uint32_t from = occurrences->begin.at[t], to = occurrences->begin.at[t + 1];
        if (to > from) {
            sort_token(occurrences->attribute.at + from, value ? value + from : NULL, to - from);
        }
    }
}

/* Rewrites the occurrences with the new numbers, dropped ones left out, sorted within a token. */
static void renumber(struct tr_occurrences *occurrences, size_t tokens, const uint32_t *to)
{
    uint32_t *attribute = occurrences->attribute.at, from = 0, out = 0;
    float *value = occurrences->value.size ? occurrences->value.at : NULL;
    for (size_t t = 0; t < tokens; t++) {
        uint32_t end = occurrences->begin.at[t + 1], first = out;
        for (; from < end; from++) {
            uint32_t number = to[attribute[from]];
            if (number != TR_NONE) {
                if (value) {
                    value[out] = value[from];
                }
                attribute[out++] = number;
            }
        }
        if (out > first) {
            sort_token(attribute + first, value ? value + first : NULL, out - first);
        }
        occurrences->begin.at[t + 1] = out;
    }
    occurrences->attribute.size = out;
    if (value) {
        occurrences->value.size = out;
    }
}

struct renaming {
    struct tr_occurrences *occurrences;
    const uint32_t *to;
};

static double rename_piece(void *user, size_t first, size_t end)
{
    const struct renaming *x = user;
    uint32_t *attribute = x->occurrences->attribute.at;
    for (uint32_t k = x->occurrences->begin.at[first]; k < x->occurrences->begin.at[end]; k++) {
        attribute[k] = x->to[attribute[k]];
    }
    tr_occurrences_sort(x->occurrences, first, end);
    return 0;
}

/* The same where none is dropped: tokens do not depend on each other. */
static void rename_all(struct tr_pool *pool, struct tr_occurrences *occurrences, size_t tokens,
                       const uint32_t *to)
{
    struct renaming renaming = {occurrences, to};
    tr_pool_sum(pool, tokens, rename_piece, &renaming);
}

/* The pairs in the new order. Hands both arrays to the rows. */
static trellis_status lay_out(const struct pairs *pairs, const uint32_t *order, uint32_t kept,
                              uint32_t dense, uint32_t outcomes, struct tr_rows **ret_rows,
                              trellis_error *error)
{
    uint64_t *begin = tr_alloc((size_t)kept + 1, sizeof *begin);
    for (uint32_t i = 0; begin && i < kept; i++) {
        begin[i + 1] = begin[i] + (pairs->begin[order[i] + 1] - pairs->begin[order[i]]);
    }
    uint32_t *outcome = begin ? tr_alloc(begin[kept], sizeof *outcome) : NULL;
    if (!outcome) {
        free(begin);
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < kept; i++) {
        memcpy(outcome + begin[i], pairs->outcome.at + pairs->begin[order[i]],
               (begin[i + 1] - begin[i]) * sizeof *outcome);
    }
    return tr_rows_create(outcomes, kept, dense, begin, outcome, ret_rows, error);
}

static uint32_t outcome_count(const struct tr_dataset *dataset, bool edge)
{
    uint32_t labels = dataset->label_count;
    return edge && labels ? (labels - 1) * tr_row_width(labels) + labels : labels;
}

/* Numbers those that share a row with another after all others, which have theirs; their number. */
static uint32_t number_shared(const uint32_t *first, uint32_t count, uint32_t kept, uint32_t *to,
                              uint32_t *shared_with)
{
    uint32_t shared = 0;
    for (uint32_t a = 0; first && a < count; a++) {
        if (first[a] != a && to[first[a]] != TR_NONE) {
            shared_with[shared] = to[first[a]];
            to[a] = kept + shared++;
        }
    }
    return shared;
}

/* Numbers the attributes by their pairs, lays out the rows and rewrites the occurrences of the corpus
 * and, where there is one, of its dev corpus. `first` tells who shares a row (share.h); NULL: nobody. */
static trellis_status settle(struct tr_dataset *dataset, struct tr_dataset *dev, bool edge,
                             struct tr_attributes *attributes, const struct pairs *pairs,
                             const uint64_t *offset, uint32_t min_count, const uint32_t *first,
                             struct tr_pool *pool, trellis_error *error)
{
    uint32_t count = (uint32_t)attributes->dictionary.entries.size, kept, dense;
    uint32_t outcomes = outcome_count(dataset, edge);
    uint32_t *order = tr_alloc(count, sizeof *order), *to = tr_alloc(count, sizeof *to);
    uint32_t *shared_with = tr_alloc(first ? count : 0, sizeof *shared_with);
    trellis_status status = TRELLIS_OK;
    if (!order || !to || !shared_with ||
        !choose_order(pairs, offset, count, outcomes, min_count, first, order, &kept, &dense)) {
        status = tr_fail_memory(error);
        goto done;
    }
    for (uint32_t a = 0; a < count; a++) {
        to[a] = TR_NONE;
    }
    for (uint32_t i = 0; i < kept; i++) {
        to[order[i]] = i;
    }
    uint32_t shared = number_shared(first, count, kept, to, shared_with);
    struct tr_occurrences *occurrences = edge ? &dataset->edge : &dataset->node;
    if (kept + shared == count) {
        rename_all(pool, occurrences, dataset->tokens, to);
    } else {
        renumber(occurrences, dataset->tokens, to);
    }
    if (dev) {
        renumber(edge ? &dev->edge : &dev->node, dev->tokens, to);
    }
    if (!tr_attribute_index_renumber(&attributes->dictionary, to, kept + shared)) {
        status = tr_fail_memory(error);
        goto done;
    }
    tr_rows_destroy(attributes->rows);
    attributes->rows = NULL;
    status = lay_out(pairs, order, kept, dense, outcomes, &attributes->rows, error);
    if (!status) {
        status = tr_rows_share(attributes->rows, shared, shared_with, error);
        shared_with = NULL;
    }
done:
    free(order);
    free(to);
    free(shared_with);
    return status;
}

static trellis_status arrange(struct tr_dataset *dataset, bool edge,
                              struct tr_attributes *attributes,
                              const struct tr_arrangement *arrangement, trellis_error *error)
{
    uint32_t count = (uint32_t)attributes->dictionary.entries.size, *first = NULL;
    uint32_t width = tr_row_width(dataset->label_count), outcomes = outcome_count(dataset, edge);
    struct tr_occurrences *occurrences = edge ? &dataset->edge : &dataset->node;
    bool share = arrangement->share && occurrences->value.size == 0 && count > 0;
    if (share) {
        first = tr_share_find(occurrences, dataset->tokens, count);
        if (!first) {
            return tr_fail_memory(error);
        }
        tr_share_drop(occurrences, dataset->tokens, first);
    }
    struct pairs pairs = {.begin = tr_alloc((size_t)count + 1, sizeof(uint64_t))};
    bool by_outcome = dataset->open_begin.size && !arrangement->all_features;
    uint64_t *offset = by_outcome ? outcome_offsets(dataset, edge, count)
                                  : occurrence_offsets(occurrences, count);
    bool fine = pairs.begin && offset &&
                (arrangement->all_features
                     ? all_pairs(dataset, edge, width, count, &pairs)
                     : gather_all(dataset, edge, outcomes, width, count, offset,
                                  edge ? NULL : arrangement->whole, &pairs));
    trellis_status status = fine ? settle(dataset, NULL, edge, attributes, &pairs, offset,
                                          arrangement->min_count, first, arrangement->pool, error)
                                 : tr_fail_memory(error);
    free(first);
    free(pairs.begin);
    free(pairs.outcome.at);
    free(offset);
    return status;
}

/* The pairs whose weight is not 0; an attribute that has none left is given no occurrence, so that
 * the minimum count of 1 drops it. */
static bool weighted_pairs(const struct tr_rows *rows, const float *weights, struct pairs *pairs,
                           uint64_t *offset)
{
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            if (weights[tr_rows_find(rows, a, rows->outcome[i])] != 0 &&
                !tr_push(&pairs->outcome, rows->outcome[i])) {
                return false;
            }
        }
        pairs->begin[a + 1] = pairs->outcome.size;
    }
    for (uint32_t a = rows->attributes; a-- > 0;) { // counts instead of running sums
        offset[a + 1] -= offset[a];
    }
    for (uint32_t a = 0; a < rows->attributes; a++) {
        bool empty = pairs->begin[a + 1] == pairs->begin[a];
        offset[a + 1] = offset[a] + (empty ? 0 : offset[a + 1]);
    }
    return true;
}

trellis_status tr_dataset_prune(struct tr_dataset *dataset, struct tr_dataset *dev, bool edge,
                                struct tr_attributes *attributes, const float *weights,
                                trellis_error *error)
{
    const struct tr_rows *rows = attributes->rows;
    struct pairs pairs = {.begin = tr_alloc((size_t)rows->attributes + 1, sizeof(uint64_t))};
    uint64_t *offset = occurrence_offsets(edge ? &dataset->edge : &dataset->node, rows->attributes);
    trellis_status status = pairs.begin && offset && weighted_pairs(rows, weights, &pairs, offset)
                                ? settle(dataset, dev, edge, attributes, &pairs, offset, 1, NULL,
                                         NULL, error)
                                : tr_fail_memory(error);
    free(pairs.begin);
    free(pairs.outcome.at);
    free(offset);
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
    TRIM(dataset->gold);
    TRIM(vocabulary->node.dictionary.bytes);
    return status;
}
