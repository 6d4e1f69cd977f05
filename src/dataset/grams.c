/* grams.c - the label n-grams of a corpus: its transition features.
 *
 * A gram is coded as one number, label by label with a base of labels + 2, so that collecting the
 * distinct ones is filling a set of numbers, and sorting them gives the fixed order that model
 * files and weights rely on: short before long, then by label. Where a label is open, every choice
 * among the labels listed for it is a gram; if it may have any label, there is none.
 */
#include "dataset/dataset.h"

#include <math.h>

#include "base/ranks.h"

enum { RECENT = 1024 };

struct gram_set {
    uint32_t labels;
    uint32_t longest; // labels of the longest gram
    bool counted;     // grams are runs of one label and what follows: c .. c d
    size_t threshold; // number of codes at which duplicates are removed
    TR_ARRAY(__uint128_t) codes;
    __uint128_t recent[RECENT]; // some of these codes, each where its remainder is; 0: none
};

static __uint128_t code_of(const struct gram_set *set, const struct tr_gram *gram)
{
    __uint128_t code = gram->length;
    for (uint32_t i = 0; i < set->longest; i++) {
        code = code * (set->labels + 2) + (i < gram->length ? gram->label[i] : 0);
    }
    return code;
}

static struct tr_gram gram_of(const struct gram_set *set, __uint128_t code)
{
    struct tr_gram gram = {0};
    for (uint32_t i = set->longest; i-- > 0;) {
        gram.label[i] = (uint16_t)(code % (set->labels + 2));
        code /= set->labels + 2;
    }
    gram.length = (uint8_t)code;
    return gram;
}

static int by_code(const void *a, const void *b)
{
    __uint128_t x = *(const __uint128_t *)a, y = *(const __uint128_t *)b;
    return (x > y) - (x < y);
}

static void sort_distinct(struct gram_set *set)
{
    if (set->codes.size) {
        qsort(set->codes.at, set->codes.size, sizeof *set->codes.at, by_code);
    }
    size_t kept = 0;
    for (size_t i = 0; i < set->codes.size; i++) {
        if (kept == 0 || set->codes.at[i] != set->codes.at[kept - 1]) {
            set->codes.at[kept++] = set->codes.at[i];
        }
    }
    set->codes.size = kept;
}

/* Adds a code; duplicates are removed whenever the number of codes has doubled. Most are recent. */
static bool add(struct gram_set *set, const struct tr_gram *gram)
{
    __uint128_t code = code_of(set, gram), *recent = &set->recent[code % RECENT];
    if (*recent == code) {
        return true;
    }
    *recent = code;
    if (set->codes.size >= set->threshold) {
        sort_distinct(set);
        set->threshold = set->codes.size * 2 + 65536;
    }
    return tr_push(&set->codes, code);
}

/* A sequence where some labels are open. */
enum { MAX_CHOICES = 4096 }; // ways to read one gram; more are left out

/* All ways to read the gram of positions i - back .. i. */
static bool add_choices(struct gram_set *set, const struct tr_dataset *dataset, size_t first,
                        size_t n, size_t i, uint32_t back)
{
    const uint16_t ends[] = {(uint16_t)set->labels, (uint16_t)(set->labels + 1)};
    const uint16_t *labels[TR_MAX_ORDER + 1];
    size_t count[TR_MAX_ORDER + 1], ways = 1;
    for (uint32_t k = 0; k <= back; k++) {
        ptrdiff_t position = (ptrdiff_t)(i + k) - (ptrdiff_t)back;
        bool outside = position < 0 || (size_t)position >= n;
        labels[k] = &ends[position < 0 ? 0 : 1];
        count[k] = outside ? 1 : tr_dataset_open(dataset, first + (size_t)position, &labels[k]);
        ways *= count[k];
        if (ways > MAX_CHOICES) {
            return true;
        }
    }
    for (size_t way = 0; way < ways; way++) {
        struct tr_gram gram = {.length = (uint8_t)(back + 1)};
        bool counted = true;
        for (size_t k = 0, rest = way; k <= back; rest /= count[k++]) {
            gram.label[k] = labels[k][rest % count[k]];
            counted = counted && (k == back || gram.label[k] == gram.label[0]);
        }
        if ((!set->counted || back < 2 || counted) && !add(set, &gram)) {
            return false;
        }
    }
    return true;
}

