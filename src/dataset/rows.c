/* rows.c - the memory layout of the weights. */
#include "dataset/rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/row_kernels.h"

bool tr_rows_worth_dense(uint32_t outcomes, size_t pairs)
{
    size_t vectors = outcomes / 8 + 1;
    return pairs >= (vectors > 4 ? vectors : 4);
}

trellis_status tr_rows_create(uint32_t outcomes, uint32_t attributes, uint32_t dense,
                              uint64_t *begin, uint32_t *outcome, struct tr_rows **ret_rows,
                              trellis_error *error)
{
    struct tr_rows *rows = tr_alloc(1, sizeof *rows);
    *ret_rows = rows;
    if (!rows) {
        free(begin);
        free(outcome);
        return tr_fail_memory(error);
    }
    rows->outcomes = outcomes;
    rows->width = tr_row_width(outcomes);
    rows->attributes = attributes;
    rows->dense = dense;
    rows->begin = begin;
    rows->outcome = outcome;
    rows->mask_words = ((size_t)outcomes + 63) / 64;
    rows->mask = tr_alloc((size_t)dense * rows->mask_words, sizeof *rows->mask);
    if (!rows->mask) {
        tr_rows_destroy(rows);
        *ret_rows = NULL;
        return tr_fail_memory(error);
    }
    for (uint32_t a = 0; a < dense; a++) {
        uint64_t *mask = rows->mask + a * rows->mask_words;
        for (uint64_t i = begin[a]; i < begin[a + 1]; i++) {
            mask[outcome[i] / 64] |= (uint64_t)1 << (outcome[i] % 64);
        }
    }
    rows->size = (size_t)dense * rows->width + (size_t)(begin[attributes] - begin[dense]);
    return TRELLIS_OK;
}

trellis_status tr_rows_create_whole(uint32_t outcomes, uint32_t room, struct tr_rows **ret_rows,
                                    trellis_error *error)
{
    uint64_t *begin = tr_alloc((size_t)room + 1, sizeof *begin);
    *ret_rows = NULL;
    if (!begin || (room && tr_row_width(outcomes) > SIZE_MAX / 64 / room)) {
        free(begin);
        return tr_fail_memory(error);
    }
    trellis_status status = tr_rows_create(outcomes, room, room, begin, NULL, ret_rows, error);
    if (status) {
        return status;
    }
    struct tr_rows *rows = *ret_rows;
    for (size_t a = 0; a < room; a++) {
        uint64_t *mask = rows->mask + a * rows->mask_words;
        for (size_t word = 0; word < outcomes / 64; word++) {
            mask[word] = UINT64_MAX;
        }
        if (outcomes % 64) {
            mask[outcomes / 64] = ((uint64_t)1 << outcomes % 64) - 1;
        }
    }
    tr_rows_set_attributes(rows, 0);
    return TRELLIS_OK;
}

void tr_rows_set_attributes(struct tr_rows *rows, uint32_t attributes)
{
    rows->attributes = rows->dense = attributes;
}

trellis_status tr_rows_share(struct tr_rows *rows, uint32_t shared, uint32_t *shared_with,
                             trellis_error *error)
{
    size_t dense = rows->dense, pairs = rows->size - dense * rows->width;
    rows->shared = shared;
    rows->shared_with = shared_with;
    if (shared == 0) {
        return TRELLIS_OK;
    }
    /* One more, because the last attribute may have no pairs. */
    rows->multiplicity = tr_alloc(dense + pairs + 1, sizeof *rows->multiplicity);
    if (!rows->multiplicity) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < dense + pairs; i++) {
        rows->multiplicity[i] = 1;
    }
    for (uint32_t i = 0; i < shared; i++) {
        uint32_t a = shared_with[i];
        uint64_t begin = rows->begin[a] - rows->begin[dense];
        size_t from = a < dense ? a : dense + begin;
        size_t count = a < dense ? 1 : rows->begin[a + 1] - rows->begin[a];
        for (size_t k = from; k < from + count; k++) {
            rows->multiplicity[k]++;
        }
    }
    return TRELLIS_OK;
}

void tr_rows_destroy(struct tr_rows *rows)
{
    if (rows) {
        free(rows->shared_with);
        free(rows->multiplicity);
        free(rows->begin);
        free(rows->outcome);
        free(rows->mask);
        free(rows);
    }
}

size_t tr_rows_pairs(const struct tr_rows *rows)
{
    return rows->begin[rows->attributes];
}

size_t tr_rows_features(const struct tr_rows *rows)
{
    size_t count = tr_rows_pairs(rows);
    for (uint32_t i = 0; i < rows->shared; i++) {
        count += rows->begin[rows->shared_with[i] + 1] - rows->begin[rows->shared_with[i]];
    }
    return count;
}

