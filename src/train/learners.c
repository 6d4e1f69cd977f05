/* learners.c - the one table that lists the learners, what each can do and what it listens to. */
#include "train/learners.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/online.h"

/* Options are listed where only some learners listen to them; the others are for all: of reading,
 * features, --epochs, --dev, --order, ... */
#define MARGIN "loss cost span-loss"
#define PENALTY "l2 sigma lambda"
#define FEATURES "min-feature-count transitions"
#define SEGMENTS " segments max-segment filter"

static const struct tr_algorithm perceptron[] = {
    {"averaged", tr_train_online, 20, .options = "average seeds",
     .online = &tr_averaged_perceptron},
    {"plain", tr_train_online, 20, .options = "seeds", .online = &tr_plain_perceptron},
    {"pa", tr_train_online, 20, .options = MARGIN " average seeds", .online = &tr_pa},
    {"pa1", tr_train_online, 20, .options = MARGIN " aggressiveness average seeds",
     .online = &tr_pa1},
    {"pa2", tr_train_online, 20, .options = MARGIN " aggressiveness average seeds",
     .online = &tr_pa2},
    {"arow", tr_train_online, 20, .options = MARGIN " variance average seeds", .online = &tr_arow},
    {0}};

static const struct tr_algorithm mira[] = {
    {"hildreth", tr_train_online, 20, .options = "average seeds", .online = &tr_mira}, {0}};

static const struct tr_algorithm ssvm[] = {
    {"bcfw", tr_train_bcfw, 50, .options = "gap seeds"},
    {"subgradient", tr_train_subgradient, 50, .options = "seeds"},
    {0}};

#define STOPPING "epsilon delta period"
static const struct tr_algorithm crf[] = {
    {"lbfgs", tr_train_lbfgs, 0, TR_SHARED_DATA,
     .options = STOPPING " history select-l1 l1 warm-up"},
    {"sgd", tr_train_sgd, 20, .options = "select-l1 batch rate average dropout seeds prune",
     .abilities = TR_STOCHASTIC | TR_SHARED_DATA, .floats_per_weight = 12},
    {"cg", tr_train_cg, 0, TR_SHARED_DATA, .options = STOPPING " select-l1"},
    {"gd", tr_train_gd, 0, TR_SHARED_DATA, .options = STOPPING " select-l1"},
    {0}};
