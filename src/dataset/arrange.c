/* arrange.c - which pairs become features, and in which order the attributes are numbered.
 *
 *     occurrences -> pairs of each attribute -> dense or sparse -> numbers -> occurrences rewritten
 *
 * A token whose label is open counts with every label listed for it, and with none if it may have
 * any label. The order is: dense before sparse, frequent before rare, first seen before later.
 * Within a token the occurrences are sorted, so that the dense rows are added in one run without a
 * mispredicted branch.
 */
#include "dataset/share.h"

#include "base/pool.h"

enum { MAX_BUCKET = 1 << 25 }; // occurrences collected at once, to bound the memory

/* The renumbering of the attributes of one kind, from the order of reading to the final one. */
struct arranger {
    struct tr_dataset *dataset;
    struct tr_dataset *dev; // may be NULL
    bool edge;              // edge attributes instead of node attributes
    struct tr_attributes *attributes;
    uint32_t min_count;
    double min_feature_count;           // 0: every pair that was seen becomes a feature
    const bool *whole;                  // [count] those paired with every label; NULL: none
    const struct tr_segments *segments; // of node attributes; NULL: none
    bool *of_segment;                   // [count] attributes of segments; NULL without them
    struct tr_pool *pool;               // may be NULL
    uint32_t count;                     // of the attributes as read
    uint32_t width;                     // of a row of labels
    uint32_t outcomes;                  // the highest outcome + 1

    uint64_t *offset;           // [count + 1] occurrences of each attribute, as a running sum
    uint64_t *begin;            // [count + 1] the pairs of each attribute in `outcome`
    TR_ARRAY(uint32_t) outcome; // sorted within an attribute
    uint32_t *first;            // [count] the owner of the row it uses (share.h); NULL: its own
    uint32_t *order;            // [kept] the old number of each attribute that has a row
    uint32_t *number;           // [count] the new number, TR_NONE if dropped
    uint32_t *shared_with;      // [shared] see struct tr_rows
    uint32_t kept, dense, shared;
};

static struct tr_occurrences *occurrences_of(struct tr_dataset *dataset, bool edge)
{
    return edge ? &dataset->edge : &dataset->node;
}

static uint32_t outcome_count(const struct tr_dataset *dataset, bool edge)
{
    uint32_t labels = dataset->label_count;
    return edge && labels ? (labels - 1) * tr_row_width(labels) + labels : labels;
}

