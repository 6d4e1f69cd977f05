/* learners.c - the one table that lists the learners. */
#include "train/train.h"

static const struct tr_learner learners[] = {
    {"perceptron",
     "structured perceptron: fast, and close to a CRF; -a averaged or plain, or its successors: "
     "passive-aggressive (pa, pa1, pa2) and adaptive regularisation of weights (arow)",
     "averaged plain pa pa1 pa2 arow", 20, tr_train_perceptron, 5, false, false},
    {"mira",
     "margin-infused relaxed algorithm: a perceptron that keeps its distance from the --mbest best "
     "labellings",
     "hildreth", 20, tr_train_mira, 5, false, false},
    {"ssvm",
     "structural support vector machine: the largest margin; -a bcfw (Frank-Wolfe in the dual, with a "
     "certified gap) or subgradient",
     "bcfw subgradient", 50, tr_train_ssvm, 5, false, false},
    {"crf", "conditional random field: the most accurate; -a lbfgs, sgd, cg or gd",
     "lbfgs sgd cg gd", 0, tr_train_crf, 40, false, false},
    {"maxent", "maximum-entropy classifier: a CRF that looks at every position by itself",
     "lbfgs sgd cg gd", 0, tr_train_crf, 40, true, false},
    {"hmm",
     "hidden Markov model: -a counts, in one pass; without labels: -a em (Baum-Welch) or viterbi (hard EM)",
     "counts em viterbi", 1, tr_train_hmm, 12, false, true},
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
