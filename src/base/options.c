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
#define INSPECT TRELLIS_GROUP_INSPECT
#define LIMITS TRELLIS_GROUP_LIMITS
#define MANY 1e15
#define FORMATS "columns conllu crfsuite wordtag jsonl"

/* clang-format off */
static const trellis_option table[] = {
    /* input */
    {"format", 0, TRELLIS_CHOICE, READ, "NAME", "auto", 0, 0, "auto " FORMATS " text",
     "Input format. 'auto' goes by the file name: .conllu, .jsonl, otherwise columns."},
    {"label", 0, TRELLIS_STRING, READ, "COLUMN", "last", 0, 0, NULL,
     "Label column: a name, a number, 'last' or 'none'."},
    {"columns", 0, TRELLIS_STRING, READ, "NAMES", "", 0, 0, NULL,
     "Column names for templates, separated by commas: word,pos,chunk."},
    {"separator", 0, TRELLIS_CHOICE, READ, "NAME", "blank", 0, 0, "blank tab",
     "Column separator: any run of blanks and tabs, or exactly one tab."},
    {"tokenizer", 0, TRELLIS_CHOICE, READ, "NAME", "english", 0, 0,
     "english romance whitespace unicode",
     "How to split running text (--format text): by the rules of the Penn Treebank (english); "
     "French, Italian and Catalan with their elision (romance); at blanks, a line being a sentence "
     "(whitespace); or at the word boundaries of Unicode, UAX #29 (unicode)."},
    {"invalid-utf8", 0, TRELLIS_CHOICE, READ, "WHAT", "error", 0, 0, "error keep",
     "How to handle bytes that are not valid UTF-8: stop with an error, or keep them unchanged."},
    {"context", 0, TRELLIS_INTEGER, READ, "N", "0", 0, 1000, NULL,
     "Let templates see N sequences before and after each one, of the same document (a token "
     "-DOCSTART- or a comment '# newdoc' begins one). Training with templates that ask for it takes "
     "25, and a model reads its input as its training data was read."},
    {"part", 0, TRELLIS_STRING, READ, "K/N", "", 0, 0, NULL,
     "Read only part K of N of the sequences of each file, assigned at random by --seed; !K/N "
     "reads all other parts. Several, separated by commas, apply one after the other. Does not "
     "apply to --dev."},
    {"scheme", 0, TRELLIS_CHOICE, READ | EVAL, "NAME", "none", 0, 0, "none iob1 iob2 iobes bilou",
     "Label scheme of the input; needed for conversion and strict evaluation."},

    /* output */
    {"output-format", 0, TRELLIS_CHOICE, WRITE, "NAME", "same", 0, 0, "same " FORMATS " labels inline",
     "Output format; 'same' is the input format."},
    {"to-scheme", 0, TRELLIS_CHOICE, WRITE, "NAME", "none", 0, 0, "none iob1 iob2 iobes bilou",
     "Label scheme of the output."},

    /* training */
    {"type", 't', TRELLIS_STRING, TRAIN, "TYPE", "auto", 0, 0, NULL,
     "Model type: perceptron, mira, ssvm, crf, maxent, hmm or memm. 'auto' is that of the preset's "
     "recipe (see 'trellis presets'), otherwise perceptron."},
    {"algorithm", 'a', TRELLIS_STRING, TRAIN, "NAME", "default", 0, 0, NULL,
     "Training algorithm; each type has a default."},
    {"features", 'f', TRELLIS_STRING, TRAIN, "PRESET|FILE", "auto", 0, 0, NULL,
     "Feature templates: a preset or a template file. Presets are id, hmm, classes, extended, "
     "general, pos, chunk, ner and chars; a file is in the native language or in that of CRF++ or "
     "Wapiti. Without -t, a preset comes with its recipe: the learner, options and label scheme "
     "that suit it. 'auto' is the preset that suits the data; with -t, it is 'hmm' for -t hmm and "
     "otherwise 'general'. --format crfsuite needs no templates."},
    {"fast", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Take the fast variant of the recipe. It takes about a tenth of the time and is less accurate."},
    {"best", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Take the slow variant of the recipe. It takes two or three times as long, for the last bit of "
     "accuracy."},
    {"dev", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Held-out data, scored after each iteration. Decides when to stop and which model to keep."},
    {"epochs", 'e', TRELLIS_INTEGER, TRAIN, "N", "0", 0, 1e6, NULL,
     "Maximum number of epochs or iterations. 0 uses the default of the learner."},
    {"patience", 0, TRELLIS_INTEGER, TRAIN, "N", "5", 0, 1e6, NULL,
     "With --dev, stop once the smoothed score has been below its best, by more than chance, for N "
     "iterations, or half as many as came before, if that is more; batch methods such as L-BFGS "
     "take 4 N. 0 turns early stopping off."},
    {"keep", 0, TRELLIS_CHOICE, TRAIN, "WHICH", "best", 0, 0, "best last",
     "With --dev: keep the model of the best iteration (best), or train to the end and keep the last "
     "one (last), so that the dev data only shows progress."},
    {"min-count", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e9, NULL,
     "Ignore attributes (for trellis cluster: words) seen fewer than N times in the training data."},
    {"min-feature-count", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e9, NULL,
     "Ignore features rarer than X in the training data: pairs of an attribute and a label whose "
     "values sum to less, and transitions seen fewer times. CRFsuite's feature.minfreq."},
    {"all-features", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Make every pair of attribute and label a feature, not only the pairs seen in the training "
     "data."},
    {"transitions", 0, TRELLIS_CHOICE, TRAIN, "WHICH", "auto", 0, 0, "auto observed all",
     "Transitions that get a weight: those seen in the training data (observed) or every pair of "
     "labels (all). 'auto' is 'all' with --all-features or at most 64 labels, otherwise "
     "'observed'."},
    {"train-scheme", 0, TRELLIS_CHOICE, TRAIN, "NAME", "none", 0, 0, "none iob1 iob2 iobes bilou",
     "Convert labels to this scheme for training, and back for output."},
    {"order", 0, TRELLIS_INTEGER, TRAIN, "K", "1", 0, 8, NULL,
     "Markov order: how many previous labels a label depends on."},
    {"observed-states", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "With --order 2 or higher: only label histories seen in training become states; others back "
     "off to a shorter history. Makes high orders practical with many labels."},
    {"prune", 0, TRELLIS_REAL, TRAIN | TAG, "P", "0", 0, 1, NULL,
     "Coarse-to-fine pruning: drop labels whose posterior is below P at order 0, then histories at "
     "order 1, and so on up to --order. Orders 2 and 3 then cost little more than order 1, and "
     "large label sets little more than small ones. 0 turns pruning off. For -t crf -a sgd; the "
     "model is decoded with the same P unless another is given."},
    {"segments", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Semi-Markov model: labels such as B-X and I-X are cut into segments, which 'segment' templates "
     "see as a whole. Implies --constrain iob. For -t crf, perceptron, mira and ssvm."},
    {"max-segment", 0, TRELLIS_INTEGER, TRAIN, "N", "8", 1, 64, NULL,
     "With --segments: 'segment' templates see segments of up to N tokens, and of each type no longer "
     "ones than the training data has. Longer segments are still possible, with the scores of their "
     "tokens alone."},
    {"filter", 0, TRELLIS_REAL, TRAIN, "P", "0", 0, 1, NULL,
     "With --segments: 'segment' templates see a segment only where each of its words begins, "
     "continues or ends segments in at least this share of its places in the training data. Faster; "
     "the others keep the scores of their tokens. 0 sees all of them."},
    {"counted", 0, TRELLIS_INTEGER, TRAIN, "K", "0", 0, 8, NULL,
     "Let a label depend on how many times in a row the previous label has occurred, counted up to "
     "K."},
    {"l2", 0, TRELLIS_REAL, TRAIN, "C", "1", 0, 1e12, NULL,
     "Penalty C * sum of w^2, like CRFsuite's c2. Equivalent to --sigma 1/sqrt(2C) and --lambda "
     "2C. The default for -t ssvm is 4; in terms of the mean loss, its lambda is 2C / sequences."},
    {"sigma", 0, TRELLIS_REAL, TRAIN, "S", "0", 0, 1e12, NULL,
     "Alternative to --l2: the penalty is the sum of w^2 / (2 S^2)."},
    {"lambda", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e12, NULL,
     "Alternative to --l2: the penalty is (X / 2) * sum of w^2."},
    {"l1", 0, TRELLIS_REAL, TRAIN, "C", "0", 0, 1e12, NULL,
     "Penalty C * sum of |w|, like CRFsuite's c1: most weights become 0 and are left out of the "
     "model. If given without --l2, there is no l2 penalty."},
    {"select-l1", 0, TRELLIS_REAL, TRAIN, "C", "0", 0, 1e12, NULL,
     "Train twice: first with --l1 C to select features, then with the other penalties given to "
     "set their weights. Yields a small model at little loss of accuracy."},
    {"from", 0, TRELLIS_STRING, TRAIN, "MODEL", "", 0, 0, NULL,
     "Initialise the weights from MODEL, for features that the new data has as well."},
    {"epsilon", 0, TRELLIS_REAL, TRAIN, "X", "1e-5", 0, 1, NULL,
     "Stop when |gradient| / max(1, |w|) is below X; 0 turns this rule off."},
    {"delta", 0, TRELLIS_REAL, TRAIN, "X", "1e-5", 0, 1, NULL,
     "Stop when the relative change of the objective over --period iterations is below X; 0 turns "
     "this rule off."},
    {"period", 0, TRELLIS_INTEGER, TRAIN, "N", "10", 1, 1e6, NULL,
     "Number of iterations over which --delta measures the change."},
    {"history", 0, TRELLIS_INTEGER, TRAIN, "N", "6", 1, 100, NULL,
     "Number of corrections that L-BFGS stores."},
    {"warm-up", 0, TRELLIS_INTEGER, TRAIN, "N", "8", 0, 1000, NULL,
     "Epochs of SGD before -a lbfgs, which save most of its iterations; 0 turns them off."},
    {"batch", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e6, NULL,
     "Mini-batch size of -a sgd, in sequences; batches of more than one use all threads."},
    {"rate", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e6, NULL,
     "Initial learning rate of -a sgd; 0 calibrates it on a sample."},
    {"dropout", 0, TRELLIS_REAL, TRAIN, "P", "0", 0, 0.95, NULL,
     "At each step of -a sgd, leave out every attribute of a token with probability P, so that the "
     "weights of attributes that usually occur together do not come to depend on each other. A "
     "lower --l2 goes with it."},
    {"seeds", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1000, NULL,
     "Train N times, with the seeds S to S + N - 1 where --seed is S, side by side in as many "
     "threads, and average the weights: one model that varies less with the seed than each of "
     "them. For learners that shuffle the data or leave attributes out at random; with --checkpoint "
     "or --select-l1 recipes train one seed. The iterations that are shown and logged are those of "
     "the first seed. With --dev each seed stops, and keeps its best iteration, by its own scores; "
     "the score of the model is that of the average. An interrupted training averages what the "
     "seeds have reached."},
    {"average", 0, TRELLIS_FLAG, TRAIN, NULL, "yes", 0, 0, NULL,
     "Average the weights: of -a sgd from the second epoch on, of online learners from the first; "
     "--no-average keeps the last ones."},
    {"dictionary", 0, TRELLIS_STRING, TRAIN, "learn|FILE", "", 0, 0, NULL,
     "Tag dictionary: restricts words to the labels it lists, in training and in tagging. Learned "
     "from the training data, or read from FILE: a word, a tab and its labels on each line. Words "
     "that are not listed may have any label."},
    {"dictionary-count", 0, TRELLIS_INTEGER, TRAIN, "N", "5", 1, 1e9, NULL,
     "With --dictionary learn, minimum count of a word to be listed."},
    {"loss", 0, TRELLIS_CHOICE, TRAIN, "NAME", "hamming", 0, 0, "hamming count root one",
     "Margin of pa, arow, mira and ssvm: the number of wrong labels, with loss-augmented decoding "
     "(hamming); or with plain decoding, not for ssvm, the number of wrong labels (count), its "
     "square root (root), or 1 (one). A CRF uses a margin "
     "only if --loss hamming, --cost or --span-loss is given (softmax-margin)."},
    {"cost", 0, TRELLIS_STRING, TRAIN | TAG, "FILE", "", 0, 0, NULL,
     "Misclassification costs, for the margin of --loss and for --decode risk: a gold label, a "
     "predicted label and a number on each line. Pairs that are not listed cost 1."},
    {"span-loss", 0, TRELLIS_REAL, TRAIN, "X", "1", 0, 1e6, NULL,
     "Multiply by X the cost of a wrong label that breaks a span: at a gold span boundary, or "
     "where the predicted label begins a span. For IOB labels and the learners of --cost."},
    {"aggressiveness", 0, TRELLIS_REAL, TRAIN, "C", "1", 0, 1e12, NULL,
     "Aggressiveness C of pa1, pa2 and mira: limits how far one sequence may move the weights."},
    {"variance", 0, TRELLIS_REAL, TRAIN, "X", "0.1", 0, 1e12, NULL,
     "Initial variance of each weight with -a arow, relative to r; a larger one learns faster."},
    {"mbest", 0, TRELLIS_INTEGER, TRAIN, "M", "5", 1, 100, NULL,
     "Number of best labellings that -t mira keeps a margin from."},
    {"update", 0, TRELLIS_CHOICE, TRAIN, "HOW", "standard", 0, 0, "standard early max-violation",
     "Update of a perceptron trained with --beam: the best labelling in the beam (standard); its "
     "best prefix, up to where the gold labels fall off the beam (early); or the prefix with the "
     "largest violation (max-violation)."},
    {"gap", 0, TRELLIS_REAL, TRAIN, "X", "0.01", 0, 1, NULL,
     "Stop -t ssvm when the duality gap, relative to the objective, is below X; 0 turns this rule "
     "off."},
    {"partial", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Labels of the training data may be '_' (unknown) or A|B (one of these); every consistent "
     "labelling counts as correct."},
    {"alpha", 0, TRELLIS_REAL, TRAIN, "X", "0", 0, 1e12, NULL,
     "Additive smoothing: add X to every count of -t hmm; 1 is Laplace smoothing. Unless given, "
     "a word only gets labels it was seen with, or if it is rare, labels that fit its suffix."},
    {"smoothing", 0, TRELLIS_CHOICE, TRAIN, "HOW", "auto", 0, 0, "auto add interpolated",
     "Smoothing of the transitions of -t hmm: add --alpha to the counts, or deleted interpolation "
     "with shorter histories. 'auto' is 'add' if --alpha is given and --order is 1, otherwise "
     "'interpolated'."},
    {"theta", 0, TRELLIS_REAL, TRAIN, "X", "1", 1e-6, 1e6, NULL,
     "Weight of the next shorter suffix when -t hmm guesses the label of an unknown or rare word "
     "by its suffix."},
    {"checkpoint", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Write a checkpoint to FILE, every --every iterations; see --resume."},
    {"every", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e6, NULL,
     "Iterations or epochs between checkpoints."},
    {"resume", 0, TRELLIS_FLAG, TRAIN, NULL, "no", 0, 0, NULL,
     "Resume an interrupted training with the same data and options from its --checkpoint; start "
     "from scratch if there is none yet. The model is the same to the byte as without the "
     "interruption."},
    {"states", 0, TRELLIS_INTEGER, TRAIN, "N", "0", 0, 60000, NULL,
     "Number of states for training without labels (-t hmm with -a em or -a viterbi); labels in "
     "the training data are ignored. States are named s1, s2, ... unless a tag dictionary or "
     "--from names them; 0 takes as many as these name."},
    {"restarts", 0, TRELLIS_INTEGER, TRAIN, "N", "1", 1, 1e6, NULL,
     "Random restarts of -a em and -a viterbi; keeps the one with the best score on --dev, or "
     "without --dev the highest likelihood of the training data."},
    {"unlabelled", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Additional training data for -a em and -a viterbi; its labels, if any, are ignored."},
    {"unlabelled-weight", 0, TRELLIS_REAL, TRAIN, "X", "1", 0, 1e6, NULL,
     "Weight of a sequence of --unlabelled relative to a labelled one."},
    {"dev-score", 0, TRELLIS_CHOICE, TRAIN, "WHAT", "auto", 0, 0,
     "auto accuracy one-to-one many-to-one likelihood",
     "What --dev is scored by with -a em and -a viterbi: accuracy; accuracy after mapping states "
     "to labels one-to-one or many-to-one; or likelihood. 'auto' is accuracy if the training data "
     "has labels, otherwise likelihood."},
    {"gaussian", 0, TRELLIS_STRING, TRAIN, "COLUMNS", "", 0, 0, NULL,
     "Numeric columns that -t hmm emits by normal distributions, with a mean and a variance for "
     "each state: names or numbers from 1, separated by commas. Words are then ignored unless "
     "--features is given."},
    {"variance-floor", 0, TRELLIS_REAL, TRAIN, "X", "1e-3", 0, 1, NULL,
     "Minimum variance of --gaussian, relative to the variance of the column."},
    {"bits", 0, TRELLIS_CHOICE, TRAIN, "N", "32", 0, 0, "32 16",
     "Bits per attribute weight in the model. 16 makes a smaller model and rarely changes a "
     "prediction."},
    {"log", 0, TRELLIS_STRING, TRAIN, "FILE", "", 0, 0, NULL,
     "Write the figures of each iteration to FILE, one JSON object per line; with --seeds, of the "
     "iterations of the first seed."},

    /* decoding */
    {"constrain", 0, TRELLIS_STRING, TRAIN | TAG, "iob|FILE", "none", 0, 0, NULL,
     "Forbid transitions: those that are illegal in the label scheme (iob), or those listed in "
     "FILE, two labels per line; <start> and <end> stand for the ends of a sequence."},
    {"forced", 0, TRELLIS_STRING, TAG, "COLUMN", "", 0, 0, NULL,
     "Column of given labels: a name, a number from 1 or 'last'. '_' or an empty cell leaves a "
     "label open, A|B allows either. Finds the best labelling consistent with them."},
    {"decode", 0, TRELLIS_CHOICE, TAG, "HOW", "viterbi", 0, 0, "viterbi posterior risk beam",
     "Decoding: viterbi (best path), posterior (best label of each token), risk (minimum expected "
     "--cost of each token) or beam (approximate best path, see --beam)."},
    {"beam", 0, TRELLIS_INTEGER, TRAIN | TAG, "W", "8", 1, 1e6, NULL,
     "Beam width: keep only the W best states at each position; doubled where no complete path "
     "survives. For tagging with --decode beam, and for training a perceptron if --beam or "
     "--update is given."},
    {"nbest", 0, TRELLIS_INTEGER, TAG, "N", "1", 1, 1e6, NULL,
     "Write the N best labellings of each sequence, best first, each after a line '# RANK SCORE "
     "PROBABILITY', or in JSON lines as the member 'nbest'; the probability is missing for models "
     "that have none."},
    {"threshold", 0, TRELLIS_REAL, TAG, "P", "0", 0, 1, NULL,
     "Drop predictions with a probability below P: the tokens of a span become O; labels that are "
     "not span labels become '_'. For crf, maxent, hmm and memm models."},

    /* evaluation */
    {"strict", 0, TRELLIS_FLAG, EVAL, NULL, "no", 0, 0, NULL,
     "Count only spans that are legal in --scheme, instead of conlleval's lenient reading."},
    {"clusters", 0, TRELLIS_FLAG, EVAL, NULL, "no", 0, 0, NULL,
     "Predictions are states learned without labels: report many-to-one and one-to-one accuracy, "
     "variation of information and V-measure."},
    {"bootstrap", 0, TRELLIS_INTEGER, EVAL, "N", "0", 0, 1e6, NULL,
     "95 % bootstrap confidence intervals of the overall figures, from N resamples of the "
     "sequences, such as 1000; 0 turns them off."},
    {"shuffles", 0, TRELLIS_INTEGER, EVAL, "N", "10000", 1, 1e9, NULL,
     "Number of random shuffles in the significance test of --against; if there are fewer in all, "
     "every one is tried."},

    /* hyperparameter search */
    {"trials", 0, TRELLIS_INTEGER, TUNE, "N", "0", 0, 1e5, NULL,
     "Try N random settings; 0 tries every combination."},
    {"halving", 0, TRELLIS_INTEGER, TUNE, "F", "0", 0, 100, NULL,
     "Successive halving: train all settings with a small share of the budget, the best 1/F of "
     "them with F times as much, and so on; 0 gives every setting the full budget."},
    {"budget", 0, TRELLIS_CHOICE, TUNE, "WHAT", "data", 0, 0, "data epochs",
     "What --halving divides: the training sequences, or --epochs."},

    /* sampling */
    {"labels", 0, TRELLIS_INTEGER, SAMPLE, "N", "10", 1, 60000, NULL,
     "Number of labels of the random HMM."},
    {"vocabulary", 0, TRELLIS_INTEGER, SAMPLE, "N", "10000", 1, 1e9, NULL,
     "Number of words of the random HMM; their frequencies follow Zipf's law."},
    {"tokens", 'n', TRELLIS_INTEGER, SAMPLE, "N", "10000", 0, MANY, NULL,
     "Sample sequences until there are at least N tokens."},
    {"mean-length", 0, TRELLIS_REAL, SAMPLE, "X", "20", 1, 1e9, NULL,
     "Mean length of a sequence, if the HMM does not model where sequences end."},

    /* inspection */
    {"top", 0, TRELLIS_INTEGER, INSPECT, "N", "10", 0, 1e6, NULL,
     "Show the top N entries of each list."},
    {"sequence", 0, TRELLIS_INTEGER, INSPECT, "N", "0", 0, MANY, NULL,
     "Use only the Nth sequence of the input, from 1; 0 uses all, or the first where only one can "
     "be shown."},

    {"errors", 0, TRELLIS_INTEGER, INSPECT, "N", "1000", 0, 1e6, NULL,
     "Show at most N of the sequences with errors; all are counted."},

    /* running */
    {"threads", 'j', TRELLIS_INTEGER, RUN, "N", "0", 0, 1024, NULL,
     "Number of threads; 0 uses all available processors. Results do not depend on it."},
    {"seed", 0, TRELLIS_INTEGER, RUN, "N", "1", 0, MANY, NULL,
     "Random seed: the same seed gives the same result."},
    {"memory", 0, TRELLIS_STRING, RUN, "SIZE", "0", 0, 0, NULL,
     "Maximum memory for training, such as 8G or 500M: stops while reading the data, or before "
     "learning, if it does not suffice. 0 is no limit."},

    /* limits on untrusted input */
    {"max-length", 0, TRELLIS_INTEGER, LIMITS, "N", "1000000", 1, 4e9, NULL,
     "Maximum number of tokens in a sequence."},
    {"max-sequence", 0, TRELLIS_STRING, LIMITS, "SIZE", "128M", 0, 0, NULL,
     "Maximum size of a sequence in the input."},
    {"max-token", 0, TRELLIS_STRING, LIMITS, "SIZE", "128M", 0, 0, NULL,
     "Maximum size of a cell, label or attribute."},
    {"max-file", 0, TRELLIS_STRING, LIMITS, "SIZE", "1G", 0, 0, NULL,
     "Maximum size, decompressed, of a file that is read as a whole: tag dictionary, costs, "
     "constraints, word lists, clusters, embeddings."},
    {"max-ratio", 0, TRELLIS_INTEGER, LIMITS, "N", "250", 1, 1e9, NULL,
     "Stop if compressed input becomes more than N times as large (beyond 64 MB)."},
    {"max-matches", 0, TRELLIS_INTEGER, LIMITS, "N", "100000000", 1, MANY, NULL,
     "Maximum number of steps of all regular expressions in one sequence; each match has the first "
     "1000 free."},
    {"max-labellings", 0, TRELLIS_INTEGER, LIMITS, "N", "10000000", 1, MANY, NULL,
     "Maximum number of labels in an n-best list: labellings times tokens. Each takes some 50 "
     "bytes."},
};
/* clang-format on */

enum { COUNT = TR_COUNT(table) };

struct trellis_options {
    char *values[COUNT]; // NULL: at its default
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
    if (!name) {
        return NULL;
    }
    for (size_t i = 0; name && i < COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

trellis_status trellis_options_create(trellis_options **ret_options, trellis_error *error)
{
    if (!TR_CLEAR(ret_options)) {
        return tr_fail_null(error, __func__);
    }
    *ret_options = tr_alloc(1, sizeof **ret_options);
    return *ret_options ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status trellis_options_copy(const trellis_options *options, trellis_options **ret_options,
                                    trellis_error *error)
{
    if (!TR_CLEAR(ret_options)) {
        return tr_fail_null(error, __func__);
    }
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
    trellis_suggestion suggestion = {.struct_size = sizeof suggestion, .asked = name};
    for (size_t i = 0; i < COUNT; i++) {
        trellis_suggest(&suggestion, table[i].name);
    }
    return suggestion.nearest
               ? tr_fail(error, TRELLIS_OPTION, "unknown option '%s'; did you mean '%s'?", name,
                         suggestion.nearest)
               : tr_fail(error, TRELLIS_OPTION, "unknown option '%s'", name);
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
            return tr_fail(error, TRELLIS_OPTION, "--%s must be 'yes' or 'no', not '%s'",
                           option->name, value);
        }
        break;
    case TRELLIS_INTEGER:
        if (!tr_text_integer(tr_text(value), &whole)) {
            return tr_fail(error, TRELLIS_OPTION, "--%s must be an integer, not '%s'", option->name,
                           value);
        }
        if ((double)whole < option->minimum || (double)whole > option->maximum) {
            return tr_fail(error, TRELLIS_OPTION, "--%s must be between %.0f and %.0f, not %s",
                           option->name, option->minimum, option->maximum, value);
        }
        break;
    case TRELLIS_REAL:
        if (!tr_text_real(tr_text(value), &real) || isnan(real)) {
            return tr_fail(error, TRELLIS_OPTION, "--%s must be a number, not '%s'", option->name,
                           value);
        }
        if (real < option->minimum || real > option->maximum) {
            return tr_fail(error, TRELLIS_OPTION, "--%s must be between %g and %g, not %s",
                           option->name, option->minimum, option->maximum, value);
        }
        break;
    case TRELLIS_CHOICE:
        if (!is_choice(option->choices, value)) {
            return tr_fail(error, TRELLIS_OPTION, "--%s must be one of: %s; not '%s'", option->name,
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
    if (!options || !name || !value) {
        return tr_fail_null(error, __func__);
    }
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
    if (!name) {
        return NULL;
    }
    const trellis_option *option = trellis_option_find(name);
    if (!option) {
        return NULL;
    }
    const char *value = options ? options->values[option - table] : NULL;
    return value ? value : option->default_value;
}

bool trellis_options_given(const trellis_options *options, const char *name)
{
    if (!name) {
        return false;
    }
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