size_t tr_rows_find(const struct tr_rows *rows, uint32_t attribute, uint32_t outcome)
{
    if (outcome >= rows->outcomes) {
        return SIZE_MAX;
    }
    if (attribute < rows->dense) {
        uint64_t word = rows->mask[attribute * rows->mask_words + outcome / 64];
        return word >> (outcome % 64) & 1 ? (size_t)attribute * rows->width + outcome : SIZE_MAX;
    }
    uint64_t low = rows->begin[attribute], high = rows->begin[attribute + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (rows->outcome[middle] < outcome) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < rows->begin[attribute + 1] && rows->outcome[low] == outcome;
    return found ? tr_rows_at(rows, attribute) + (low - rows->begin[attribute]) : SIZE_MAX;
}

/* sqrt(k) for dense row or pair i, which k attributes use. */
static inline double root_multiplicity(const struct tr_rows *rows, size_t i)
{
    return rows->multiplicity ? sqrt((double)rows->multiplicity[i]) : 1;
}

/* Whether an attribute has a weight for every outcome, so that outcome[i] need not be looked at. */
static inline bool is_whole(const struct tr_rows *rows, size_t attribute)
{
    return rows->begin[attribute + 1] - rows->begin[attribute] == rows->outcomes;
}

void tr_rows_spread(const struct tr_rows *rows, const double *features, uint32_t from, uint32_t end,
                    float *weights)
{
    uint32_t dense = rows->dense;
    for (uint32_t a = from; a < end && a < dense; a++) {
        float *row = weights + (size_t)a * rows->width;
        uint64_t begin = rows->begin[a];
        double root = root_multiplicity(rows, a);
        if (is_whole(rows, a)) {
            for (uint32_t j = 0; j < rows->outcomes; j++) {
                row[j] = (float)(root * features[begin + j]);
            }
        } else {
            for (uint64_t i = begin; i < rows->begin[a + 1]; i++) {
                row[rows->outcome[i]] = (float)(root * features[i]);
            }
        }
    }
    uint64_t first = rows->begin[dense], last = end > dense ? rows->begin[end] : first;
    float *pairs = weights + (size_t)dense * rows->width;
    for (uint64_t i = from > dense ? rows->begin[from] : first; i < last; i++) {
        pairs[i - first] = (float)(root_multiplicity(rows, dense + (i - first)) * features[i]);
    }
}

/* The dense attribute that has a feature, or `dense`. */
static uint32_t dense_at(const struct tr_rows *rows, size_t feature)
{
    uint32_t low = 0, high = rows->dense;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->begin[middle + 1] <= feature) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t tr_rows_round(const struct tr_rows *rows, const double *features, size_t first, size_t end,
                     float *values)
{
    size_t i = first, active = 0, pairs = rows->begin[rows->dense];
    uint32_t a = dense_at(rows, first);
    for (; i < end; i++) {
        while (a < rows->dense && i >= rows->begin[a + 1]) {
            a++;
        }
        size_t row = i < pairs ? a : rows->dense + (i - pairs);
        float value = (float)(root_multiplicity(rows, row) * features[i - first]);
        values[i - first] = value;
        active += value == 0 ? 0 : rows->multiplicity ? (size_t)rows->multiplicity[row] : 1;
    }
    return active;
}

void tr_rows_place(const struct tr_rows *rows, const float *values, uint32_t from, uint32_t end,
                   float *weights)
{
    uint32_t dense = rows->dense;
    for (uint32_t a = from; a < end && a < dense; a++) {
        float *row = weights + (size_t)a * rows->width;
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            row[rows->outcome[i]] = values[i];
        }
    }
    uint64_t first = rows->begin[dense], last = end > dense ? rows->begin[end] : first;
    uint64_t begin = from > dense ? rows->begin[from] : first;
    if (begin < last) {
        memcpy(weights + (size_t)dense * rows->width + (begin - first), values + begin,
               (last - begin) * sizeof *weights);
    }
}

void tr_rows_gather(const struct tr_rows *rows, const float *weights, double *features)
{
    for (uint32_t a = 0; a < rows->dense; a++) {
        const float *row = weights + (size_t)a * rows->width;
        double root = root_multiplicity(rows, a);
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            features[i] += (double)row[rows->outcome[i]] / root;
        }
    }
    uint64_t first = rows->begin[rows->dense], last = rows->begin[rows->attributes];
    const float *pairs = weights + (size_t)rows->dense * rows->width;
    for (uint64_t i = first; i < last; i++) {
        features[i] += (double)pairs[i - first] /
                       root_multiplicity(rows, rows->dense + (i - first));
    }
}

/* How many attributes use weights[at], where any row is shared. */
static inline float weight_multiplicity(const struct tr_rows *rows, size_t at)
{
    size_t dense = (size_t)rows->dense * rows->width;
    return rows->multiplicity[at < dense ? at / rows->width : rows->dense + (at - dense)];
}

double tr_rows_norm(const struct tr_rows *rows, const float *weights)
{
    double sum = 0;
    for (size_t j = 0; j < rows->size; j++) {
        double square = (double)weights[j] * (double)weights[j];
        sum += rows->multiplicity ? square / (double)weight_multiplicity(rows, j) : square;
    }
    return sum;
}