static bool add_open_grams_at(struct gram_set *set, const struct tr_dataset *dataset, size_t first,
                              size_t n, size_t i, struct tr_step_choice choice)
{
    for (uint32_t back = 1; back < set->longest; back++) {
        bool from_start = back == i + 1;
        if (back > i + 1 || (from_start && !choice.start) || (i == n && !choice.end) ||
            (set->counted && back > 1 && from_start)) {
            break;
        }
        if ((from_start || i == n || choice.between) &&
            !add_choices(set, dataset, first, n, i, back)) {
            return false;
        }
    }
    return true;
}

/* The grams that end at position i of a sequence, i = n being its end. */
static bool add_grams_at(struct gram_set *set, const uint16_t *gold, size_t n, size_t i,
                         struct tr_step_choice choice)
{
    const uint32_t labels = set->labels;
    for (uint32_t back = 1; back < set->longest; back++) {
        bool from_start = back == i + 1;
        if (back > i + 1 || (from_start && !choice.start) || (i == n && !choice.end) ||
            (set->counted && back > 1 && (from_start || gold[i - back] != gold[i - 1]))) {
            break;
        }
        if (!from_start && i < n && !choice.between) {
            continue;
        }
        struct tr_gram gram = {.length = (uint8_t)(back + 1)};
        for (uint32_t k = 0; k <= back; k++) {
            ptrdiff_t position = (ptrdiff_t)(i + k) - (ptrdiff_t)back;
            gram.label[k] = (uint16_t)(position < 0            ? labels
                                       : (size_t)position >= n ? labels + 1
                                                               : gold[position]);
        }
        if (!add(set, &gram)) {
            return false;
        }
    }
    return true;
}

static bool add_all_labels(struct gram_set *set)
{
    for (uint32_t label = 0; label < set->labels; label++) {
        if (!add(set, &(struct tr_gram){1, {(uint16_t)label}})) {
            return false;
        }
    }
    return true;
}

/* How many grams of a length there are: first the start or a label, last a label or the end. */
static double possible(const struct gram_set *set, uint32_t length)
{
    return pow(set->labels, length - 2) * pow(set->labels + 1.0, 2);
}

/* All grams of a length of 2 or more, as far as they are chosen. */
static bool add_all_grams(struct gram_set *set, struct tr_step_choice choice, uint32_t length)
{
    const uint64_t labels = set->labels, all = (uint64_t)possible(set, length);
    for (uint64_t number = 0; number < all; number++) {
        struct tr_gram gram = {.length = (uint8_t)length};
        uint64_t rest = number;
        gram.label[length - 1] = (uint16_t)(rest % (labels + 1));
        rest /= labels + 1;
        for (uint32_t k = length - 2; k > 0; k--, rest /= labels) {
            gram.label[k] = (uint16_t)(rest % labels);
        }
        gram.label[0] = (uint16_t)rest; // `labels` is the start
        bool starts = rest == labels, ends = gram.label[length - 1] == labels;
        gram.label[length - 1] += ends; // `labels` + 1 is the end
        bool wanted = (!starts || choice.start) && (!ends || choice.end) &&
                      (starts || ends || choice.between) && !(length == 2 && starts && ends);
        if (wanted && !add(set, &gram)) {
            return false;
        }
    }
    return true;
}

/* Adds the grams of all ranks, one after the other. */
static trellis_status unite(struct gram_set *set, struct tr_ranks *ranks, trellis_error *error)
{
    size_t words = sizeof(__uint128_t) / sizeof(uint32_t), mine = set->codes.size;
    trellis_status status = TRELLIS_OK;
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        size_t count = r == ranks->rank ? mine * words : 0, before = set->codes.size;
        uint32_t *numbers = tr_alloc(count, sizeof *numbers);
        if (numbers && count) {
            memcpy(numbers, set->codes.at, count * sizeof *numbers);
        }
        status = tr_ranks_agree(ranks, numbers ? TRELLIS_OK : tr_fail_memory(error), error);
        if (!status) {
            status = tr_ranks_give(ranks, r, &numbers, &count, error);
        }
        bool adds = !status && r != ranks->rank && count;
        if (adds && !tr_reserve(&set->codes, before + count / words)) {
            status = tr_fail_memory(error);
        } else if (adds) {
            memcpy(set->codes.at + before, numbers, count * sizeof *numbers);
            set->codes.size += count / words;
        }
        free(numbers);
    }
    sort_distinct(set);
    return tr_ranks_agree(ranks, status, error);
}

