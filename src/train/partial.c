/* partial.c - labels that are known only in part: any of these, or any at all (--partial). */
#include "train/train.h"

trellis_status tr_constrain_to_partial(const struct tr_dataset *dataset, size_t sequence,
                                       struct tr_lattice *lattice, trellis_error *error)
{
    size_t first = dataset->sequence.at[sequence], n = dataset->sequence.at[sequence + 1] - first;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < n; i++) {
        const uint16_t *labels;
        size_t count = tr_dataset_open(dataset, first + i, &labels);
        if (count) {
            status = tr_lattice_restrict(lattice, i, labels, count, error);
        }
    }
    return status;
}

trellis_status tr_training_check_partial(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    struct tr_steps *steps = NULL;
    struct tr_lattice *lattice = NULL;
    TR_ARRAY(uint16_t) path = {0};
    if (!training->layout.plan.forbidden_count && !data->entry.size) {
        return TRELLIS_OK; // nothing forbids anything
    }
    trellis_status status = tr_steps_create(training->layout.graph, NULL, &steps, error);
    if (!status) {
        status = tr_lattice_create(training->layout.graph, &lattice, error);
    }
    for (size_t s = 0; !status && s < data->sequences; s++) {
        size_t n = data->sequence.at[s + 1] - data->sequence.at[s];
        double score;
        if (!tr_dataset_is_partial(data, s)) {
            continue;
        }
        status = tr_reserve(&path, n) ? tr_lattice_begin(lattice, n, error) : tr_fail_memory(error);
        if (!status) {
            status = tr_training_restrict_words(training, data, s, lattice, error);
        }
        if (!status) {
            status = tr_constrain_to_partial(data, s, lattice, error);
        }
        if (!status &&
            (status = tr_lattice_viterbi(lattice, steps, path.at, &score, error)) == TRELLIS_DATA) {
            status = tr_fail(
                error, TRELLIS_DATA,
                "sequence %zu of the training data: no labelling satisfies --partial, --constrain and "
                "the tag dictionary",
                data->first + s + 1);
        }
    }
    free(path.at);
    tr_lattice_destroy(lattice);
    tr_steps_destroy(steps);
    return status;
}
