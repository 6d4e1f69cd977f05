/* learners.c - the one table that lists the learners. */
#include "train/train.h"

static const struct tr_learner learners[] = {
    {"perceptron", "structured perceptron: fast, and close to a CRF; -a averaged or plain",
     "averaged plain", 20, tr_train_perceptron, 4, false},
    {"crf", "conditional random field: the most accurate; -a lbfgs, sgd, cg or gd", "lbfgs sgd cg gd",
     0,
     tr_train_crf, 40, false},
    {"maxent", "maximum-entropy classifier: a CRF that looks at every position by itself",
     "lbfgs sgd cg gd", 0, tr_train_crf, 40, true},
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