size_t tr_rows_active(const struct tr_rows *rows, const float *weights, uint32_t from, uint32_t end)
{
    size_t active = 0;
    uint32_t a = from;
    for (; a < end && a < rows->dense; a++) {
        size_t here = 0;
        for (size_t j = 0; j < rows->width; j++) {
            here += weights[(size_t)a * rows->width + j] != 0;
        }
        active += here * (size_t)tr_rows_multiplicity(rows, a);
    }
    size_t at = a < end ? tr_rows_at(rows, a) : 0, stop = a < end ? tr_rows_at(rows, end) : 0;
    for (size_t dense = (size_t)rows->dense * rows->width; at < stop; at++) {
        float multiplicity = rows->multiplicity ? rows->multiplicity[rows->dense + (at - dense)]
                                                : 1;
        active += weights[at] != 0 ? (size_t)multiplicity : 0;
    }
    return active;
}

void tr_rows_divide_shared(const struct tr_rows *rows, float *weights)
{
    for (size_t j = 0; rows->multiplicity && j < rows->size; j++) {
        weights[j] /= weight_multiplicity(rows, j);
    }
}

/* ---- marks ----------------------------------------------------------------------------------- */

size_t tr_rows_mark_words(const struct tr_rows *rows)
{
    size_t pairs = (size_t)(rows->begin[rows->attributes] - rows->begin[rows->dense]);
    return (rows->dense + (pairs + TR_MARKED - 1) / TR_MARKED + 63) / 64;
}

void tr_rows_mark(const struct tr_rows *rows, const uint32_t *attributes, size_t count,
                  uint64_t *marks)
{
    uint64_t first = rows->begin[rows->dense];
    for (size_t k = 0; k < count; k++) {
        uint32_t a = attributes[k];
        uint64_t begin = rows->begin[a], end = rows->begin[a + 1];
        bool dense = a < rows->dense;
        size_t bit = dense ? a : rows->dense + (size_t)((begin - first) / TR_MARKED);
        size_t last = dense ? a : rows->dense + (size_t)((end - 1 - first) / TR_MARKED);
        if (begin == end) {
            continue;
        }
        for (; bit <= last; bit++) {
            marks[bit / 64] |= (uint64_t)1 << (bit % 64);
        }
    }
}

void tr_rows_take(const struct tr_rows *rows, uint32_t attribute, const double *values,
                  size_t first, size_t end, double *features)
{
    uint64_t begin = rows->begin[attribute], last = rows->begin[attribute + 1];
    if (begin == last) {
        return;
    }
    size_t at = attribute < rows->dense ? attribute
                                        : rows->dense + (size_t)(begin - rows->begin[rows->dense]);
    double root = root_multiplicity(rows, at);
    for (uint64_t i = begin > first ? begin : first; i < last && i < end; i++) {
        features[i] += root * values[i - begin];
    }
}

static void take_dense(const struct tr_rows *rows, const struct tr_row_kernels *kernels,
                       size_t attribute, float *gradient, double grid, double *features)
{
    float *row = gradient + attribute * rows->width;
    uint64_t begin = rows->begin[attribute], end = rows->begin[attribute + 1];
    double root = root_multiplicity(rows, attribute);
    if (is_whole(rows, attribute)) {
        kernels->take(features + begin, row, root, grid, rows->outcomes);
    } else {
        for (uint64_t i = begin; i < end; i++) {
            features[i] += tr_on_grid(root * (double)row[rows->outcome[i]], grid);
        }
    }
    memset(row, 0, rows->width * sizeof *row);
}

static void take_pairs(const struct tr_rows *rows, const struct tr_row_kernels *kernels,
                       size_t group, float *gradient, double grid, double *features)
{
    uint64_t first = rows->begin[rows->dense], begin = first + group * TR_MARKED;
    uint64_t end = begin + TR_MARKED, last = rows->begin[rows->attributes];
    float *pairs = gradient + (size_t)rows->dense * rows->width + (begin - first);
    end = end < last ? end : last;
    if (rows->multiplicity) {
        kernels->take_shared(features + begin, pairs,
                             rows->multiplicity + rows->dense + (begin - first), grid, end - begin);
    } else {
        kernels->take(features + begin, pairs, 1, grid, end - begin);
    }
}

void tr_rows_take_marked(const struct tr_rows *rows, const uint64_t *marks, float *gradient,
                         double grid, double *features)
{
    const struct tr_row_kernels *kernels = tr_row_kernels();
    size_t words = tr_rows_mark_words(rows);
    for (size_t i = 0; i < words; i++) {
        for (uint64_t left = marks[i]; left; left &= left - 1) {
            size_t bit = i * 64 + (size_t)__builtin_ctzll(left);
            if (bit < rows->dense) {
                take_dense(rows, kernels, bit, gradient, grid, features);
            } else {
                take_pairs(rows, kernels, bit - rows->dense, gradient, grid, features);
            }
        }
    }
}