static const struct tr_algorithm unpruned[] = {
    {"lbfgs", tr_train_lbfgs, 0, TR_SHARED_DATA,
     .options = STOPPING " history select-l1 l1 warm-up"},
    {"sgd", tr_train_sgd, 20, .options = "select-l1 batch rate average dropout seeds",
     .abilities = TR_STOCHASTIC | TR_SHARED_DATA, .floats_per_weight = 12},
    {"cg", tr_train_cg, 0, TR_SHARED_DATA, .options = STOPPING " select-l1"},
    {"gd", tr_train_gd, 0, TR_SHARED_DATA, .options = STOPPING " select-l1"},
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
     "Moves the weights towards the gold labels and away from the best labelling whenever that is "
     "wrong. Trains in seconds and needs no tuning: a good first model. Its scores are not "
     "probabilities.\n\n"
     "-a averaged averages the weights over all steps, which generalises better than the last "
     "ones (-a plain). The passive-aggressive variants (pa, pa1, pa2) take the smallest step that "
     "makes the margin as large as --loss; arow also keeps a variance for each weight.\n\n"
     "Collins (2002), Discriminative training methods for hidden Markov models, EMNLP. Crammer et "
     "al. (2006), Online passive-aggressive algorithms, JMLR 7. Crammer, Kulesza and Dredze (2009), "
     "Adaptive regularization of weight vectors, NIPS.",
     perceptron, TR_PARTIAL_LABELS, FEATURES " beam update from" SEGMENTS, "general",
     .floats_per_weight = 5},
    {"mira",
     "margin-infused relaxed algorithm: a perceptron that keeps a margin from the --mbest best "
     "labellings",
     "After each sequence, takes the smallest step that separates the gold labels from each of the "
     "--mbest best labellings by its loss. A little slower than a perceptron, often a little more "
     "accurate. Its scores are not probabilities.\n\n"
     "Crammer and Singer (2003), Ultraconservative online algorithms for multiclass problems, JMLR "
     "3. McDonald, Crammer and Pereira (2005), Online large-margin training of dependency parsers, "
     "ACL.",
     mira, 0, FEATURES " " MARGIN " aggressiveness mbest from" SEGMENTS, "general",
     .floats_per_weight = 5},
    {"ssvm",
     "structural support vector machine: maximum margin; -a bcfw (block-coordinate Frank-Wolfe, with a "
     "duality gap) or subgradient",
     "Finds the largest margin between the gold labels and all others, scaled by their loss, with a "
     "penalty --l2. -a bcfw has a duality gap, which says how far from the optimum it is; "
     "-a subgradient does not. Its scores are not probabilities.\n\n"
     "Taskar, Guestrin and Koller (2004), Max-margin Markov networks, NIPS. Tsochantaridis et al. "
     "(2005), Large margin methods for structured and interdependent output variables, JMLR 6. "
     "Lacoste-Julien et al. (2013), Block-coordinate Frank-Wolfe optimization for structural SVMs, "
     "ICML.",
     ssvm, TR_PENALISED, FEATURES " " MARGIN " " PENALTY " from" SEGMENTS, "general", 4,
     .floats_per_weight = 5,
     /* The labellings of the dual: 100 bytes a token in chunking, 220 with more labels. */
     .bytes_per_token = 200},
    {"crf", "conditional random field: the most accurate; -a lbfgs, sgd, cg or gd",
     "Models P(labels | sequence), normalised over all labellings: the most accurate choice for most "
     "tasks, with probabilities for labels, spans and labellings.\n\n"
     "-a lbfgs finds the optimum of the penalised likelihood and is the default; -a sgd is close to "
     "it after a few epochs and is the one for many labels, high orders (--prune) and large data; "
     "cg and gd are there for teaching.\n\n"
     "Lafferty, McCallum and Pereira (2001), Conditional random fields, ICML. Sha and Pereira "
     "(2003), Shallow parsing with conditional random fields, NAACL. Sutton and McCallum (2012), An "
     "introduction to conditional random fields, FnT Machine Learning 4.",
     crf, TR_PARTIAL_LABELS | TR_SHARED_ROWS | TR_PENALISED,
     FEATURES " " MARGIN " " PENALTY " from" SEGMENTS, "general", 1, &tr_crf_hooks,
     .floats_per_weight = 40},
    {"maxent", "maximum-entropy classifier: predicts each label independently",
     "A classifier of each token by itself (multinomial logistic regression): no transitions. The "
     "baseline that shows what the other labels of a sequence are worth, and enough where they "
     "are worth nothing.\n\n"
     "Berger, Della Pietra and Della Pietra (1996), A maximum entropy approach to natural language "
     "processing, Computational Linguistics 22. Ratnaparkhi (1996), A maximum entropy model for "
     "part-of-speech tagging, EMNLP.",
     unpruned, TR_PARTIAL_LABELS | TR_SHARED_ROWS | TR_PENALISED | TR_NO_TRANSITIONS,
     "min-feature-count " MARGIN " " PENALTY " from", "general", 1, &tr_crf_hooks,
     .floats_per_weight = 40},
    {"hmm",
     "hidden Markov model: -a counts, in one pass; without labels -a em (Baum-Welch) or viterbi (hard EM)",
     "Models P(labels, words) by counting, in one pass: labels given the previous ones, words given "
     "their label. Trains at reading speed, and can also be trained without labels: -a em "
     "(Baum-Welch) or -a viterbi (hard EM), with --states.\n\n"
     "Transitions are smoothed by deleted interpolation, unknown words are guessed by their "
     "endings, as in TnT. --gaussian columns are emitted by normal distributions.\n\n"
     "Rabiner (1989), A tutorial on hidden Markov models, Proceedings of the IEEE 77. Brants "
     "(2000), TnT: a statistical part-of-speech tagger, ANLP. Merialdo (1994), Tagging English text "
     "with a probabilistic model, Computational Linguistics 20.",
     hmm, TR_GENERATIVE, "alpha gaussian variance-floor", "hmm", .hooks = &tr_hmm_hooks,
     .floats_per_weight = 12},
    {"memm",
     "maximum-entropy Markov model: predicts each label given the previous ones; trains faster than a "
     "CRF if there are many labels, but suffers from label bias",
     "Predicts each label given the previous ones and all words, normalised locally. Trains faster "
     "than a CRF if there are many labels, but a state with few successors ignores the words: label "
     "bias (docs/guide/label-bias.md).\n\n"
     "McCallum, Freitag and Pereira (2000), Maximum entropy Markov models for information "
     "extraction and segmentation, ICML.",
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

const char *trellis_learner_about(size_t index)
{
    return index < TR_COUNT(learners) ? learners[index].about : NULL;
}

/* NULL if there is none. */
static const struct tr_algorithm *algorithm_at(size_t index, size_t algorithm)
{
    const struct tr_algorithm *a = index < TR_COUNT(learners) ? learners[index].algorithms : NULL;
    while (a && a->name && algorithm > 0) {
        a++;
        algorithm--;
    }
    return a && a->name ? a : NULL;
}

const char *trellis_learner_algorithm(size_t index, size_t algorithm)
{
    const struct tr_algorithm *a = algorithm_at(index, algorithm);
    return a ? a->name : NULL;
}

/* Whether some learners listen to an option and others do not. */
static bool is_selective(const char *option)
{
    char takers[2000];
    tr_learners_listening(option, takers, sizeof takers);
    return takers[0] != '\0';
}

bool trellis_learner_takes(size_t index, size_t algorithm, const char *option)
{
    if (!option) {
        return false;
    }
    const struct tr_algorithm *a = algorithm_at(index, algorithm);
    bool ordered = strcmp(option, "order") == 0;
    if (!a || (ordered && (learners[index].abilities & TR_NO_TRANSITIONS))) {
        return false;
    }
    return tr_learner_listens(&learners[index], a, option) || !is_selective(option);
}

double trellis_learner_default(size_t index, size_t algorithm, const char *option)
{
    const struct tr_algorithm *a = option ? algorithm_at(index, algorithm) : NULL;
    if (a && strcmp(option, "epochs") == 0) {
        return (double)a->epochs;
    }
    bool penalty = a && strcmp(option, "l2") == 0 && (learners[index].abilities & TR_PENALISED);
    return penalty ? learners[index].l2 : NAN;
}
