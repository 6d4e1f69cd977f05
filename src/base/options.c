/* options.c - one table of all options, and sets of values for them. */
#include "base/options.h"

#include <math.h>

#define READ TRELLIS_GROUP_READ
#define WRITE TRELLIS_GROUP_WRITE
#define TRAIN TRELLIS_GROUP_TRAIN
#define TAG TRELLIS_GROUP_TAG
#define EVAL TRELLIS_GROUP_EVAL
#define SAMPLE TRELLIS_GROUP_SAMPLE
#define RUN TRELLIS_GROUP_RUN
#define TUNE TRELLIS_GROUP_TUNE
#define LOOK TRELLIS_GROUP_INSPECT
#define MANY 1e15
#define FORMATS "columns conllu crfsuite wordtag jsonl"

/* clang-format off */
static const trellis_option table[] = {
    /* how a corpus is read */
    {"format", 0, TRELLIS_CHOICE, READ, "NAME", "auto", 0, 0, "auto " FORMATS " text",
     "Format of the input. 'auto' looks at the name: .conllu, .jsonl, else columns."},
    {"label", 0, TRELLIS_STRING, READ, "COLUMN", "last", 0, 0, NULL,
     "Column of the label: its name (UPOS), its number from 1, 'last' or 'none'."},
    {"columns", 0, TRELLIS_STRING, READ, "NAMES", "", 0, 0, NULL,
     "Names of the columns, separated by commas, for templates to use: word,pos,chunk."},
    {"separator", 0, TRELLIS_CHOICE, READ, "NAME", "blank", 0, 0, "blank tab",
     "What separates columns: any run of blanks and tabs, or exactly one tab."},
    {"invalid-utf8", 0, TRELLIS_CHOICE, READ, "WHAT", "error", 0, 0, "error keep",
     "What to do with bytes that are no UTF-8: stop with an error, or keep them as they are."},
    {"part", 0, TRELLIS_STRING, READ, "K/N", "", 0, 0, NULL,
     "Read only part K of N of the sequences of each file, dealt out by --seed; !K/N reads all but that "
     "part. Several, separated by commas, divide what is left. Not for --dev."},
    {"scheme", 0, TRELLIS_CHOICE, READ | EVAL, "NAME", "none", 0, 0, "none iob1 iob2 iobes bilou",
     "Label scheme of the input, where it matters: for conversions and strict evaluation."},

    /* how a corpus is written */
    {"output-format", 0, TRELLIS_CHOICE, WRITE, "NAME", "same", 0, 0, "same " FORMATS " inline",
     "Format of the output; 'same' is that of the input."},
    {"to-scheme", 0, TRELLIS_CHOICE, WRITE, "NAME", "none", 0, 0, "none iob1 iob2 iobes bilou",
     "Label scheme of the output."},

    /* learners */
    {"type", 't', TRELLIS_STRING, TRAIN, "TYPE", "perceptron", 0, 0, NULL,
     "What to learn: see the list of types below."},
    {"algorithm", 'a', TRELLIS_STRING, TRAIN, "NAME", "default", 0, 0, NULL,
     "How to learn it; each type has a default."},
    {"features", 'f', TRELLIS_STRING, TRAIN, "PRESET|FILE", "auto", 0, 0, NULL,
     "Feature templates: a preset (id, hmm, classes, extended, general, pos, chunk, ner, chars) or a "
     "file in the native language, of CRF++ or of Wapiti. 'auto' is 'general', 'hmm' for -t hmm, or "
     "none for ready-made attributes."},
    {"dev", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Held-out data: scored after each iteration, decides when to stop and which model to keep."},
    {"epochs", 'e', TRELLIS_INTEGER, TRAIN, "N", "0", 0, 1e6, NULL,
     "The most passes over the data or iterations; 0 leaves it to the learner."},
    {"patience", 0, TRELLIS_INTEGER, TRAIN, "N", "5", 0, 1e6, NULL,
     "With --dev, stop after N iterations without a better score; 0 never stops early."},
    {"min-count", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e9, NULL,
     "Leave out attributes seen fewer than N times in the training data."},
    {"all-features", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Make every pair of attribute and label a feature, not only the pairs seen together."},
    {"train-scheme", 0, TRELLIS_CHOICE, TRAIN, "NAME", "none", 0, 0, "none iob1 iob2 iobes bilou",
     "Learn with this label scheme inside; the output keeps the scheme of the training data."},
    {"order", 0, TRELLIS_INTEGER, TRAIN, "K", "1", 0, 8, NULL,
     "How many labels back a label depends on."},
    {"observed-states", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "With --order 2 and more: only label sequences seen in training become states; anything else "
     "falls back to a shorter history. Makes high orders with many labels possible."},
    {"prune", 0, TRELLIS_REAL, TRAIN | TAG, "P", "0", 0, 1, NULL,
     "Go on only with labels that have a probability of at least P without looking at their neighbours, and "
     "of those only with what order 1 finds as probable, and so on up to --order: order 2 and 3 cost little "
     "more than order 1, and many labels little more than few. 0 prunes nothing. For crf, trained with -a sgd; "
     "such a model is tagged in the same way unless another P is given."},
    {"counted", 0, TRELLIS_INTEGER, TRAIN, "K", "0", 0, 8, NULL,
     "Let a label depend on how many times in a row the label before it was given, up to K."},
    {"l2", 0, TRELLIS_REAL, TRAIN, "C", "1", 0, 1e12, NULL,
     "Penalty C * sum of w^2, as CRFsuite's c2. The same as --sigma 1/sqrt(2C) and --lambda 2C. "
     "For -t ssvm it is 4 unless given; its lambda, by the mean of the losses, is 2C / sequences."},
    {"sigma", 0, TRELLIS_REAL, TRAIN, "S", "0", 0, 1e12, NULL,
     "Another way to say --l2: the penalty is the sum of w^2 / (2 S^2)."},
    {"lambda", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e12, NULL,
     "Another way to say --l2: the penalty is (X / 2) * sum of w^2."},
    {"l1", 0, TRELLIS_REAL, TRAIN, "C", "0", 0, 1e12, NULL,
     "Penalty C * sum of |w|, as CRFsuite's c1: most weights become 0 and leave the model. Given "
     "without --l2, there is no l2 penalty."},
    {"select-l1", 0, TRELLIS_REAL, TRAIN, "C", "0", 0, 1e12, NULL,
     "Train twice: a first pass with --l1 C selects the features, a second one with the penalties "
     "given sets their weights. A small model at little loss."},
    {"from", 0, TRELLIS_STRING, TRAIN, "MODEL", "", 0, 0, NULL,
     "Begin with the weights of MODEL, for the features that the new data has as well."},
    {"epsilon", 0, TRELLIS_REAL, TRAIN, "X", "1e-5", 0, 1, NULL,
     "Stop where |gradient| / max(1, |w|) is below X; 0 turns this rule off."},
    {"delta", 0, TRELLIS_REAL, TRAIN, "X", "1e-5", 0, 1, NULL,
     "Stop where the objective changed by less than this share over --period iterations; 0 turns "
     "this rule off."},
    {"period", 0, TRELLIS_INTEGER, TRAIN, "N", "10", 1, 1e6, NULL,
     "Iterations that --delta looks back."},
    {"history", 0, TRELLIS_INTEGER, TRAIN, "N", "6", 1, 100, NULL,
     "Steps that L-BFGS remembers."},
    {"warm-up", 0, TRELLIS_INTEGER, TRAIN, "N", "3", 0, 1000, NULL,
     "Epochs of -a sgd that -a lbfgs begins with, which saves it most of its iterations; 0 is none."},
    {"batch", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e6, NULL,
     "Sequences in a step of -a sgd; more than one are looked at by all threads."},
    {"rate", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e6, NULL,
     "First learning rate of -a sgd; 0 finds one by trial."},
    {"average", 0, TRELLIS_FLAG, TRAIN, NULL, "yes", 0, 0, NULL,
     "Average the weights of -a sgd from the second epoch on; --no-average takes the last."},
    {"dictionary", 0, TRELLIS_STRING, TRAIN, "learn|FILE", "", 0, 0, NULL,
     "Tag dictionary: words that may have only some of the labels, in training and in tagging. Learned "
     "from the training data, or from FILE: a word, a tab and its labels a line. Words that it does "
     "not list may have any label."},
    {"dictionary-count", 0, TRELLIS_INTEGER, TRAIN, "N", "5", 1, 1e9, NULL,
     "Words seen at least N times are in the dictionary that --dictionary learn makes."},
    {"loss", 0, TRELLIS_CHOICE, TRAIN, "NAME", "hamming", 0, 0, "hamming root",
     "Margin that pa, arow, mira and ssvm ask for: the number of wrong labels, against the labelling that "
     "violates it most; or its square root, against the best labelling (not for ssvm). A CRF asks for a margin "
     "only where --loss hamming, --cost or --span-loss is given (softmax-margin)."},
    {"cost", 0, TRELLIS_STRING, TRAIN | TAG, "FILE", "", 0, 0, NULL,
     "Costs of wrong labels, in the margin of --loss and with --decode risk: lines with the right label, the "
     "label found and a number. What is not listed costs 1."},
    {"span-loss", 0, TRELLIS_REAL, TRAIN, "X", "1", 0, 1e6, NULL,
     "Multiply by X the cost of a wrong label that breaks a span: beside the boundary of a span, or "
     "one that begins a span. For IOB labels and the learners of --cost."},
    {"aggressiveness", 0, TRELLIS_REAL, TRAIN, "C", "1", 0, 1e12, NULL,
     "The C of pa1, pa2 and mira: how far one sequence may move the weights."},
    {"variance", 0, TRELLIS_REAL, TRAIN, "X", "0.1", 0, 1e12, NULL,
     "First variance of each weight with -a arow, in units of its r: a larger one learns faster."},
    {"mbest", 0, TRELLIS_INTEGER, TRAIN, "M", "5", 1, 100, NULL,
     "Decodings of a sequence that -t mira looks at."},
    {"update", 0, TRELLIS_CHOICE, TRAIN, "HOW", "standard", 0, 0, "standard early max-violation",
     "What a perceptron with a --beam learns from: the best labelling of the beam; its best beginning up to "
     "where the right labels leave the beam (early); or the beginning that scores the most more than the right "
     "labels do (max-violation)."},
    {"gap", 0, TRELLIS_REAL, TRAIN, "X", "0.01", 0, 1, NULL,
     "Stop -t ssvm where the duality gap is below this share of the objective; 0 turns this rule "
     "off."},
    {"partial", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Labels of the training data may be '_', which is not known, or A|B, which is one of these; "
     "whatever agrees with that is as right as any other."},
    {"alpha", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e12, NULL,
     "Added to every count of -t hmm; 1 is Laplace's rule. Unless given, words keep to the labels they were "
     "seen with in labelled data."},
    {"smoothing", 0, TRELLIS_CHOICE, TRAIN, "HOW", "auto", 0, 0, "auto add interpolated",
     "Label steps of -t hmm: counts with --alpha added, or deleted interpolation with shorter histories. "
     "'auto' adds where --alpha is given and --order is 1."},
    {"theta", 0, TRELLIS_REAL, TRAIN, "X", "1", 1e-6, 1e6, NULL,
     "Weight of the next shorter ending when -t hmm guesses the label of an unknown or rare word by its ending."},
    {"checkpoint", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Write all that is needed to go on to FILE, every --every iterations; see --resume."},
    {"every", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e6, NULL,
     "Iterations or epochs from one --checkpoint to the next."},
    {"resume", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Go on from the --checkpoint of a training with the same data and options that was interrupted; "
     "where there is none yet, begin at the beginning. The model is the same to the byte as without "
     "the interruption."},
    {"states", 0, TRELLIS_INTEGER, TRAIN, "N", "0", 0, 60000, NULL,
     "States that -t hmm learns without labels, with -a em or -a viterbi: labels of the training data "
     "are not looked at. They are called s1, s2, ..., where a tag dictionary or --from has no names; 0 stands "
     "for as many as those name."},
    {"restarts", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e6, NULL,
     "Random starts of -a em and -a viterbi: the best by the score on --dev, or by the likelihood of "
     "the training data, is kept."},
    {"unlabelled", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "More training data for -a em and -a viterbi, whose labels, if any, are not looked at."},
    {"unlabelled-weight", 0, TRELLIS_REAL, TRAIN, "X", "1", 0, 1e6, NULL,
     "How much a sequence of --unlabelled counts against one of the labelled data."},
    {"dev-score", 0, TRELLIS_CHOICE, TRAIN, "WHAT", "auto", 0, 0,
     "auto accuracy one-to-one many-to-one likelihood",
     "What of --dev decides with -a em and -a viterbi: how many labels are right; how many are right where "
     "each state stands for a label of its own, or for the label it is found for most often; or its "
     "likelihood. 'auto' is the accuracy where labels of the training data are known, else the likelihood."},
    {"gaussian", 0, TRELLIS_STRING, TRAIN, "COLUMNS", "", 0, 0, NULL,
     "Columns of numbers that the states of -t hmm emit by normal distributions, each with a mean and a "
     "variance: names or numbers from 1, separated by commas. No words are looked at then, unless "
     "--features asks for it."},
    {"variance-floor", 0, TRELLIS_REAL, TRAIN, "X", "1e-3", 0, 1, NULL,
     "No variance of --gaussian is below this share of the variance of its column."},
    {"bits", 0, TRELLIS_CHOICE, TRAIN, "N", "32", 0, 0, "32 16",
     "Bits that the model keeps of each weight of an attribute. 16 make a smaller model, which hardly ever "
     "gives another label."},
    {"log", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Write the figures of each iteration to FILE, one JSON object a line."},

    /* decoding */
    {"constrain", 0, TRELLIS_STRING, TRAIN | TAG, "iob|FILE", "none", 0, 0, NULL,
     "Forbid label steps: those that are illegal in the label scheme (iob), or those listed in FILE, "
     "two labels a line; <start> and <end> are the ends of a sequence."},
    {"forced", 0, TRELLIS_STRING, TAG, "COLUMN", "", 0, 0, NULL,
     "Column of labels that are given, by its name, its number from 1 or 'last': '_' or nothing where "
     "the label is free, A|B where it is one of these. The best labels that agree are found."},
    {"decode", 0, TRELLIS_CHOICE, TAG, "HOW", "viterbi", 0, 0, "viterbi posterior risk beam",
     "Which labels to choose: those of the best path, the most probable one at each position, the one that "
     "is expected to --cost the least at each position, or those of a good path that --beam finds."},
    {"beam", 0, TRELLIS_INTEGER, TRAIN | TAG, "W", "8", 1, 1e6, NULL,
     "Follow only the W best states at each position, which pays where there are many: in tagging with "
     "--decode beam; in the training of a perceptron where W or --update is given. A beam that leads nowhere "
     "is made twice as wide until it does not."},
    {"nbest", 0, TRELLIS_INTEGER, TAG, "N", "1", 1, 1e6, NULL,
     "Write the N best labellings of each sequence, best first, each behind a line '# RANK SCORE "
     "PROBABILITY'; without the probability where the model has none."},
    {"threshold", 0, TRELLIS_REAL, TAG, "P", "0", 0, 1, NULL,
     "Leave out what is less probable than P: spans, whose tokens become O; or where labels are not "
     "about spans, single labels, which become '_'. For crf, maxent, hmm and memm models."},

    /* scoring */
    {"strict", 0, TRELLIS_FLAG, EVAL, NULL, "no", 0, 0, NULL,
     "Count only spans that are legal in --scheme, instead of conlleval's lenient reading."},
    {"clusters", 0, TRELLIS_FLAG, EVAL, NULL, "no", 0, 0, NULL,
     "What was found are states learned without labels: report how well they agree with the labels, "
     "many-to-one, one-to-one by the best assignment, by variation of information and V-measure."},
    {"bootstrap", 0, TRELLIS_INTEGER, EVAL, "N", "0", 0, 1e6, NULL,
     "Find 95 % intervals of the overall figures from N samples of the sequences, such as 1000; 0 finds "
     "none."},
    {"shuffles", 0, TRELLIS_INTEGER, EVAL, "N", "10000", 1, 1e9, NULL,
     "Exchanges of labellings that a comparison of two systems tries; where there are fewer, it tries "
     "them all."},

    /* searching for options */
    {"trials", 0, TRELLIS_INTEGER, TUNE, "N", "0", 0, 1e5, NULL,
     "Try N settings drawn at random; 0 tries every combination."},
    {"halving", 0, TRELLIS_INTEGER, TUNE, "F", "0", 0, 100, NULL,
     "Successive halving: give all settings a small share of the budget, the best 1/F of them F times as "
     "much, and so on; 0 gives all of it to every setting."},
    {"budget", 0, TRELLIS_CHOICE, TUNE, "WHAT", "data", 0, 0, "data epochs",
     "What --halving gives a share of: the sequences to learn from, or --epochs."},

    /* drawing corpora */
    {"labels", 0, TRELLIS_INTEGER, SAMPLE, "N", "10", 1, 60000, NULL, "Labels of the random HMM."},
    {"vocabulary", 0, TRELLIS_INTEGER, SAMPLE, "N", "10000", 1, 1e9, NULL,
     "Words of the random HMM; their frequencies follow Zipf's law."},
    {"tokens", 'n', TRELLIS_INTEGER, SAMPLE, "N", "10000", 0, MANY, NULL,
     "Draw sequences until there are at least this many tokens."},
    {"mean-length", 0, TRELLIS_REAL, SAMPLE, "X", "20", 1, 1e9, NULL,
     "Mean length of a sequence, where the HMM does not say how they end."},

    /* what is shown */
    {"top", 0, TRELLIS_INTEGER, LOOK, "N", "10", 0, 1e6, NULL,
     "Show the N strongest of each list."},
    {"sequence", 0, TRELLIS_INTEGER, LOOK, "N", "0", 0, MANY, NULL,
     "Only the Nth sequence of the input, from 1; 0 is all of them, or the first where only one can "
     "be shown."},

    {"errors", 0, TRELLIS_INTEGER, LOOK, "N", "1000", 0, 1e6, NULL,
     "Show at most N of the sequences that have a wrong label; all are counted."},

    /* everywhere */
    {"threads", 'j', TRELLIS_INTEGER, RUN, "N", "0", 0, 1024, NULL,
     "Threads; 0 is one per processor. Results do not depend on it."},
    {"seed", 0, TRELLIS_INTEGER, RUN, "N", "1", 0, MANY, NULL,
     "Seed of all random choices: the same seed gives the same result."},
    {"memory", 0, TRELLIS_STRING, RUN, "SIZE", "0", 0, 0, NULL,
     "Refuse to train where more memory would be needed, such as 8G or 500M; 0 is no limit."},
};
/* clang-format on */

enum { COUNT = TR_COUNT(table) };

struct trellis_options {
    char *values[COUNT]; // NULL: at its initial value
};

size_t trellis_option_count(void)
{
    return COUNT;
}

const trellis_option *trellis_option_at(size_t index)
{
    return index < COUNT ? &table[index] : NULL;
}

const trellis_option *trellis_option_find(const char *name)
{
    for (size_t i = 0; name && i < COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

trellis_status trellis_options_create(trellis_options **ret_options, trellis_error *error)
{
    *ret_options = tr_alloc(1, sizeof **ret_options);
    return *ret_options ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status trellis_options_copy(const trellis_options *options, trellis_options **ret_options,
                                    trellis_error *error)
{
    trellis_status status = trellis_options_create(ret_options, error);
    for (size_t i = 0; !status && options && i < COUNT; i++) {
        const char *value = options->values[i];
        if (value && !((*ret_options)->values[i] = tr_copy_text(value, strlen(value)))) {
            trellis_options_destroy(*ret_options);
            *ret_options = NULL;
            status = tr_fail_memory(error);
        }
    }
    return status;
}

void trellis_options_destroy(trellis_options *options)
{
    for (size_t i = 0; options && i < COUNT; i++) {
        free(options->values[i]);
    }
    free(options);
}

static trellis_status unknown(const char *name, trellis_error *error)
{
    const char *nearest = NULL;
    unsigned best = 3;
    for (size_t i = 0; i < COUNT; i++) {
        unsigned distance = tr_edit_distance(name, table[i].name, best);
        if (distance < best) {
            best = distance;
            nearest = table[i].name;
        }
    }
    return nearest ? tr_fail(error, TRELLIS_OPTION, "there is no option '%s'; did you mean '%s'?",
                             name, nearest)
                   : tr_fail(error, TRELLIS_OPTION, "there is no option '%s'", name);
}

static bool is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (size_t word; *choices; choices += word + (choices[word] == ' ')) {
        word = strcspn(choices, " ");
        if (word == n && memcmp(choices, value, n) == 0) {
            return true;
        }
    }
    return false;
}

static trellis_status check(const trellis_option *option, const char *value, trellis_error *error)
{
    int64_t whole;
    double real;
    switch (option->type) {
    case TRELLIS_FLAG:
        if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
            return tr_fail(error, TRELLIS_OPTION, "--%s is 'yes' or 'no', not '%s'", option->name,
                           value);
        }
        break;
    case TRELLIS_INTEGER:
        if (!tr_text_integer(tr_text(value), &whole)) {
            return tr_fail(error, TRELLIS_OPTION, "--%s takes a whole number, not '%s'",
                           option->name, value);
        }
        if ((double)whole < option->minimum || (double)whole > option->maximum) {
            return tr_fail(error, TRELLIS_OPTION, "--%s takes a number from %.0f to %.0f, not %s",
                           option->name, option->minimum, option->maximum, value);
        }
        break;
    case TRELLIS_REAL:
        if (!tr_text_real(tr_text(value), &real) || isnan(real)) {
            return tr_fail(error, TRELLIS_OPTION, "--%s takes a number, not '%s'", option->name,
                           value);
        }
        if (real < option->minimum || real > option->maximum) {
            return tr_fail(error, TRELLIS_OPTION, "--%s takes a number from %g to %g, not %s",
                           option->name, option->minimum, option->maximum, value);
        }
        break;
    case TRELLIS_CHOICE:
        if (!is_choice(option->choices, value)) {
            return tr_fail(error, TRELLIS_OPTION, "--%s is one of: %s; not '%s'", option->name,
                           option->choices, value);
        }
        break;
    case TRELLIS_STRING:
        break;
    }
    return TRELLIS_OK;
}

trellis_status trellis_options_set(trellis_options *options, const char *name, const char *value,
                                   trellis_error *error)
{
    if (!name || !value) {
        return tr_fail(error, TRELLIS_OPTION, "an option needs a name and a value");
    }
    const trellis_option *option = trellis_option_find(name);
    if (!option) {
        return unknown(name, error);
    }
    trellis_status status = check(option, value, error);
    if (status) {
        return status;
    }
    char *copy = tr_copy_text(value, strlen(value));
    if (!copy) {
        return tr_fail_memory(error);
    }
    char **slot = &options->values[option - table];
    free(*slot);
    *slot = copy;
    return TRELLIS_OK;
}

const char *trellis_options_get(const trellis_options *options, const char *name)
{
    const trellis_option *option = trellis_option_find(name);
    if (!option) {
        return NULL;
    }
    const char *value = options ? options->values[option - table] : NULL;
    return value ? value : option->default_value;
}

bool trellis_options_given(const trellis_options *options, const char *name)
{
    const trellis_option *option = trellis_option_find(name);
    return option && options && options->values[option - table];
}

const char *tr_option_text(const trellis_options *options, const char *name)
{
    const char *value = trellis_options_get(options, name);
    return value ? value : "";
}

int64_t tr_option_integer(const trellis_options *options, const char *name)
{
    int64_t value = 0;
    tr_text_integer(tr_text(tr_option_text(options, name)), &value);
    return value;
}

double tr_option_real(const trellis_options *options, const char *name)
{
    double value = 0;
    tr_text_real(tr_text(tr_option_text(options, name)), &value);
    return value;
}

bool tr_option_flag(const trellis_options *options, const char *name)
{
    return tr_option_is(options, name, "yes");
}

bool tr_option_is(const trellis_options *options, const char *name, const char *value)
{
    return strcmp(tr_option_text(options, name), value) == 0;
}
