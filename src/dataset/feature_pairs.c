/* feature_pairs.c - which pairs of an attribute and an outcome become features.
 *
 *     those seen, those seen often enough, all, or those whose weight is not 0
 *
 * A token whose label is open counts with every label listed for it, and with none if it may have
 * any label.
 */
#include "dataset/arranger.h"

enum { MAX_BUCKET = 1 << 25 }; // occurrences collected at once, to bound the memory

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

/* Walks over the gold segments that have attributes. */
struct gold_walk {
    const struct tr_dataset *dataset;
    const struct tr_segments *segments; // NULL: there are none
    size_t sequence, at;                // where to go on, `at` in the sequence
    size_t number;                      // of the segment at hand
    uint16_t outcome;                   // the head of its type
};

static bool next_gold(struct gold_walk *walk)
{
    const struct tr_dataset *data = walk->dataset;
    while (walk->segments && walk->sequence < data->sequences) {
        size_t first = data->sequence.at[walk->sequence];
        size_t n = data->sequence.at[walk->sequence + 1] - first;
        if (walk->at >= n) {
            walk->sequence++;
            walk->at = 0;
            continue;
        }
        struct tr_segment found = tr_segment_at(walk->segments, data->gold.at + first, n, walk->at);
        size_t d = found.end - found.begin;
        walk->at = found.end;
        if (found.type != TR_NO_LABEL && d <= walk->segments->type[found.type].max_length) {
            walk->number = (first + found.end - 1) * data->max_segment + d - 1;
            walk->outcome = walk->segments->type[found.type].head;
            return true;
        }
    }
    return false;
}

/* Pairs an attribute of segments with every type. */
static bool push_heads(struct tr_arranger *x)
{
    size_t before = x->outcome.size;
    for (uint32_t t = 0; t < x->segments->types; t++) {
        if (x->segments->type[t].head != TR_NO_LABEL &&
            !tr_push(&x->outcome, x->segments->type[t].head)) {
            return false;
        }
    }
    if (x->outcome.size > before) {
        qsort(x->outcome.at + before, x->outcome.size - before, sizeof(uint32_t), by_value);
    }
    return true;
}

/* Pairs the current attribute with every label or label pair. */
static bool push_all(struct tr_arranger *x)
{
    uint32_t labels = x->dataset->label_count;
    for (uint32_t from = 0; from < (x->edge ? labels : 1); from++) {
        for (uint32_t to = 0; to < labels; to++) {
            if (!tr_push(&x->outcome, from * x->width + to)) {
                return false;
            }
        }
    }
    return true;
}

/* Adds the occurrences of segments to the counts of attributes. */
static void count_segments(const struct tr_arranger *x, uint64_t *offset)
{
    const struct tr_occurrences *occurrences = &x->dataset->segment;
    for (size_t k = 0; !x->edge && k < occurrences->attribute.size; k++) {
        offset[occurrences->attribute.at[k] + 1]++;
    }
}

uint64_t *tr_count_outcomes(const struct tr_arranger *x)
{
    const struct tr_occurrences *occurrences = tr_occurrences_of(x->dataset, x->edge);
    uint64_t *offset = tr_alloc((size_t)x->count + 1, sizeof *offset);
    for (size_t t = 0; offset && t < x->dataset->tokens; t++) {
        bool any = occurrences->begin.at[t] < occurrences->begin.at[t + 1];
        struct outcomes seen = any ? outcomes_at(x->dataset, x->edge, t) : (struct outcomes){0};
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            offset[occurrences->attribute.at[k] + 1] += seen.froms * seen.tos;
        }
    }
    if (offset) {
        count_segments(x, offset);
    }
    for (size_t a = 0; offset && a < x->count; a++) {
        offset[a + 1] += offset[a];
    }
    return offset;
}

uint64_t *tr_count_occurrences(const struct tr_arranger *x)
{
    const struct tr_occurrences *occurrences = tr_occurrences_of(x->dataset, x->edge);
    uint64_t *offset = tr_alloc((size_t)x->count + 1, sizeof *offset);
    for (size_t k = 0; offset && k < occurrences->attribute.size; k++) {
        offset[occurrences->attribute.at[k] + 1]++;
    }
    if (offset) {
        count_segments(x, offset);
    }
    for (size_t a = 0; offset && a < x->count; a++) {
        offset[a + 1] += offset[a];
    }
    return offset;
}

