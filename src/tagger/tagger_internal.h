/* tagger_internal.h - what a tagger is made of; for the files of src/tagger. */
#ifndef TRELLIS_TAGGER_TAGGER_INTERNAL_H
#define TRELLIS_TAGGER_TAGGER_INTERNAL_H

#include "base/kernels.h"
#include "lattice/loss.h"
#include "tagger/tagger.h"

/* Labels given for a position of the next sequence. */
struct given {
    size_t position, begin, end; // into given_labels
};

struct trellis_tagger {
    const trellis_model *model;
    struct tr_extractor *extractor;
    enum { UNBOUND, BOUND, MISBOUND } binding; // MISBOUND: the input lacks a column
    enum { VITERBI, POSTERIOR, RISK, BEAM } decoding;
    size_t beam_width;
    struct tr_loss *loss;   // with RISK
    double *risk;           // [labels] with RISK, scratch
    struct tr_graph *graph; // with steps forbidden on top of the model's; NULL where there are none
    struct tr_steps *own_steps;
    const struct tr_steps *steps; // the tagger's own, or the model's
    struct tr_lattice *lattice;

    /* What was found last, best first. */
    size_t length;
    size_t ranks;              // asked for; 0 where a search for one path will do
    size_t found;              // 0 where nothing was found
    TR_ARRAY(uint16_t) paths;  // [found][length]
    TR_ARRAY(double) scores;   // [found]
    TR_ARRAY(float) marginals; // [length] of the labels of one of them
    double log_z;              // once it was asked for; the lattice knows whether

    /* --threshold. */
    double threshold;            // 0: there is none
    struct tr_span_rules *rules; // once they are needed
    TR_ARRAY(bool) improbable;   // [length] tokens of the best path that are left out

    TR_ARRAY(trellis_text) labels;
    const struct tr_kernels *kernels;
    TR_ARRAY(uint32_t) rows;   // dense ones of one token,
    TR_ARRAY(uint32_t) sparse; // and the others
    TR_ARRAY(double) exact;    // [width] scores of one token, with all digits
    struct tr_steps *relaxed;  // where nothing is impossible; once they are needed
    bool impossible;           // what was found last has probability 0
    trellis_scheme_storage *storage;
    size_t word_column;       // what the tag dictionary is asked about
    char *forced;             // --forced, NULL where it was not given
    size_t forced_column;     // SIZE_MAX for the last
    struct tr_intern names;   // of the labels, once they are asked for
    TR_ARRAY(uint16_t) asked; // [length] labels whose probability is asked for
    size_t *real_columns;     // [model->gaussian.columns] where they are in the input
    TR_ARRAY(double) reals;   // [length][model->gaussian.columns]
    TR_ARRAY(struct given) given;
    TR_ARRAY(uint16_t) given_labels;
    TR_ARRAY(bool) known;    // [length] words of a sequence
    TR_ARRAY(bool) is_given; // [length], false throughout between sequences
};

/* The model's labels by name, in tagger->names; false on allocation failure. */
bool tr_tagger_list_names(trellis_tagger *tagger);

/* The steps that what was found last was found with. */
static inline const struct tr_steps *tr_tagger_steps(const trellis_tagger *tagger)
{
    return tagger->impossible ? tagger->relaxed : tagger->steps;
}

/* Begins the lattice and fills in the scores of what is seen. */
trellis_status tr_tagger_fill_scores(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     const struct tr_observation *observation,
                                     trellis_error *error);

/* Takes the labels of --forced; positions are restricted to them once there are scores. */
trellis_status tr_tagger_give_column(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     trellis_error *error);
trellis_status tr_tagger_restrict_given(trellis_tagger *tagger, trellis_error *error);
void tr_tagger_forget_given(trellis_tagger *tagger);
/* Restricts words of the tag dictionary that have no labels given to those they have there. */
trellis_status tr_tagger_restrict_words(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        trellis_error *error);

trellis_status tr_tagger_make_rules(trellis_tagger *tagger, trellis_error *error);

#endif
