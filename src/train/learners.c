/* learners.c - the one table that lists the learners, what each can do and what it listens to. */
#include "train/learners.h"

#include <stdio.h>
#include <string.h>

#include "train/online.h"

/* Options are listed where only some learners listen to them; the others are for all: of reading,
 * features, --epochs, --dev, --order, ... */
#define MARGIN "loss cost span-loss"
#define PENALTY "l2 sigma lambda"
#define FEATURES "min-feature-count transitions"
#define SEGMENTS " segments max-segment"

static const struct tr_algorithm perceptron[] = {
    {"averaged", tr_train_online, 20, .options = "average", .online = &tr_averaged_perceptron},
    {"plain", tr_train_online, 20, .options = "", .online = &tr_plain_perceptron},
    {"pa", tr_train_online, 20, .options = MARGIN " average", .online = &tr_pa},
    {"pa1", tr_train_online, 20, .options = MARGIN " aggressiveness average", .online = &tr_pa1},
    {"pa2", tr_train_online, 20, .options = MARGIN " aggressiveness average", .online = &tr_pa2},
    {"arow", tr_train_online, 20, .options = MARGIN " variance average", .online = &tr_arow},
    {0}};

static const struct tr_algorithm mira[] = {
    {"hildreth", tr_train_online, 20, .options = "average", .online = &tr_mira}, {0}};

static const struct tr_algorithm ssvm[] = {{"bcfw", tr_train_bcfw, 50, .options = "gap"},
                                           {"subgradient", tr_train_subgradient, 50, .options = ""},
                                           {0}};

#define STOPPING "epsilon delta period"
static const struct tr_algorithm crf[] = {
    {"lbfgs", tr_train_lbfgs, 0, .options = STOPPING " history select-l1 l1 warm-up"},
    {"sgd", tr_train_sgd, 20, .options = "select-l1 batch rate average prune",
     .abilities = TR_STOCHASTIC},
    {"cg", tr_train_cg, 0, .options = STOPPING " select-l1"},
    {"gd", tr_train_gd, 0, .options = STOPPING " select-l1"},
    {0}};
static const struct tr_algorithm unpruned[] = {
    {"lbfgs", tr_train_lbfgs, 0, .options = STOPPING " history select-l1 l1 warm-up"},
    {"sgd", tr_train_sgd, 20, .options = "select-l1 batch rate average",
     .abilities = TR_STOCHASTIC},
    {"cg", tr_train_cg, 0, .options = STOPPING " select-l1"},
    {"gd", tr_train_gd, 0, .options = STOPPING " select-l1"},
    {0}};

#define HIDDEN "states restarts unlabelled unlabelled-weight dev-score delta period from"
static const struct tr_algorithm hmm[] = {
    {"counts", tr_train_hmm_counts, 1, TR_ONE_PASS, .options = "smoothing theta"},
    {"em", tr_train_em, 100, TR_HIDDEN_LABELS | TR_PARTIAL_LABELS, HIDDEN, .features = "id"},
    {"viterbi", tr_train_hard_em, 100, TR_HIDDEN_LABELS | TR_PARTIAL_LABELS, HIDDEN,
     .features = "id"},
    {0}};

static const struct tr_learner learners[] = {
    {"perceptron",
     "structured perceptron: fast, nearly as accurate as a CRF; -a averaged or plain, or its variants "
     "passive-aggressive (pa, pa1, pa2) and adaptive regularisation of weights (arow)",
     perceptron, TR_PARTIAL_LABELS, FEATURES " beam update from" SEGMENTS, "general",
     .floats_per_weight = 5},
    {"mira",
     "margin-infused relaxed algorithm: a perceptron that keeps a margin from the --mbest best "
     "labellings",
     mira, 0, FEATURES " " MARGIN " aggressiveness mbest from" SEGMENTS, "general",
     .floats_per_weight = 5},
    {"ssvm",
     "structural support vector machine: maximum margin; -a bcfw (block-coordinate Frank-Wolfe, with a "
     "duality gap) or subgradient",
     ssvm, TR_PENALISED, FEATURES " " MARGIN " " PENALTY " from" SEGMENTS, "general", 4,
     .floats_per_weight = 5,
     /* The labellings of the dual: 100 bytes a token in chunking, 220 with more labels. */
     .bytes_per_token = 200},
    {"crf", "conditional random field: the most accurate; -a lbfgs, sgd, cg or gd", crf,
     TR_PARTIAL_LABELS | TR_SHARED_ROWS | TR_PENALISED,
     FEATURES " " MARGIN " " PENALTY " from" SEGMENTS, "general", 1, &tr_crf_hooks,
     .floats_per_weight = 40},
    {"maxent", "maximum-entropy classifier: predicts each label independently", unpruned,
     TR_PARTIAL_LABELS | TR_SHARED_ROWS | TR_PENALISED | TR_NO_TRANSITIONS,
     "min-feature-count " MARGIN " " PENALTY " from", "general", 1, &tr_crf_hooks,
     .floats_per_weight = 40},
    {"hmm",
     "hidden Markov model: -a counts, in one pass; without labels -a em (Baum-Welch) or viterbi (hard EM)",
     hmm, TR_GENERATIVE, "alpha gaussian variance-floor", "hmm", .hooks = &tr_hmm_hooks,
     .floats_per_weight = 12},
    {"memm",
     "maximum-entropy Markov model: predicts each label given the previous ones; trains faster than a "
     "CRF if there are many labels, but suffers from label bias",
     unpruned, TR_SHARED_ROWS | TR_PENALISED | TR_LOCAL, FEATURES " " MARGIN " " PENALTY " from",
     "general", 1, &tr_crf_hooks, .floats_per_weight = 40},
};

const struct tr_learner *tr_learner_at(size_t index)
{
    return index < TR_COUNT(learners) ? &learners[index] : NULL;
}

static bool lists(const char *words, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = words; at && *at;) {
        size_t n = strcspn(at, " ");
        if (n == size && strncmp(at, word, n) == 0) {
            return true;
        }
        at += n + (at[n] == ' ');
    }
    return false;
}

bool tr_learner_listens(const struct tr_learner *learner, const struct tr_algorithm *algorithm,
                        const char *option)
{
    return lists(learner->options, option) || lists(algorithm->options, option);
}

bool tr_selection_listens(const char *option)
{
    return lists(STOPPING " history", option);
}

/* Appends the algorithms of a learner that listen to an option: " -t crf", or " -t crf -a sgd". */
static void list_takers(const struct tr_learner *learner, const char *option, char *text,
                        size_t room)
{
    bool all = lists(learner->options, option), first = true;
    for (const struct tr_algorithm *a = learner->algorithms; a->name; a++) {
        if ((all && first) || (!all && lists(a->options, option))) {
            size_t used = strlen(text);
            snprintf(text + used, room - used, "%s-t %s%s%s", used ? ", " : "", learner->name,
                     all ? "" : " -a ", all ? "" : a->name);
            first = false;
        }
    }
}

void tr_learners_listening(const char *option, char *text, size_t room)
{
    text[0] = '\0';
    for (size_t i = 0; i < TR_COUNT(learners); i++) {
        list_takers(&learners[i], option, text, room);
    }
}

const char *trellis_learner_name(size_t index)
{
    return index < TR_COUNT(learners) ? learners[index].name : NULL;
}

const char *trellis_learner_help(size_t index)
{
    return index < TR_COUNT(learners) ? learners[index].help : NULL;
}