/* The outcomes of the attributes first .. last-1, each as often as it was seen; those of segments as
 * often as gold segments have them. */
struct bucket {
    uint32_t first, last;
    uint32_t *outcome; // [offset[last] - offset[first]]
    float *value;      // [the same] of the attribute; NULL: 1, or not needed
    uint32_t *filled;  // [last - first] how many each attribute has so far
};

/* Fills the bucket in one pass over the occurrences. */
static void fill_bucket(const struct tr_arranger *x, const struct bucket *bucket)
{
    const struct tr_occurrences *occurrences = tr_occurrences_of(x->dataset, x->edge);
    const uint64_t *offset = x->offset;
    const uint32_t first = bucket->first, last = bucket->last, width = x->width;
    uint32_t *outcome = bucket->outcome, *filled = bucket->filled;
    for (size_t t = 0; t < x->dataset->tokens; t++) {
        if (occurrences->begin.at[t] == occurrences->begin.at[t + 1]) {
            continue;
        }
        struct outcomes seen = outcomes_at(x->dataset, x->edge, t);
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            uint32_t a = occurrences->attribute.at[k];
            if (a < first || a >= last) {
                continue;
            }
            for (size_t i = 0; i < seen.froms; i++) {
                for (size_t j = 0; j < seen.tos; j++) {
                    uint64_t at = offset[a] - offset[first] + filled[a - first]++;
                    outcome[at] = seen.from[i] * width + seen.to[j];
                    if (bucket->value) {
                        bucket->value[at] = occurrences->value.size ? occurrences->value.at[k] : 1;
                    }
                }
            }
        }
    }
}

/* The same of attributes of segments: the types of the gold segments that have them. */
static void fill_from_segments(const struct tr_arranger *x, const struct bucket *bucket)
{
    const struct tr_occurrences *occurrences = &x->dataset->segment;
    struct gold_walk walk = {.dataset = x->dataset, .segments = x->segments};
    while (next_gold(&walk)) {
        uint32_t end = occurrences->begin.at[walk.number + 1];
        for (uint32_t k = occurrences->begin.at[walk.number]; k < end; k++) {
            uint32_t a = occurrences->attribute.at[k];
            if (a >= bucket->first && a < bucket->last) {
                uint64_t at = x->offset[a] - x->offset[bucket->first] +
                              bucket->filled[a - bucket->first]++;
                bucket->outcome[at] = walk.outcome;
                if (bucket->value) {
                    bucket->value[at] = occurrences->value.size ? occurrences->value.at[k] : 1;
                }
            }
        }
    }
}

/* The distinct outcomes of one attribute, sorted; `stamp` [outcomes] marks those already listed. */
static bool push_distinct(struct tr_arranger *x, const struct bucket *bucket, uint32_t attribute,
                          uint32_t *stamp)
{
    size_t before = x->outcome.size;
    uint64_t end = x->offset[attribute] + bucket->filled[attribute - bucket->first];
    for (uint64_t i = x->offset[attribute]; i < end; i++) {
        uint32_t outcome = bucket->outcome[i - x->offset[bucket->first]];
        if (stamp[outcome] != attribute + 1) {
            stamp[outcome] = attribute + 1;
            if (!tr_push(&x->outcome, outcome)) {
                return false;
            }
        }
    }
    if (x->outcome.size > before) {
        qsort(x->outcome.at + before, x->outcome.size - before, sizeof(uint32_t), by_value);
    }
    return true;
}

/* The outcomes of one attribute with which its values sum to at least `min_feature_count`, sorted;
 * `sum` [outcomes] is 0 before and after. */
static bool push_frequent(struct tr_arranger *x, const struct bucket *bucket, uint32_t attribute,
                          double *sum)
{
    const uint64_t base = x->offset[bucket->first];
    const uint64_t end = x->offset[attribute] + bucket->filled[attribute - bucket->first];
    size_t before = x->outcome.size;
    bool ok = true;
    for (uint64_t i = x->offset[attribute]; i < end; i++) {
        sum[bucket->outcome[i - base]] += bucket->value ? (double)bucket->value[i - base] : 1;
    }
    for (uint64_t i = x->offset[attribute]; i < end; i++) {
        uint32_t outcome = bucket->outcome[i - base];
        ok = ok && (sum[outcome] < x->min_feature_count || tr_push(&x->outcome, outcome));
        sum[outcome] = 0;
    }
    if (x->outcome.size > before) {
        qsort(x->outcome.at + before, x->outcome.size - before, sizeof(uint32_t), by_value);
    }
    return ok;
}

