/* training_scores.c - from the attributes of a sequence of a dataset to the scores of its
 * lattice. */
#include "train/hmm_gaussian.h"
#include "train/train.h"

struct tr_tokens tr_training_tokens(const struct tr_dataset *dataset, bool edge, size_t sequence)
{
    const struct tr_occurrences *occurrences = edge ? &dataset->edge : &dataset->node;
    size_t first = dataset->sequence.at[sequence];
    return (struct tr_tokens){.begin = occurrences->begin.at + first,
                              .attribute = occurrences->attribute.at,
                              .value = occurrences->value.size ? occurrences->value.at : NULL,
                              .n = dataset->sequence.at[sequence + 1] - first};
}

trellis_status tr_training_fill_scores(const struct tr_training *training,
                                       const struct tr_dataset *dataset, size_t sequence,
                                       const struct tr_iterate *iterate, struct tr_lattice *lattice,
                                       trellis_error *error)
{
    size_t width = training->layout.graph->width;
    struct tr_tokens tokens = tr_training_tokens(dataset, false, sequence);
    trellis_status status = tr_lattice_begin(lattice, tokens.n, error);
    if (status) {
        return status;
    }
    const struct tr_row_kernels *kernels = training->layout.kernels;
    kernels->score(training->data.vocabulary.node.rows, iterate->weights, &tokens,
                   tr_lattice_nodes(lattice), width);
    if (training->gaussian) {
        struct tr_gaussian gaussian = tr_hmm_gaussian_view(training->gaussian, iterate->emissions);
        tr_gaussian_score(&gaussian,
                          dataset->real.at + dataset->sequence.at[sequence] * dataset->reals,
                          tokens.n, tr_lattice_nodes(lattice), NULL, width);
    }
    if (dataset->edge.attribute.size == 0) {
        return TRELLIS_OK;
    }
    if (!tr_lattice_make_edges(lattice)) {
        return tr_fail_memory(error);
    }
    tokens = tr_training_tokens(dataset, true, sequence);
    kernels->score(training->data.vocabulary.edge.rows,
                   iterate->weights + training->layout.node_size, &tokens,
                   tr_lattice_edges(lattice), training->layout.graph->labels * width);
    return TRELLIS_OK;
}

trellis_status tr_training_restrict_words(const struct tr_training *training,
                                          const struct tr_dataset *dataset, size_t sequence,
                                          struct tr_lattice *lattice, trellis_error *error)
{
    size_t first = dataset->sequence.at[sequence], n = dataset->sequence.at[sequence + 1] - first;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && dataset->entry.size && i < n; i++) {
        uint32_t entry = dataset->entry.at[first + i];
        if (entry != TR_NONE) {
            const uint16_t *labels;
            size_t count = tr_tag_dictionary_labels(&training->data.tag_dictionary, entry, &labels);
            status = tr_lattice_restrict(lattice, i, labels, count, error);
        }
    }
    return status;
}

trellis_status tr_training_scores(const struct tr_training *training,
                                  const struct tr_dataset *dataset, size_t sequence,
                                  const struct tr_iterate *iterate, struct tr_lattice *lattice,
                                  trellis_error *error)
{
    trellis_status status = tr_training_fill_scores(training, dataset, sequence, iterate, lattice,
                                                    error);
    return status ? status
                  : tr_training_restrict_words(training, dataset, sequence, lattice, error);
}

void tr_training_add_loss(const struct tr_training *training, size_t sequence,
                          struct tr_lattice *lattice)
{
    const struct tr_dataset *data = &training->data.train;
    size_t first = data->sequence.at[sequence], n = data->sequence.at[sequence + 1] - first;
    if (training->loss) {
        tr_loss_augment(training->loss, data->gold.at + first, n, 1, tr_lattice_nodes(lattice),
                        training->layout.graph->width);
    }
}