trellis_status tr_dataset_grams(const struct tr_dataset *dataset, const struct tr_graph_plan *plan,
                                struct tr_step_choice choice, uint32_t all_up_to,
                                struct tr_ranks *ranks, struct tr_gram **ret_grams,
                                size_t *ret_count, trellis_error *error)
{
    struct gram_set set = {.labels = dataset->label_count,
                           .longest = tr_graph_longest(plan),
                           .counted = plan->count_cap > 1,
                           .threshold = 65536};
    *ret_grams = NULL;
    *ret_count = 0;
    all_up_to = all_up_to < set.longest ? all_up_to : set.longest;
    if (log2(set.labels + 2.0) * set.longest > 120 ||
        (all_up_to > 2 && possible(&set, all_up_to) > TR_MAX_STEPS)) {
        return tr_fail(error, TRELLIS_LIMIT, "order %u is too high for %u labels", plan->order,
                       set.labels);
    }
    struct tr_step_choice ends = {.start = choice.start, .end = choice.end};
    bool ok = !choice.alone || (add_all_labels(&set) && add_all_grams(&set, ends, 2));
    for (uint32_t length = 2; ok && length <= all_up_to; length++) {
        ok = add_all_grams(&set, choice, length);
    }
    for (size_t s = 0; ok && s < dataset->sequences; s++) {
        const uint16_t *gold = dataset->gold.at + dataset->sequence.at[s];
        size_t n = dataset->sequence.at[s + 1] - dataset->sequence.at[s];
        bool partial = tr_dataset_is_partial(dataset, s);
        for (size_t i = 0; ok && n > 0 && i <= n; i++) {
            ok = partial ? add_open_grams_at(&set, dataset, dataset->sequence.at[s], n, i, choice)
                         : add_grams_at(&set, gold, n, i, choice);
        }
    }
    sort_distinct(&set);
    trellis_status status = ok ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && ranks) {
        status = unite(&set, ranks, error);
    }
    struct tr_gram *grams = status ? NULL : tr_alloc(set.codes.size, sizeof *grams);
    if (!grams) {
        free(set.codes.at);
        return status ? status : tr_fail_memory(error);
    }
    for (size_t i = 0; i < set.codes.size; i++) {
        grams[i] = gram_of(&set, set.codes.at[i]);
    }
    *ret_grams = grams;
    *ret_count = set.codes.size;
    free(set.codes.at);
    return TRELLIS_OK;
}

static int by_labels(const void *a, const void *b)
{
    const struct tr_gram *x = a, *y = b;
    int difference = (x->length > y->length) - (x->length < y->length);
    for (int i = 0; !difference && i < x->length; i++) {
        difference = (x->label[i] > y->label[i]) - (x->label[i] < y->label[i]);
    }
    return difference;
}

size_t tr_gram_find(const struct tr_gram *grams, size_t count, const struct tr_gram *gram)
{
    const struct tr_gram *found = count ? bsearch(gram, grams, count, sizeof *grams, by_labels)
                                        : NULL;
    return found ? (size_t)(found - grams) : SIZE_MAX;
}

/* Counts the grams that end at position i of a sequence, i = n being its end. */
static void count_grams_at(const struct tr_gram *grams, size_t count, uint32_t labels,
                           const uint16_t *gold, size_t n, size_t i, uint64_t *seen)
{
    for (size_t back = 1; back <= TR_MAX_ORDER && back <= i + 1; back++) {
        struct tr_gram gram = {.length = (uint8_t)(back + 1)};
        for (size_t k = 0; k <= back; k++) {
            ptrdiff_t position = (ptrdiff_t)(i + k) - (ptrdiff_t)back;
            gram.label[k] = (uint16_t)(position < 0            ? labels
                                       : (size_t)position >= n ? labels + 1
                                                               : gold[position]);
        }
        size_t found = tr_gram_find(grams, count, &gram);
        if (found != SIZE_MAX) {
            seen[found]++;
        }
    }
}

trellis_status tr_dataset_frequent_grams(const struct tr_dataset *dataset, double minimum,
                                         struct tr_gram *grams, size_t *count, trellis_error *error)
{
    uint64_t *seen = tr_alloc(*count, sizeof *seen);
    size_t kept = 0;
    if (!seen) {
        return tr_fail_memory(error);
    }
    for (size_t s = 0; s < dataset->sequences; s++) {
        const uint16_t *gold = dataset->gold.at + dataset->sequence.at[s];
        size_t n = dataset->sequence.at[s + 1] - dataset->sequence.at[s];
        for (size_t i = 0; n > 0 && i <= n; i++) {
            count_grams_at(grams, *count, dataset->label_count, gold, n, i, seen);
        }
    }
    for (size_t i = 0; i < *count; i++) {
        if (grams[i].length < 2 || (double)seen[i] >= minimum) {
            grams[kept++] = grams[i];
        }
    }
    *count = kept;
    free(seen);
    return TRELLIS_OK;
}