/* The pairs of the attributes of a bucket. */
static bool push_bucket(struct tr_arranger *x, const struct bucket *bucket, uint32_t *stamp,
                        double *sum)
{
    bool ok = true;
    for (uint32_t a = bucket->first; ok && a < bucket->last; a++) {
        ok = x->whole && x->whole[a] ? push_all(x)
             : sum                   ? push_frequent(x, bucket, a, sum)
                                     : push_distinct(x, bucket, a, stamp);
        x->begin[a + 1] = x->outcome.size;
    }
    return ok;
}

/* Collects the outcomes of the attributes first .. last-1 and keeps those that become features. */
static bool collect_bucket(struct tr_arranger *x, uint32_t first, uint32_t last, bool values,
                           uint32_t *stamp, double *sum)
{
    uint64_t size = x->offset[last] - x->offset[first];
    struct bucket bucket = {.first = first, .last = last};
    bucket.outcome = tr_alloc(size, sizeof *bucket.outcome);
    bucket.filled = tr_alloc(last - first, sizeof *bucket.filled);
    bucket.value = values ? tr_alloc(size, sizeof *bucket.value) : NULL;
    bool ok = bucket.outcome && bucket.filled && (bucket.value || !values);
    if (ok) {
        fill_bucket(x, &bucket);
        fill_from_segments(x, &bucket);
        ok = push_bucket(x, &bucket, stamp, sum);
    }
    free(bucket.outcome);
    free(bucket.value);
    free(bucket.filled);
    return ok;
}

bool tr_find_seen_pairs(struct tr_arranger *x)
{
    const uint64_t *offset = x->offset;
    if (x->count == 0) {
        return true; // there can be billions of label pairs: allocate only if needed
    }
    bool counts = x->min_feature_count > 0;
    bool values = counts && (tr_occurrences_of(x->dataset, x->edge)->value.size > 0 ||
                             (x->segments && x->dataset->segment.value.size > 0));
    uint32_t *stamp = tr_alloc(x->outcomes, sizeof *stamp);
    double *sum = counts ? tr_alloc(x->outcomes, sizeof *sum) : NULL;
    bool ok = stamp && (sum || !counts);
    for (uint32_t first = 0, last; ok && first < x->count; first = last) {
        for (last = first + 1; last < x->count && offset[last + 1] - offset[first] <= MAX_BUCKET;
             last++) {}
        ok = collect_bucket(x, first, last, values, stamp, sum);
    }
    free(stamp);
    free(sum);
    return ok;
}

bool tr_make_all_pairs(struct tr_arranger *x)
{
    for (uint32_t a = 0; a < x->count; a++) {
        if (!(x->of_segment && x->of_segment[a] ? push_heads(x) : push_all(x))) {
            return false;
        }
        x->begin[a + 1] = x->outcome.size;
    }
    return true;
}

void tr_drop_empty(struct tr_arranger *x)
{
    uint64_t *offset = x->offset;
    for (uint32_t a = x->count; a-- > 0;) { // counts instead of running sums
        offset[a + 1] -= offset[a];
    }
    for (uint32_t a = 0; a < x->count; a++) {
        bool empty = x->begin[a + 1] == x->begin[a];
        offset[a + 1] = offset[a] + (empty ? 0 : offset[a + 1]);
    }
}

bool tr_find_weighted_pairs(struct tr_arranger *x, const float *weights)
{
    const struct tr_rows *rows = x->attributes->rows;
    for (uint32_t a = 0; a < x->count; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            if (weights[tr_rows_find(rows, a, rows->outcome[i])] != 0 &&
                !tr_push(&x->outcome, rows->outcome[i])) {
                return false;
            }
        }
        x->begin[a + 1] = x->outcome.size;
    }
    tr_drop_empty(x);
    return true;
}
