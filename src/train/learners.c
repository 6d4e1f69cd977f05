/* learners.c - the one table that lists the learners. */
#include "train/train.h"

static const struct tr_learner learners[] = {
    {"perceptron",
     "structured perceptron: fast, nearly as accurate as a CRF; -a averaged or plain, or its variants "
     "passive-aggressive (pa, pa1, pa2) and adaptive regularisation of weights (arow)",
     "averaged plain pa pa1 pa2 arow", 20, tr_train_perceptron, .floats_per_weight = 5},
    {"mira",
     "margin-infused relaxed algorithm: a perceptron that keeps a margin from the --mbest best "
     "labellings",
     "hildreth", 20, tr_train_mira, .floats_per_weight = 5},
    {"ssvm",
     "structural support vector machine: maximum margin; -a bcfw (block-coordinate Frank-Wolfe, with a "
     "duality gap) or subgradient",
     /* The labellings of the dual: 100 bytes a token in chunking, 220 with more labels. */
     "bcfw subgradient", 50, tr_train_ssvm, .floats_per_weight = 5, .bytes_per_token = 200},
    {"crf", "conditional random field: the most accurate; -a lbfgs, sgd, cg or gd",
     "lbfgs sgd cg gd", 0, tr_train_crf, .floats_per_weight = 40},
    {"maxent", "maximum-entropy classifier: predicts each label independently", "lbfgs sgd cg gd",
     0, tr_train_crf, .floats_per_weight = 40, .no_steps = true},
    {"hmm",
     "hidden Markov model: -a counts, in one pass; without labels -a em (Baum-Welch) or viterbi (hard EM)",
     "counts em viterbi", 1, tr_train_hmm, .floats_per_weight = 12, .generative = true},
    {"memm",
     "maximum-entropy Markov model: predicts each label given the previous ones; trains faster than a "
     "CRF if there are many labels, but suffers from label bias",
     "lbfgs sgd cg gd", 0, tr_train_crf, .floats_per_weight = 40, .local = true},
};

const struct tr_learner *tr_learner_at(size_t index)
{
    return index < TR_COUNT(learners) ? &learners[index] : NULL;
}

const char *trellis_learner_name(size_t index)
{
    return index < TR_COUNT(learners) ? learners[index].name : NULL;
}

const char *trellis_learner_help(size_t index)
{
    return index < TR_COUNT(learners) ? learners[index].help : NULL;
}
