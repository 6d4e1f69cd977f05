/* training_scores.c - from the attributes of a sequence of a dataset to the scores of its
 * lattice. */
#include <string.h>

#include "dataset/bundles.h"
#include "dataset/segment_parts.h"
#include "train/hmm_gaussian.h"
#include "train/train.h"

bool tr_training_has_edges(const struct tr_training *training, const struct tr_dataset *dataset)
{
    bool shared = training->data.shared && dataset == &training->data.train;
    return dataset->edge.attribute.size > 0 ||
           (shared && training->data.vocabulary.edge.rows->attributes > 0);
}

struct tr_tokens tr_training_tokens(const struct tr_dataset *dataset, enum tr_attribute_kind kind,
                                    size_t sequence)
{
    const struct tr_occurrences *occurrences = kind == TR_NODE_ATTRIBUTE   ? &dataset->node
                                               : kind == TR_EDGE_ATTRIBUTE ? &dataset->edge
                                                                           : &dataset->segment;
    size_t rows = kind == TR_SEGMENT_ATTRIBUTE ? dataset->max_segment : 1;
    size_t first = dataset->sequence.at[sequence];
    const uint32_t *begin = occurrences->begin.at; // NULL where they were forgotten
    return (struct tr_tokens){.begin = begin ? begin + first * rows : NULL,
                              .attribute = occurrences->attribute.at,
                              .value = occurrences->value.size ? occurrences->value.at : NULL,
                              .n = (dataset->sequence.at[sequence + 1] - first) * rows};
}

/* Inlined, as the compiler leaves out calls of what does nothing but prefetch. */
#define INLINE static inline __attribute__((always_inline))

/* Prefetches an array from one index to another. */
INLINE void fetch_lines(const void *array, size_t size, size_t from, size_t end)
{
    enum { LINE = 64 };
    for (size_t at = from * size; at < end * size; at += LINE) {
        __builtin_prefetch((const char *)array + at);
    }
}

/* Where the attributes of the tokens first .. end-1 are; and these. */
INLINE void fetch_begin(const struct tr_dataset *dataset, const struct tr_bundles *bundles,
                        size_t first, size_t end)
{
    if (bundles) {
        fetch_lines(bundles->row_begin, sizeof *bundles->row_begin, first, end + 1);
        fetch_lines(bundles->pair_begin, sizeof *bundles->pair_begin, first, end + 1);
    } else {
        fetch_lines(dataset->node.begin.at, sizeof *dataset->node.begin.at, first, end + 1);
    }
}

INLINE void fetch_attributes(const struct tr_dataset *dataset, const struct tr_bundles *bundles,
                             size_t first, size_t end)
{
    if (bundles) {
        size_t pair = bundles->pair_begin[first], end_pair = bundles->pair_begin[end];
        fetch_lines(bundles->row, sizeof *bundles->row, bundles->row_begin[first],
                    bundles->row_begin[end]);
        fetch_lines(bundles->pair, sizeof *bundles->pair, pair, end_pair);
        fetch_lines(bundles->outcome, sizeof *bundles->outcome, pair, end_pair);
    } else {
        const uint32_t *begin = dataset->node.begin.at;
        fetch_lines(dataset->node.attribute.at, sizeof *dataset->node.attribute.at, begin[first],
                    begin[end]);
    }
}

void tr_training_prefetch(const struct tr_dataset *dataset, const struct tr_bundles *bundles,
                          const uint32_t *order, size_t count, size_t ahead)
{
    const uint32_t *sequence = dataset->sequence.at;
    if (2 * ahead < count) {
        size_t first = sequence[order[2 * ahead]], end = sequence[order[2 * ahead] + 1];
        fetch_begin(dataset, bundles, first, end);
        fetch_lines(dataset->gold.at, sizeof *dataset->gold.at, first, end);
    }
    if (ahead < count) {
        fetch_attributes(dataset, bundles, sequence[order[ahead]], sequence[order[ahead] + 1]);
    }
}

void tr_training_subtract_gold(const struct tr_training *training, const uint16_t *gold, size_t n,
                               float *probabilities)
{
    const struct tr_segments *segments = training->data.segments;
    size_t width = training->layout.graph->width;
    for (size_t at = 0; at < n;) {
        struct tr_segment found = tr_segment_at(segments, gold, n, at);
        size_t d = found.end - found.begin;
        if (found.type != TR_NO_LABEL && d <= segments->type[found.type].max_length) {
            size_t row = (found.end - 1) * segments->max_length + d - 1;
            probabilities[row * width + segments->type[found.type].head] -= 1;
        }
        at = found.end;
    }
}

void tr_training_score_nodes(const struct tr_training *training, const struct tr_dataset *dataset,
                             size_t first, const struct tr_tokens *tokens,
                             const struct tr_iterate *iterate, float *scores)
{
    size_t width = training->layout.graph->width;
    if (iterate->bundles && dataset == &training->data.train) {
        struct tr_bundled_tokens bundled = tr_bundles_tokens(iterate->bundles, first,
                                                             first + tokens->n);
        training->layout.kernels->score_bundled(&bundled, iterate->bundles->sum, iterate->weights,
                                                scores, width);
    } else {
        training->layout.kernels->score(training->data.vocabulary.node.rows, iterate->weights,
                                        tokens, scores, width);
    }
}

