/* shared_labels.c - labels and words of ranks of which each has read its share of the sequences alone.
 *
 * The shares lie one behind the other, so the labels of all are numbered in the order of their first
 * occurrence by taking those of rank 0 in their order, then those of rank 1, and so on.
 */
#include "base/ranks.h"
#include "dataset/dataset.h"

enum { WORD = sizeof(uint32_t) };

/* The labels as they travel: for each its size and its bytes, filled up. */
static bool pack_labels(const struct tr_intern *labels, uint32_t **ret_numbers, size_t *ret_size)
{
    TR_ARRAY(uint32_t) numbers = {0};
    bool ok = tr_reserve(&numbers, 1);
    for (uint32_t i = 0; ok && i < tr_intern_count(labels); i++) {
        trellis_text text = tr_intern_text(labels, i);
        size_t words = (text.size + WORD - 1) / WORD;
        ok = text.size <= UINT32_MAX && tr_reserve(&numbers, numbers.size + 1 + words);
        if (ok) {
            numbers.at[numbers.size] = (uint32_t)text.size;
            memset(numbers.at + numbers.size + 1, 0, words * WORD);
            if (text.size) {
                memcpy(numbers.at + numbers.size + 1, text.data, text.size);
            }
            numbers.size += 1 + words;
        }
    }
    *ret_numbers = numbers.at;
    *ret_size = numbers.size;
    return ok;
}

static bool add_labels(struct tr_intern *labels, const uint32_t *numbers, size_t size)
{
    bool ok = true;
    for (size_t i = 0; ok && i < size; i += 1 + (numbers[i] + WORD - 1) / WORD) {
        trellis_text text = {(const char *)(numbers + i + 1), numbers[i]};
        ok = tr_intern_add(labels, text) != TR_NONE;
    }
    return ok;
}

/* The labels of all ranks. */
static trellis_status gather_labels(const struct tr_intern *own, struct tr_ranks *ranks,
                                    struct tr_intern *all, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        uint32_t *numbers = NULL;
        size_t size = 0;
        bool ok = r != ranks->rank || pack_labels(own, &numbers, &size);
        status = tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
        if (!status) {
            status = tr_ranks_give(ranks, r, &numbers, &size, error);
        }
        if (!status) {
            ok = add_labels(all, numbers, size);
            status = tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
        }
        free(numbers);
    }
    return status || tr_intern_count(all) <= TR_MAX_LABELS
               ? status
               : tr_fail(error, TRELLIS_LIMIT,
                         "more than %d different labels; is this the label column?", TR_MAX_LABELS);
}

static trellis_status unite_labels(struct tr_dataset *dataset, struct tr_ranks *ranks,
                                   trellis_error *error)
{
    struct tr_intern all = {0};
    uint16_t *number = tr_alloc(tr_intern_count(&dataset->labels), sizeof *number);
    trellis_status status = tr_ranks_agree(ranks, number ? TRELLIS_OK : tr_fail_memory(error),
                                           error);
    if (!status) {
        status = gather_labels(&dataset->labels, ranks, &all, error);
    }
    for (uint32_t i = 0; !status && i < tr_intern_count(&dataset->labels); i++) {
        number[i] = (uint16_t)tr_intern_find(&all, tr_intern_text(&dataset->labels, i));
    }
    for (size_t t = 0; !status && t < dataset->tokens; t++) {
        uint16_t gold = dataset->gold.at[t];
        dataset->gold.at[t] = gold == TR_UNKNOWN ? gold : number[gold];
    }
    for (size_t k = 0; !status && k < dataset->open.size; k++) {
        dataset->open.at[k] = number[dataset->open.at[k]];
    }
    free(number);
    tr_intern_free(status ? &all : &dataset->labels);
    if (!status) {
        dataset->labels = all;
        dataset->label_count = (uint32_t)tr_intern_count(&all);
    }
    return status;
}

/* The hashes of the words seen by all ranks. */
static trellis_status unite_words(struct trellis_words *seen, struct tr_ranks *ranks,
                                  trellis_error *error)
{
    struct tr_buffer own = {0};
    bool ok = tr_words_write(seen, &own);
    trellis_status status = tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        size_t size = r == ranks->rank ? own.size / WORD : 0;
        uint32_t *numbers = tr_alloc(size, sizeof *numbers);
        if (numbers && size) {
            memcpy(numbers, own.data, size * WORD);
        }
        status = tr_ranks_agree(ranks, numbers ? TRELLIS_OK : tr_fail_memory(error), error);
        if (!status) {
            status = tr_ranks_give(ranks, r, &numbers, &size, error);
        }
        ok = true;
        for (size_t i = 0; !status && ok && i + 1 < size; i += 2) {
            uint64_t hash;
            memcpy(&hash, numbers + i, sizeof hash);
            ok = tr_words_add_hash(seen, hash);
        }
        status = status || ok ? status : tr_fail_memory(error);
        free(numbers);
    }
    tr_buffer_free(&own);
    return tr_ranks_agree(ranks, status, error);
}

/* Open labels of others have lists here too, as they have where one process reads them. */
static bool begin_open(struct tr_dataset *dataset, bool any)
{
    bool missing = any && dataset->open_begin.size == 0;
    if (missing && tr_reserve(&dataset->open_begin, dataset->tokens + 1)) {
        memset(dataset->open_begin.at, 0, (dataset->tokens + 1) * sizeof *dataset->open_begin.at);
        dataset->open_begin.size = dataset->tokens + 1;
    }
    return !missing || dataset->open_begin.size;
}

trellis_status tr_dataset_unite_labels(struct tr_dataset *dataset, struct trellis_words *seen,
                                       const struct tr_dataset *lengths, struct tr_ranks *ranks,
                                       trellis_error *error)
{
    uint64_t open = 0, attributes = dataset->fingerprint - dataset->label_fingerprint;
    for (size_t t = 0; t < dataset->tokens; t++) {
        open += dataset->gold.at[t] == TR_UNKNOWN;
    }
    uint64_t sums[] = {open, dataset->open_begin.size > 0, dataset->label_fingerprint};
    trellis_status status = unite_labels(dataset, ranks, error);
    if (!status) {
        status = unite_words(seen, ranks, error);
    }
    if (!status) {
        status = tr_ranks_sum_integers(ranks, sums, TR_COUNT(sums), error);
    }
    if (status) {
        return status;
    }
    dataset->passed_sequences = lengths->sequences - dataset->sequences;
    dataset->passed_tokens = lengths->tokens - dataset->tokens;
    dataset->passed_weight = (double)dataset->passed_tokens;
    dataset->passed_open = sums[0] - open;
    dataset->label_fingerprint = sums[2];
    dataset->fingerprint = sums[2] + attributes;
    return tr_ranks_agree(
        ranks, begin_open(dataset, sums[1] > 0) ? TRELLIS_OK : tr_fail_memory(error), error);
}
