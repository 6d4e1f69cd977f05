/* posterior.c - posteriors of label pairs, samples and entropy of the last sequence. */
#include <math.h>

#include "base/random.h"
#include "tagger/tagger_internal.h"

trellis_status trellis_tagger_pair_marginals(trellis_tagger *tagger, const float **ret_marginals,
                                             trellis_error *error)
{
    if (!TR_CLEAR(ret_marginals) || !tagger) {
        return tr_fail_null(error, __func__);
    }
    size_t labels = tagger->model->label_count, width = tagger->model->graph->width;
    size_t rows = 0, size;
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (status) {
        return status;
    }
    if (__builtin_mul_overflow(tagger->result.length, labels, &rows) ||
        __builtin_mul_overflow(rows, labels, &size) ||
        !tr_reserve(&tagger->result.pairs, size + 1)) {
        return tr_fail_memory(error);
    }
    const float *edge = rows ? tr_lattice_edge_marginals(tagger->decoder.lattice,
                                                         tr_tagger_steps(tagger))
                             : NULL;
    if (rows && !edge) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < rows; i++) {
        memcpy(tagger->result.pairs.at + i * labels, edge + i * width, labels * sizeof *edge);
    }
    *ret_marginals = tagger->result.pairs.at;
    return TRELLIS_OK;
}

trellis_status trellis_tagger_sample(trellis_tagger *tagger, uint64_t seed, size_t count,
                                     const int32_t **ret_labels, trellis_error *error)
{
    if (!TR_CLEAR(ret_labels) || !tagger) {
        return tr_fail_null(error, __func__);
    }
    size_t size;
    struct tr_random random;
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (status) {
        return status;
    }
    if (__builtin_mul_overflow(tagger->result.length, count, &size) ||
        size > tagger->result.max_labels) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "%zu samples of %zu tokens are more than %llu labels (--max-labellings)",
                       count, tagger->result.length, (unsigned long long)tagger->result.max_labels);
    }
    if (!tr_reserve(&tagger->result.numbers, size + 1)) {
        return tr_fail_memory(error);
    }
    uint16_t *labels = tr_alloc(size, sizeof *labels);
    tr_random_seed(&random, seed);
    status = labels ? tr_lattice_sample(tagger->decoder.lattice, tr_tagger_steps(tagger), &random,
                                        count, labels, error)
                    : tr_fail_memory(error);
    for (size_t i = 0; !status && i < size; i++) {
        tagger->result.numbers.at[i] = labels[i];
    }
    *ret_labels = status ? NULL : tagger->result.numbers.at;
    free(labels);
    return status;
}

trellis_status trellis_tagger_entropy(trellis_tagger *tagger, double *ret_entropy,
                                      trellis_error *error)
{
    if (!tagger || !ret_entropy) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (!status) {
        status = tr_lattice_entropy(tagger->decoder.lattice, tr_tagger_steps(tagger), ret_entropy,
                                    error);
    }
    if (status) {
        *ret_entropy = NAN;
    }
    return status;
}