/* Without occurrences, pairs or an order so far; false on allocation failure. */
static bool arranger_begin(struct arranger *x, struct tr_dataset *dataset, bool edge,
                           struct tr_attributes *attributes, uint32_t count)
{
    *x = (struct arranger){.dataset = dataset,
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

static void arranger_end(struct arranger *x)
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

/* ---- pairs ----------------------------------------------------------------------------------- */

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
static bool push_heads(struct arranger *x)
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
static bool push_all(struct arranger *x)
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
static void count_segments(const struct arranger *x, uint64_t *offset)
{
    const struct tr_occurrences *occurrences = &x->dataset->segment;
    for (size_t k = 0; !x->edge && k < occurrences->attribute.size; k++) {
        offset[occurrences->attribute.at[k] + 1]++;
    }
}

/* How often each attribute was seen with an outcome, as a running sum. */
static uint64_t *outcome_offsets(const struct arranger *x)
{
    const struct tr_occurrences *occurrences = occurrences_of(x->dataset, x->edge);
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

/* How often each attribute occurs, as a running sum. The counts of the index may be capped. */
static uint64_t *occurrence_offsets(const struct arranger *x)
{
    const struct tr_occurrences *occurrences = occurrences_of(x->dataset, x->edge);
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
static void fill_bucket(const struct arranger *x, const struct bucket *bucket)
{
    const struct tr_occurrences *occurrences = occurrences_of(x->dataset, x->edge);
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
static void fill_from_segments(const struct arranger *x, const struct bucket *bucket)
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
static bool push_distinct(struct arranger *x, const struct bucket *bucket, uint32_t attribute,
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
static bool push_frequent(struct arranger *x, const struct bucket *bucket, uint32_t attribute,
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
static bool push_bucket(struct arranger *x, const struct bucket *bucket, uint32_t *stamp,
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

/* The pairs that were seen. */
static bool find_seen_pairs(struct arranger *x)
{
    const uint64_t *offset = x->offset;
    if (x->count == 0) {
        return true; // there can be billions of label pairs: allocate only if needed
    }
    bool counts = x->min_feature_count > 0;
    bool values = counts && (occurrences_of(x->dataset, x->edge)->value.size > 0 ||
                             (x->segments && x->dataset->segment.value.size > 0));
    uint32_t *stamp = tr_alloc(x->outcomes, sizeof *stamp);
    double *sum = counts ? tr_alloc(x->outcomes, sizeof *sum) : NULL;
    bool ok = stamp && (sum || !counts);
    for (uint32_t first = 0, last; ok && first < x->count; first = last) {
        for (last = first + 1; last < x->count && offset[last + 1] - offset[first] <= MAX_BUCKET;
             last++) {}
        struct bucket bucket = {.first = first, .last = last};
        bucket.outcome = tr_alloc(offset[last] - offset[first], sizeof *bucket.outcome);
        bucket.filled = tr_alloc(last - first, sizeof *bucket.filled);
        bucket.value = values ? tr_alloc(offset[last] - offset[first], sizeof *bucket.value) : NULL;
        ok = bucket.outcome && bucket.filled && (bucket.value || !values);
        if (ok) {
            fill_bucket(x, &bucket);
            fill_from_segments(x, &bucket);
            ok = push_bucket(x, &bucket, stamp, sum);
        }
        free(bucket.outcome);
        free(bucket.value);
        free(bucket.filled);
    }
    free(stamp);
    free(sum);
    return ok;
}

/* Every label or label pair for every attribute. */
static bool make_all_pairs(struct arranger *x)
{
    for (uint32_t a = 0; a < x->count; a++) {
        if (!(x->of_segment && x->of_segment[a] ? push_heads(x) : push_all(x))) {
            return false;
        }
        x->begin[a + 1] = x->outcome.size;
    }
    return true;
}

/* An attribute that has no pair left is given no occurrence, so that the minimum count of 1 drops
 * it. */
static void drop_empty(struct arranger *x)
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

/* The pairs whose weight is not 0. */
static bool find_weighted_pairs(struct arranger *x, const float *weights)
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
    drop_empty(x);
    return true;
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
static bool choose_order(struct arranger *x)
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
static bool number_attributes(struct arranger *x)
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

/* ---- occurrences ----------------------------------------------------------------------------- */

/* Sorts the attributes of one token together with their values. Shell's sort: usually there are
 * twenty of them, and ten thousand at worst. */
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

/* Rewrites the occurrences with the new numbers, without the dropped ones, sorted within a
 * token. */
static void renumber_kept(struct tr_occurrences *occurrences, size_t tokens, const uint32_t *number)
{
    uint32_t *attribute = occurrences->attribute.at, from = 0, out = 0;
    float *value = occurrences->value.size ? occurrences->value.at : NULL;
    for (size_t t = 0; t < tokens; t++) {
        uint32_t end = occurrences->begin.at[t + 1], first = out;
        for (; from < end; from++) {
            uint32_t a = number[attribute[from]];
            if (a != TR_NONE) {
                if (value) {
                    value[out] = value[from];
                }
                attribute[out++] = a;
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

struct renumbering {
    struct tr_occurrences *occurrences;
    const uint32_t *number;
};

static double renumber_piece(void *user, size_t first, size_t end)
{
    const struct renumbering *x = user;
    uint32_t *attribute = x->occurrences->attribute.at;
    for (uint32_t k = x->occurrences->begin.at[first]; k < x->occurrences->begin.at[end]; k++) {
        attribute[k] = x->number[attribute[k]];
    }
    tr_occurrences_sort(x->occurrences, first, end);
    return 0;
}

/* Where no attribute is dropped, tokens do not depend on each other and the threads share them. */
static void renumber_occurrences(const struct arranger *x)
{
    struct tr_occurrences *occurrences = occurrences_of(x->dataset, x->edge);
    if (x->kept + x->shared == x->count) {
        struct renumbering renumbering = {occurrences, x->number};
        tr_pool_sum(x->pool, x->dataset->tokens, renumber_piece, &renumbering);
    } else {
        renumber_kept(occurrences, x->dataset->tokens, x->number);
    }
    if (x->dev) {
        renumber_kept(occurrences_of(x->dev, x->edge), x->dev->tokens, x->number);
    }
    if (!x->edge && x->dataset->max_segment) {
        renumber_kept(&x->dataset->segment, x->dataset->tokens * x->dataset->max_segment,
                      x->number);
    }
    if (!x->edge && x->dev && x->dev->max_segment) {
        renumber_kept(&x->dev->segment, x->dev->tokens * x->dev->max_segment, x->number);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Replaces the rows of the attributes by rows of the pairs in the new order. */
static trellis_status make_rows(struct arranger *x, trellis_error *error)
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
static trellis_status finalise_order(struct arranger *x, trellis_error *error)
{
    if (!choose_order(x) || !number_attributes(x)) {
        return tr_fail_memory(error);
    }
    renumber_occurrences(x);
    if (!tr_attribute_index_renumber(&x->attributes->index, x->number, x->kept + x->shared)) {
        return tr_fail_memory(error);
    }
    return make_rows(x, error);
}

/* Finds which attributes share a row and leaves only the first of each group in the corpus. */
static bool share_rows(struct arranger *x)
{
    struct tr_occurrences *occurrences = occurrences_of(x->dataset, x->edge);
    x->first = tr_share_find(occurrences, x->dataset->tokens, x->count);
    if (x->first) {
        tr_share_drop(occurrences, x->dataset->tokens, x->first);
    }
    for (uint32_t a = 0; x->first && x->of_segment && a < x->count; a++) {
        x->first[a] = x->of_segment[a] ? a : x->first[a]; // they occur at no token
    }
    return x->first;
}

/* Which attributes are those of segments. */
static bool mark_segments(struct arranger *x)
{
    const struct tr_occurrences *occurrences = &x->dataset->segment;
    x->of_segment = tr_alloc(x->count, sizeof *x->of_segment);
    for (size_t k = 0; x->of_segment && k < occurrences->attribute.size; k++) {
        x->of_segment[occurrences->attribute.at[k]] = true;
    }
    return x->of_segment;
}

static trellis_status arrange(struct tr_dataset *dataset, bool edge,
                              struct tr_attributes *attributes, const struct tr_arrangement *plan,
                              trellis_error *error)
{
    struct arranger x;
    uint32_t count = (uint32_t)attributes->index.entries.size;
    bool ok = arranger_begin(&x, dataset, edge, attributes, count);
    x.min_count = plan->min_count;
    x.min_feature_count = plan->min_feature_count;
    x.whole = edge ? NULL : plan->whole;
    x.pool = plan->pool;
    if (ok && !edge && plan->segments) {
        x.segments = plan->segments;
        ok = mark_segments(&x);
    }
    if (ok && plan->share && occurrences_of(dataset, edge)->value.size == 0 && count > 0) {
        ok = share_rows(&x);
    }
    if (ok) {
        bool by_outcome = dataset->open_begin.size && !plan->all_features;
        x.offset = by_outcome ? outcome_offsets(&x) : occurrence_offsets(&x);
        ok = x.offset && (plan->all_features ? make_all_pairs(&x) : find_seen_pairs(&x));
    }
    if (ok && x.min_feature_count > 0) {
        drop_empty(&x);
    }
    trellis_status status = ok ? finalise_order(&x, error) : tr_fail_memory(error);
    arranger_end(&x);
    return status;
}

trellis_status tr_dataset_prune(struct tr_dataset *dataset, struct tr_dataset *dev, bool edge,
                                struct tr_attributes *attributes, const float *weights,
                                trellis_error *error)
{
    struct arranger x;
    bool ok = arranger_begin(&x, dataset, edge, attributes, attributes->rows->attributes);
    x.dev = dev;
    x.min_count = 1;
    if (ok) {
        x.offset = occurrence_offsets(&x);
        ok = x.offset && find_weighted_pairs(&x, weights);
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
