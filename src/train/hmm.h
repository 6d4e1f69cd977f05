/* hmm.h - the hidden Markov model: a weight vector of logarithms of probabilities.
 *
 *     P(X, Z) = product over i of  T(z_{i-1}, z_i) O(z_i, x_i),   times T(z_n, end)
 *
 * so w . Phi(X, Z) = log P(X, Z) where the weight of a step is log T and that of a word is log O
 * (Wu 2013, equation 7). All that labelled training and the M-step of EM need is to turn counts,
 * whole or expected, into such weights. Counts and weights are laid out like w: node, edge (none
 * here), step.
 */
#ifndef TRELLIS_TRAIN_HMM_H
#define TRELLIS_TRAIN_HMM_H

#include "train/train.h"

/* Whether one thing is emitted at each token. */
trellis_status tr_hmm_check(const struct tr_training *training, trellis_error *error);

/* counts[j] += how often feature j fires in the sequences of a dataset whose labels are all known,
 * each times its weight; counts [layout.size]. The dataset has the tokens of the training data. */
trellis_status tr_hmm_count(struct tr_training *training, const struct tr_dataset *data,
                            double *counts, trellis_error *error);

/* w [layout.size] = logarithms of probabilities, minus infinity for 0. Where all counts of a state
 * are 0, and alpha too, its transitions are equally likely. Fills in the weights of the iterate,
 * and what it has about unknown words. */
trellis_status tr_hmm_estimate(const struct tr_training *training, const double *counts,
                               double alpha, double *w, struct tr_iterate *iterate,
                               trellis_error *error);

/* Gives rare words weights for labels that their endings suggest; before the features are
 * numbered. */
trellis_status tr_hmm_widen(struct tr_training *training, trellis_error *error);
/* Adds the labels that words have weights for to a tag dictionary. The entries of the training data
 * are numbers of `words`. */
trellis_status tr_hmm_allow(const struct tr_training *training, const struct tr_intern *words,
                            struct tr_tag_dictionary_builder *draft, trellis_error *error);

/* ---- the parts of an estimate ---------------------------------------------------------------- */

/* The template of an attribute that describes unknown words, TR_NONE where it does not. */
uint32_t tr_hmm_unknown_template(const struct tr_training *training, uint32_t attribute);
/* Those of all attributes [attributes], TR_NONE for words; NULL: all are words.
 * The caller frees it. */
trellis_status tr_hmm_rank(const struct tr_training *training, uint32_t **ret_rank,
                           trellis_error *error);
/* counts[j] += how often each pair of an attribute and a label was seen; laid out like the rows. */
trellis_status tr_hmm_count_words(struct tr_training *training, double *counts,
                                  trellis_error *error);
/* share [labels] = P(z), by the counts of words; how many tokens they are. */
double tr_hmm_share(const struct tr_training *training, const uint32_t *rank, const double *counts,
                    double *share);

/* What attributes that describe unknown words say about labels (hmm_unknown_words.c). */
struct tr_guesses {
    const struct tr_training *training;
    const uint32_t *rank; // [attributes]
    const double *counts; // laid out like the rows
    const double *share;  // [labels]
    double theta;
    uint32_t *before; // [attributes] the one before it in the chain, TR_NONE for the first; of a
                      // word: the last of its chain, TR_NONE where it has none
    double *times;    // [attributes] it was seen
};
trellis_status tr_guesses_create(const struct tr_training *training, const uint32_t *rank,
                                 const double *counts, const double *share,
                                 struct tr_guesses *ret_guesses, trellis_error *error);
void tr_guesses_free(struct tr_guesses *guesses);
/* p [labels] = P(z | attribute) */
void tr_guess(const struct tr_guesses *guesses, uint32_t attribute, double *p);

/* Whether rare words are smoothed by their endings (hmm_rare_words.c), and by which ending a word
 * is; TR_NONE: by none. */
bool tr_hmm_smooths_words(const struct tr_training *training);
uint32_t tr_hmm_ending(const struct tr_guesses *guesses, uint32_t attribute);

/* What words are like, of which the guesses about unknown words have to know. */
struct tr_hmm_words {
    const uint32_t *rank;             // of tr_hmm_rank()
    const struct tr_guesses *guesses; // NULL: nothing is added to the counts of words
    double words, tokens;             // how many there are
    double *share;                    // [labels] of tokens
    double *count; // [labels] of tokens, with what is added to those of rare words
    double *alone; // [labels] the part of log O that the label has by itself
    double *p;     // [labels] what is added to a word
    double
        unknown; // the share of tokens that are unknown words; 0 where no template describes them
};

/* Weights of the steps by deleted interpolation (order 1 or 2); counts and w [gram_count]. */
trellis_status tr_hmm_interpolate(const struct tr_training *training, const double *counts,
                                  double alpha, double *w, trellis_error *error);
/* Weights of what is seen of unknown words. */
trellis_status tr_hmm_guess(const struct tr_guesses *guesses, const struct tr_hmm_words *words,
                            double *w, trellis_error *error);

#endif
