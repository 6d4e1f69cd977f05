/* tagger_internal.h - the parts of a tagger, for the files of src/tagger. */
#ifndef TRELLIS_TAGGER_TAGGER_INTERNAL_H
#define TRELLIS_TAGGER_TAGGER_INTERNAL_H

#include "base/kernels.h"
#include "lattice/decode.h"
#include "lattice/loss.h"
#include "model/table_kernels.h"
#include "tagger/context_cache.h"
#include "tagger/tagger.h"

/* The labels allowed at a position of the next sequence. */
struct tr_allowed_labels {
    size_t position, begin, end; // a slice of tr_tagger_allowed.labels
};

/* Where the templates find their columns, and what was read from them. */
struct tr_tagger_input {
    struct tr_extractor *extractor;
    enum { UNBOUND, BOUND, MISBOUND } binding; // MISBOUND: the input lacks a column
    size_t word_column;                        // of the tag dictionary and of the vocabulary
    size_t *real_columns;                      // [model->gaussian.columns]
    TR_ARRAY(double) reals;                    // [length][model->gaussian.columns]
    TR_ARRAY(bool) known;                      // [length] whether each word is in the vocabulary
};

/* Scratch for the scores of one token. */
struct tr_tagger_scoring {
    const struct tr_kernels *kernels;
    const struct tr_table_kernels *table_kernels;
    TR_ARRAY(uint64_t) homes;          // [attributes] the first buckets of their keys
    TR_ARRAY(uint32_t) rows;           // of a group of them
    TR_ARRAY(uint32_t) dense, sparse;  // rows of the attributes found in the model, and
    TR_ARRAY(struct tr_row_ends) ends; // [length] where those of each token end
    TR_ARRAY(double) exact;            // [width] in double precision, for an HMM
    struct tr_context_cache *contexts; // NULL where the templates are added one by one
};

/* How the best labels are searched for. */
struct tr_tagger_decoder {
    enum { VITERBI, POSTERIOR, RISK, BEAM } decoding;
    size_t beam_width;
    struct tr_loss *loss;   // with RISK
    double *risk;           // [labels] with RISK, scratch
    struct tr_graph *graph; // with --constrain or --prune; NULL: the model's
    struct tr_steps *own_steps;
    const struct tr_steps *steps; // own_steps, or the model's
    struct tr_lattice *lattice;
    /* With segments and POSTERIOR or RISK: the best segmentation by costs of tokens alone. */
    struct tr_lattice *by_cost;
    struct tr_steps *no_steps; // all weights are 0
    struct tr_decoder shared;  // of these steps and this lattice
};

/* What the caller or --forced allows in the next sequence. */
struct tr_tagger_allowed {
    char *option;  // --forced, NULL where it was not given
    size_t column; // of --forced; SIZE_MAX for the last
    TR_ARRAY(struct tr_allowed_labels) positions;
    TR_ARRAY(uint16_t) labels;
    TR_ARRAY(bool) covered; // [length] positions with labels allowed; false between sequences
};

/* The labellings of the last sequence, best first. */
struct tr_tagger_labellings {
    uint64_t max_length; // of a sequence (--max-length)
    uint64_t max_labels; // in all labellings (--max-labellings)
    size_t length;
    size_t ranks;              // asked for; 0 where a search for one path will do
    size_t count;              // 0 where there is none
    TR_ARRAY(uint16_t) paths;  // [count][length]
    TR_ARRAY(double) scores;   // [count]
    TR_ARRAY(float) marginals; // [length] of one labelling, or [length][labels]
    TR_ARRAY(float) pairs;     // [length][labels][labels] marginals
    TR_ARRAY(int32_t) numbers; // [length] of one labelling, or [count][length] of samples
    double log_z;              // once the lattice has marginals
    bool impossible;           // all labellings have probability 0
};

/* --threshold: which tokens of the best labelling are not probable enough. */
struct tr_tagger_filter {
    double threshold;            // 0: there is none
    struct tr_span_rules *rules; // made when first needed
    TR_ARRAY(bool) improbable;   // [length]
};

/* Labels as the caller reads and writes them. */
struct tr_tagger_output {
    TR_ARRAY(trellis_text) labels; // [length]
    trellis_scheme_storage *scheme_storage;
    struct tr_intern label_numbers; // filled when first needed
    TR_ARRAY(uint16_t) queried;     // [length] labels whose probability is asked for
};

struct trellis_tagger {
    const trellis_model *model;
    struct tr_tagger_input input;
    struct tr_tagger_scoring scoring;
    struct tr_tagger_decoder decoder;
    struct tr_tagger_allowed allowed;
    struct tr_tagger_labellings result;
    struct tr_tagger_filter filter;
    struct tr_tagger_output output;
};

/* Fills output.label_numbers from the model's labels; false on allocation failure. */
bool tr_tagger_number_labels(trellis_tagger *tagger);

/* The transitions that the last result was computed with. */
static inline const struct tr_steps *tr_tagger_steps(const trellis_tagger *tagger)
{
    return tagger->result.impossible ? tagger->decoder.shared.relaxed : tagger->decoder.steps;
}

/* Starts the lattice and fills in the node and edge scores. */
trellis_status tr_tagger_fill_scores(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     const struct tr_observation *observation,
                                     trellis_error *error);

/* Reads the labels of --forced; positions are restricted to them once there are scores. */
trellis_status tr_tagger_read_forced(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     trellis_error *error);
trellis_status tr_tagger_restrict_allowed(trellis_tagger *tagger, trellis_error *error);
void tr_tagger_clear_allowed(trellis_tagger *tagger);
/* Restricts words to their labels in the tag dictionary, except where other labels were allowed. */
trellis_status tr_tagger_restrict_words(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        trellis_error *error);

/* Creates filter.rules unless they exist. */
trellis_status tr_tagger_make_rules(trellis_tagger *tagger, trellis_error *error);

#endif