/* The same of the segments of a sequence by their parts; `part` is scratch [2][n][width]. */
static void score_parts(const struct tr_training *training, const struct tr_dataset *dataset,
                        size_t sequence, const struct tr_iterate *iterate, float *part,
                        float *scores)
{
    const struct tr_row_kernels *kernels = training->layout.kernels;
    const struct tr_bundles *bundles = iterate->bundles;
    size_t first = dataset->sequence.at[sequence], end = dataset->sequence.at[sequence + 1];
    size_t width = training->layout.graph->width, n = end - first;
    struct tr_bundled_tokens starts = tr_bundles_tokens(bundles, tr_segment_starts(dataset, first),
                                                        tr_segment_starts(dataset, end));
    struct tr_bundled_tokens ends = tr_bundles_tokens(bundles, tr_segment_ends(dataset, first),
                                                      tr_segment_ends(dataset, end));
    struct tr_bundled_tokens rest = tr_bundles_tokens(bundles, tr_segment_rest(dataset, first),
                                                      tr_segment_rest(dataset, end));
    memset(part, 0, 2 * n * width * sizeof *part);
    kernels->score_bundled(&starts, bundles->sum, iterate->weights, part, width);
    kernels->score_bundled(&ends, bundles->sum, iterate->weights, part + n * width, width);
    kernels->spread(part, n, dataset->max_segment, width, scores);
    kernels->score_bundled(&rest, bundles->sum, iterate->weights, scores, width);
}

/* The same of segments. */
static trellis_status score_segments(const struct tr_training *training,
                                     const struct tr_dataset *dataset, size_t sequence,
                                     const struct tr_tokens *segments,
                                     const struct tr_iterate *iterate, struct tr_lattice *lattice,
                                     trellis_error *error)
{
    if (!tr_lattice_make_segments(lattice)) {
        return tr_fail_memory(error);
    }
    float *scores = tr_lattice_segments(lattice);
    if (dataset == &training->data.train && tr_bundles_have_segments(iterate->bundles, dataset)) {
        score_parts(training, dataset, sequence, iterate, tr_lattice_segment_parts(lattice),
                    scores);
    } else {
        training->layout.kernels->score(training->data.vocabulary.node.rows, iterate->weights,
                                        segments, scores, training->layout.graph->width);
    }
    return TRELLIS_OK;
}

trellis_status tr_training_score_tokens(const struct tr_training *training,
                                        const struct tr_dataset *dataset, size_t sequence,
                                        const struct tr_tokens *tokens,
                                        const struct tr_iterate *iterate,
                                        struct tr_lattice *lattice, trellis_error *error)
{
    size_t width = training->layout.graph->width, n = tokens[TR_NODE_ATTRIBUTE].n;
    trellis_status status = tr_lattice_begin(lattice, n, error);
    if (status) {
        return status;
    }
    const struct tr_row_kernels *kernels = training->layout.kernels;
    tr_training_score_nodes(training, dataset, dataset->sequence.at[sequence],
                            &tokens[TR_NODE_ATTRIBUTE], iterate, tr_lattice_nodes(lattice));
    if (training->gaussian) {
        struct tr_gaussian gaussian = tr_hmm_gaussian_view(training->gaussian, iterate->emissions);
        tr_gaussian_score(&gaussian,
                          dataset->real.at + dataset->sequence.at[sequence] * dataset->reals, n,
                          tr_lattice_nodes(lattice), NULL, width);
    }
    if (dataset->max_segment) {
        status = score_segments(training, dataset, sequence, &tokens[TR_SEGMENT_ATTRIBUTE], iterate,
                                lattice, error);
    }
    if (status || !tr_training_has_edges(training, dataset)) {
        return status;
    }
    if (!tr_lattice_make_edges(lattice)) {
        return tr_fail_memory(error);
    }
    kernels->score(training->data.vocabulary.edge.rows,
                   iterate->weights + training->layout.node_size, &tokens[TR_EDGE_ATTRIBUTE],
                   tr_lattice_edges(lattice), training->layout.graph->labels * width);
    return TRELLIS_OK;
}

trellis_status tr_training_fill_scores(const struct tr_training *training,
                                       const struct tr_dataset *dataset, size_t sequence,
                                       const struct tr_iterate *iterate, struct tr_lattice *lattice,
                                       trellis_error *error)
{
    struct tr_tokens tokens[TR_ATTRIBUTE_KINDS];
    for (int kind = 0; kind < TR_ATTRIBUTE_KINDS; kind++) {
        tokens[kind] = tr_training_tokens(dataset, (enum tr_attribute_kind)kind, sequence);
    }
    return tr_training_score_tokens(training, dataset, sequence, tokens, iterate, lattice, error);
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
