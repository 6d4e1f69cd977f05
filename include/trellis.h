/* trellis.h - learn to label sequences, and label them.
 *
 * This is the whole public interface of libtrellis, and its manual. It has three tiers:
 *
 *   simple     trellis_train(), trellis_model_save(), trellis_model_open(), trellis_tagger_tag()
 *   streams    readers, writers, features and evaluations: the parts that the command is made of
 *   tables     options and learners, listed so that a program can offer them all
 *
 * Rules that hold everywhere:
 *
 *   - A function that can fail returns a trellis_status and takes a trellis_error * as its last
 *     argument. It may be NULL. On success it is left untouched; on failure it holds a code and a
 *     sentence for a person, beginning with file:line where an input is to blame.
 *   - What a function hands out through a `ret_` argument belongs to the caller, who gives it back
 *     to the matching _destroy or _close. Each of those accepts NULL. On failure *ret_ is NULL.
 *   - A `const` pointer handed out belongs to the object it came from and lives as long as that
 *     object, unless the function says "until the next call".
 *   - The library keeps no global state, prints nothing and never ends the process.
 *   - A trellis_model is immutable and may be shared by any number of threads. Every other object
 *     belongs to one thread at a time; make one trellis_tagger per thread over a shared model.
 *   - Text is a pointer and a size, in UTF-8, not ended by a zero byte unless it says `const char *`.
 */
#ifndef TRELLIS_H
#define TRELLIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRELLIS_VERSION_MAJOR 0
#define TRELLIS_VERSION_MINOR 1
#define TRELLIS_VERSION_PATCH 0

#if defined(__GNUC__)
#define TRELLIS_API __attribute__((visibility("default")))
#else
#define TRELLIS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Status and errors
 * --------------------------------------------------------------------------------------------- */

/* Every status there is: X(name, number, meaning). The numbers never change; new ones are added at the end. */
#define TRELLIS_STATUS_LIST(X)                                                                     \
    X(OK, 0, "success")                                                                            \
    X(END, 1, "no more sequences")                                                                 \
    X(INTERRUPTED, 2, "interrupted by the caller")                                                 \
    X(MEMORY, 3, "out of memory")                                                                  \
    X(IO, 4, "cannot read or write")                                                               \
    X(FORMAT, 5, "malformed input")                                                                \
    X(TEMPLATE, 6, "malformed feature template")                                                   \
    X(OPTION, 7, "unknown option or bad value")                                                    \
    X(MODEL, 8, "not a usable model file")                                                         \
    X(LIMIT, 9, "larger than a limit allows")                                                      \
    X(DATA, 10, "data that cannot be learned from or scored")

typedef enum trellis_status {
#define TRELLIS_STATUS_ENUM(name, number, meaning) TRELLIS_##name = (number),
    TRELLIS_STATUS_LIST(TRELLIS_STATUS_ENUM)
#undef TRELLIS_STATUS_ENUM
} trellis_status;

typedef struct trellis_error {
    trellis_status status;
    uint64_t line;      // of the input that is to blame, from 1; 0 where there is none
    uint32_t column;    // within that line, from 1; 0 where there is none
    char message[1000]; // one sentence, with file:line:column in front where known
} trellis_error;

/* "OK", "FORMAT", ...; never NULL. */
TRELLIS_API const char *trellis_status_name(trellis_status status);
/* "success", "malformed input", ...; never NULL. */
TRELLIS_API const char *trellis_status_meaning(trellis_status status);
/* "0.1.0": the version of the library that runs, which may differ from the macros above. */
TRELLIS_API const char *trellis_version(void);

/* ------------------------------------------------------------------------------------------------
 * Options: one table for the command, the library, --help and the manual
 * --------------------------------------------------------------------------------------------- */

typedef enum trellis_option_type {
    TRELLIS_FLAG,    // "yes" or "no"; on the command line it takes no value
    TRELLIS_INTEGER, // within [minimum, maximum]
    TRELLIS_REAL,    // within [minimum, maximum]
    TRELLIS_CHOICE,  // one of `choices`, separated by blanks
    TRELLIS_STRING   // any text
} trellis_option_type;

/* What an option is about; a subcommand takes the options of some of these groups. */
enum {
    TRELLIS_GROUP_READ = 1 << 0,    // how a corpus is read
    TRELLIS_GROUP_WRITE = 1 << 1,   // how a corpus is written
    TRELLIS_GROUP_TRAIN = 1 << 2,   // learners
    TRELLIS_GROUP_TAG = 1 << 3,     // decoding
    TRELLIS_GROUP_EVAL = 1 << 4,    // scoring
    TRELLIS_GROUP_SAMPLE = 1 << 5,  // drawing corpora
    TRELLIS_GROUP_RUN = 1 << 6,     // seed, threads, memory
    TRELLIS_GROUP_INSPECT = 1 << 7, // what is shown of a model or a sequence
    TRELLIS_GROUP_TUNE = 1 << 8     // searching for options
};

typedef struct trellis_option {
    const char *name; // without the dashes
    char letter;      // short form, or 0
    trellis_option_type type;
    unsigned groups;           // TRELLIS_GROUP_*
    const char *placeholder;   // of the value in the help, such as "FILE"
    const char *default_value; // its value unless set
    double minimum, maximum;   // for TRELLIS_INTEGER and TRELLIS_REAL
    const char *choices;       // for TRELLIS_CHOICE
    const char *help;          // one sentence or two
} trellis_option;

/* The table; an index out of range or an unknown name gives NULL. */
TRELLIS_API size_t trellis_option_count(void);
TRELLIS_API const trellis_option *trellis_option_at(size_t index);
TRELLIS_API const trellis_option *trellis_option_find(const char *name);

/* A set of values, all at their initial ones to begin with. */
typedef struct trellis_options trellis_options;
TRELLIS_API trellis_status trellis_options_create(trellis_options **ret_options,
                                                  trellis_error *error);
/* The same values; `options` may be NULL. */
TRELLIS_API trellis_status trellis_options_copy(const trellis_options *options,
                                                trellis_options **ret_options,
                                                trellis_error *error);
TRELLIS_API void trellis_options_destroy(trellis_options *options);
/* Checks the value and copies it. An unknown name gets the nearest known one in the message. */
TRELLIS_API trellis_status trellis_options_set(trellis_options *options, const char *name,
                                               const char *value, trellis_error *error);
/* The value as text, NULL for an unknown name; until the next set of that option. */
TRELLIS_API const char *trellis_options_get(const trellis_options *options, const char *name);
/* Whether it was set by the caller, rather than left at its initial value. */
TRELLIS_API bool trellis_options_given(const trellis_options *options, const char *name);

/* ------------------------------------------------------------------------------------------------
 * Sequences, readers, writers
 * --------------------------------------------------------------------------------------------- */

typedef struct trellis_text {
    const char *data;
    size_t size;
} trellis_text;

/* Something seen at a position, ready-made in the input (CRFsuite's format) or drawn by templates. */
typedef struct trellis_attribute {
    trellis_text name;
    double value;
} trellis_attribute;

/* One sequence as it was read. */
typedef struct trellis_sequence {
    size_t length;                       // tokens
    size_t columns;                      // columns of each token, the label's included
    const trellis_text *cells;           // [length][columns]; NULL where columns is 0
    const trellis_text *labels;          // [length], or NULL where the input has none
    const trellis_attribute *attributes; // of all tokens, one after the other, or NULL
    const size_t *attribute_begin;       // [length + 1] into attributes, or NULL
    double weight;                       // how much it counts in training; 1 unless said
    uint64_t line;                       // where it begins in the input, from 1
    const trellis_text *rows;            // [row_count] verbatim lines of the input, or NULL:
    const size_t *row_token; // [row_count] its token, SIZE_MAX for a comment or the like
    size_t row_count;
} trellis_sequence;

/* Reads sequences one by one from a file, or from standard input for "-". Compressed input (.gz,
 * .zst) is recognised by its first bytes. The options of TRELLIS_GROUP_READ say what to expect;
 * options may be NULL for all initial values. */
typedef struct trellis_reader trellis_reader;
TRELLIS_API trellis_status trellis_reader_open(const char *path, const trellis_options *options,
                                               trellis_reader **ret_reader, trellis_error *error);
/* TRELLIS_OK and a sequence that lives until the next call, or TRELLIS_END, or an error. */
TRELLIS_API trellis_status trellis_reader_next(trellis_reader *reader,
                                               const trellis_sequence **ret_sequence,
                                               trellis_error *error);
/* The format that "auto" takes a file for, by its name: "columns", "conllu", ... */
TRELLIS_API const char *trellis_format_by_name(const char *path);
/* How the format names a column ("FORM"), or NULL where it has no name. */
TRELLIS_API const char *trellis_reader_column_name(const trellis_reader *reader, size_t column);
TRELLIS_API void trellis_reader_close(trellis_reader *reader);

/* Takes bytes to wherever the caller wants them; anything but TRELLIS_OK stops the writing and is
 * passed on. */
typedef trellis_status (*trellis_sink)(void *user, const char *data, size_t size);

/* Writes sequences in the format of the option `output-format`. */
typedef struct trellis_writer trellis_writer;
TRELLIS_API trellis_status trellis_writer_create(const trellis_options *options, trellis_sink sink,
                                                 void *user, trellis_writer **ret_writer,
                                                 trellis_error *error);
/* Writes a sequence. `labels` [sequence->length] are appended as a last column, or put in the
 * place of the format's label where it has just one; NULL writes the sequence as it is. */
TRELLIS_API trellis_status trellis_writer_put(trellis_writer *writer,
                                              const trellis_sequence *sequence,
                                              const trellis_text *labels, trellis_error *error);
/* Hands what is left in the buffer to the sink. */
TRELLIS_API trellis_status trellis_writer_finish(trellis_writer *writer, trellis_error *error);
TRELLIS_API void trellis_writer_destroy(trellis_writer *writer);

/* The words of a corpus, to tell known words from unknown ones: those in the column named word, form,
 * token or tokens, else in the first one. */
typedef struct trellis_words trellis_words;
TRELLIS_API trellis_status trellis_words_read(const char *path, const trellis_options *options,
                                              trellis_words **ret_words, trellis_error *error);
TRELLIS_API void trellis_words_destroy(trellis_words *words);
/* Whether each word of a sequence is among them, known [sequence->length]; false where the sequence has no
 * words. `reader` tells the names of the columns and may be NULL. */
TRELLIS_API bool trellis_words_known(const trellis_words *words, const trellis_reader *reader,
                                     const trellis_sequence *sequence, bool *known);

/* Label schemes for spans. */
typedef enum trellis_scheme {
    TRELLIS_IOB1,  // B- only between two adjacent spans of one type
    TRELLIS_IOB2,  // B- at every beginning
    TRELLIS_IOBES, // E- at the end, S- for a span of one
    TRELLIS_BILOU, // the same with L- and U-
    TRELLIS_NO_SCHEME
} trellis_scheme;
/* "iob1", "iob2", "iobes", "bilou"; TRELLIS_NO_SCHEME for anything else, NULL included. */
TRELLIS_API trellis_scheme trellis_scheme_from_name(const char *name);
/* Rewrites the labels of one sequence. The results live in `storage` until it is destroyed or used
 * again; start with NULL. Illegal sequences are read by the rules of conlleval. */
typedef struct trellis_scheme_storage trellis_scheme_storage;
TRELLIS_API trellis_status trellis_scheme_convert(trellis_scheme from, trellis_scheme to,
                                                  const trellis_text *labels, size_t length,
                                                  trellis_scheme_storage **storage,
                                                  const trellis_text **ret_labels,
                                                  trellis_error *error);
TRELLIS_API void trellis_scheme_storage_destroy(trellis_scheme_storage *storage);

/* ------------------------------------------------------------------------------------------------
 * Features
 * --------------------------------------------------------------------------------------------- */

/* A compiled set of templates: a preset by name, or a file in the native language, of CRF++ or of
 * Wapiti. */
typedef struct trellis_features trellis_features;
TRELLIS_API trellis_status trellis_features_open(const char *preset_or_path,
                                                 trellis_features **ret_features,
                                                 trellis_error *error);
TRELLIS_API void trellis_features_destroy(trellis_features *features);
/* Writes what the templates see in a sequence, one line per token in CRFsuite's attribute format
 * and an empty line behind the last. `reader` tells the names of the columns and may be NULL. */
TRELLIS_API trellis_status trellis_features_print(trellis_features *features,
                                                  const trellis_reader *reader,
                                                  const trellis_sequence *sequence,
                                                  trellis_sink sink, void *user,
                                                  trellis_error *error);
/* The names of the presets and the text of one, NULL where there is none. */
TRELLIS_API const char *trellis_preset_name(size_t index);
TRELLIS_API const char *trellis_preset_text(const char *name);
/* The functions of the native language with a line of help each, as one text. */
TRELLIS_API const char *trellis_features_help(void);

/* ------------------------------------------------------------------------------------------------
 * Models
 * --------------------------------------------------------------------------------------------- */

typedef struct trellis_model trellis_model;

/* Maps and checks a model file. Every byte of it is taken as hostile until checked: sizes and offsets
 * here, weights where they are read. The checksums of large sections are not computed, so that a model
 * opens in a few milliseconds whatever its size. */
TRELLIS_API trellis_status trellis_model_open(const char *path, trellis_model **ret_model,
                                              trellis_error *error);
/* Computes the checksums of the large sections too: TRELLIS_MODEL where a byte is not what it was when the
 * model was written. Reads the whole file. */
TRELLIS_API trellis_status trellis_model_verify(const trellis_model *model, trellis_error *error);
/* Writes to a temporary name beside `path`, syncs, renames: the file is the old or the new one,
 * never half of one. */
TRELLIS_API trellis_status trellis_model_save(const trellis_model *model, const char *path,
                                              trellis_error *error);
TRELLIS_API void trellis_model_close(trellis_model *model);

/* The same model with its weights in 16 or 32 bits. In 16 bits they are rounded, all by the same unit;
 * TRELLIS_LIMIT where a few of them are so large that this would change the others too much, or where one
 * is infinite. The weights of label steps, which are few, keep 32 bits. */
TRELLIS_API trellis_status trellis_model_repack(const trellis_model *model, int bits,
                                                trellis_model **ret_model, trellis_error *error);
TRELLIS_API int trellis_model_bits(const trellis_model *model);

TRELLIS_API size_t trellis_model_label_count(const trellis_model *model);
/* The text of a label; an index out of range gives an empty text. */
TRELLIS_API trellis_text trellis_model_label(const trellis_model *model, size_t index);
/* What the training noted down: "type", "algorithm", "objective", ...; NULL where there is none. */
TRELLIS_API const char *trellis_model_note(const trellis_model *model, const char *key);

/* Whether scores are logarithms of probabilities, up to a constant for each sequence: the model's type is
 * one of crf, maxent, hmm and memm. */
TRELLIS_API bool trellis_model_has_probabilities(const trellis_model *model);

/* What is in the model, for a person (`json` false) or a program. */
TRELLIS_API trellis_status trellis_model_info(const trellis_model *model, bool json,
                                              trellis_sink sink, void *user, trellis_error *error);
/* The whole model as text (`json` false), which trellis_model_import() reads back, or as JSON. */
TRELLIS_API trellis_status trellis_model_export(const trellis_model *model, bool json,
                                                trellis_sink sink, void *user,
                                                trellis_error *error);
TRELLIS_API trellis_status trellis_model_import(const char *path, trellis_model **ret_model,
                                                trellis_error *error);

/* Whether a model is an HMM whose probabilities sum to 1: TRELLIS_DATA with the label that is to blame. */
TRELLIS_API trellis_status trellis_model_check_hmm(const trellis_model *model,
                                                   trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Training
 * --------------------------------------------------------------------------------------------- */

/* What a training is doing. */
typedef enum trellis_phase {
    TRELLIS_PHASE_MESSAGE = 0,     // nothing new but a message: see `message`
    TRELLIS_PHASE_READING = 1,     // reading the data
    TRELLIS_PHASE_CALIBRATING = 2, // trying learning rates
    TRELLIS_PHASE_WARM_UP = 3,     // stochastic epochs before a batch method begins
    TRELLIS_PHASE_TRAINING = 4
} trellis_phase;
/* "reading", "training", ...; never NULL. */
TRELLIS_API const char *trellis_phase_name(trellis_phase phase);

/* Where a training stands. Figures that are not known are NaN (real) or 0 (whole). */
typedef struct trellis_progress {
    trellis_phase phase;
    const char *message;     // a sentence, with TRELLIS_PHASE_MESSAGE; otherwise NULL
    uint64_t iteration;      // epochs or iterations done
    uint64_t max_iterations; // the maximum, or 0
    double fraction;         // of this iteration, 0 to 1; 1 when it is complete
    double objective;        // what is minimised; with -a sgd as it was on the way through the data
    double gradient_norm;    // relative to the weights
    double error_rate;       // share of training tokens labelled wrongly in this iteration
    uint64_t active_features; // with a weight other than 0
    double dev_accuracy;      // on --dev
    double dev_f1;            // on --dev, where the labels are spans
    double likelihood;     // log P of the training data by token (weighted), where that is learned
    double dev_likelihood; // the same of --dev, where that decides
    double seconds;        // since the training began
    double tokens_per_second; // in this iteration
} trellis_progress;

/* Returning false stops the training: the best model so far is still handed out, with
 * TRELLIS_INTERRUPTED as the status. */
typedef bool (*trellis_progress_function)(void *user, const trellis_progress *progress);

/* Learns a model from files. The options of TRELLIS_GROUP_TRAIN, _READ and _RUN say how. `progress`
 * may be NULL. With TRELLIS_INTERRUPTED there is a model too, unless nothing had been learned yet. */
TRELLIS_API trellis_status trellis_train(const trellis_options *options, const char *const *paths,
                                         size_t path_count, trellis_progress_function progress,
                                         void *user, trellis_model **ret_model,
                                         trellis_error *error);

/* The model types that -t takes, with a sentence each; an index out of range gives NULL. */
TRELLIS_API const char *trellis_learner_name(size_t index);
TRELLIS_API const char *trellis_learner_help(size_t index);

/* ------------------------------------------------------------------------------------------------
 * Tagging
 * --------------------------------------------------------------------------------------------- */

/* One per thread, over a model that outlives it. */
typedef struct trellis_tagger trellis_tagger;
TRELLIS_API trellis_status trellis_tagger_create(const trellis_model *model,
                                                 const trellis_options *options,
                                                 trellis_tagger **ret_tagger, trellis_error *error);
TRELLIS_API void trellis_tagger_destroy(trellis_tagger *tagger);
/* Tells which column is which; to be called once for each reader before its first sequence. Without
 * it the columns are taken in the order of the training file. */
TRELLIS_API trellis_status trellis_tagger_bind(trellis_tagger *tagger, const trellis_reader *reader,
                                               trellis_error *error);
/* Says that only these labels can stand at a position, from 0, of the next sequence to be tagged: the
 * best labels are then sought among those that agree. Calls for one position narrow it further. What was
 * said is forgotten when that sequence has been tagged, well or not. Labels are written as the tagger
 * writes them, and go before the tag dictionary of the model. A label that the model does not have, or
 * none at all, is TRELLIS_DATA, and the call is as if it had not been made. Where no sequence of labels is
 * left, tagging fails with TRELLIS_DATA. */
TRELLIS_API trellis_status trellis_tagger_allow(trellis_tagger *tagger, size_t position,
                                                const trellis_text *labels, size_t count,
                                                trellis_error *error);
/* Finds the best labels: *ret_labels [sequence->length], until the next call. */
TRELLIS_API trellis_status trellis_tagger_tag(trellis_tagger *tagger,
                                              const trellis_sequence *sequence,
                                              const trellis_text **ret_labels,
                                              trellis_error *error);
/* The score of the labels found last; NaN where none were. */
TRELLIS_API double trellis_tagger_score(const trellis_tagger *tagger);

/* Finds the n best labellings (n at least 1), whatever the option `decode` says: *ret_count of them, fewer
 * than n where there are fewer, in order of falling score. They are asked for by rank, from 0, until the
 * next sequence is tagged; a rank that was not found gives NULL or NaN. After trellis_tagger_tag() there is
 * rank 0. Where the model has another label scheme inside, labellings that differ there may read the same
 * outside. */
TRELLIS_API trellis_status trellis_tagger_nbest(trellis_tagger *tagger,
                                                const trellis_sequence *sequence, size_t n,
                                                size_t *ret_count, trellis_error *error);
/* Labels [sequence->length], until the next call with this tagger; NULL on allocation failure, too. */
TRELLIS_API const trellis_text *trellis_tagger_nth_labels(trellis_tagger *tagger, size_t rank);
TRELLIS_API double trellis_tagger_nth_score(const trellis_tagger *tagger, size_t rank);
/* log Z of the sequence tagged last; under an HMM this is log P(sequence), minus infinity where it has
 * probability 0, and scores are log P(sequence, labels). TRELLIS_MODEL where the model is not
 * probabilistic. */
TRELLIS_API trellis_status trellis_tagger_log_z(trellis_tagger *tagger, double *ret_log_z,
                                                trellis_error *error);
/* P(labels | sequence) = exp(score - log Z), where Z sums over all labellings that are allowed. NaN where
 * the model is not probabilistic: its type is none of crf, maxent, hmm and memm. */
TRELLIS_API double trellis_tagger_nth_probability(trellis_tagger *tagger, size_t rank);
/* The probability of each of its labels by itself [sequence->length], until the next call with this
 * tagger; TRELLIS_MODEL where the model is not probabilistic. Inside the model's own label scheme. */
TRELLIS_API trellis_status trellis_tagger_nth_marginals(trellis_tagger *tagger, size_t rank,
                                                        const float **ret_marginals,
                                                        trellis_error *error);

/* The probability of every label at every position [length][trellis_model_label_count()], until the next
 * call with this tagger. */
TRELLIS_API trellis_status trellis_tagger_marginals(trellis_tagger *tagger,
                                                    const float **ret_marginals,
                                                    trellis_error *error);
/* The probability that the tokens begin .. end-1 have the labels that they have in a labelling and, where
 * all labels of the model are about spans, that these are whole spans: that what stands before and behind
 * them does not belong to them. */
TRELLIS_API trellis_status trellis_tagger_nth_span_probability(trellis_tagger *tagger, size_t rank,
                                                               size_t begin, size_t end,
                                                               double *ret_probability,
                                                               trellis_error *error);
/* log P(labels | sequence) of any labels [length] of the sequence tagged last, written as the tagger writes
 * them; minus infinity where the model rules them out. */
TRELLIS_API trellis_status trellis_tagger_log_probability(trellis_tagger *tagger,
                                                          const trellis_text *labels,
                                                          double *ret_log_probability,
                                                          trellis_error *error);

/* Whether each word of a sequence is one of `words`, or where that is NULL, was seen when the model was
 * trained: *ret_known [sequence->length], until the next call, or NULL where that is not known: the model
 * does not say, or the input has no words. */
TRELLIS_API trellis_status trellis_tagger_known(trellis_tagger *tagger, const trellis_words *words,
                                                const trellis_sequence *sequence,
                                                const bool **ret_known, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Explanation: why a token got its label
 * --------------------------------------------------------------------------------------------- */

/* What one feature adds to the score of two labellings. */
typedef struct trellis_contribution {
    size_t position;            // the token where it counts; the sequence's length for its end
    trellis_text attribute;     // what is seen there; empty for a step, "normaliser" in an MEMM
    const trellis_text *labels; // [label_count] of a step, oldest first
    size_t label_count;         // 0 where it is no step
    double predicted;           // what it adds to the labels found,
    double runner_up;           // and to those of the rival
} trellis_contribution;

/* The label of a token against its rival: the best of all other labels, which is the one that the best
 * labelling has which differs at this token. The differences chosen - rival of all contributions add up
 * to the margin: those of the token itself, and those at other tokens whose label changes with it. */
typedef struct trellis_explanation {
    trellis_text predicted;
    trellis_text runner_up; // empty where no other label is possible
    double margin; // score of the labels found - score of the rival's; infinite where there is none
    double predicted_probability, runner_up_probability; // of the labels at this token, or NaN
    const trellis_text *runner_up_labels;      // [length] the best labelling with the rival
    const trellis_contribution *contributions; // the largest difference first
    size_t contribution_count;
} trellis_explanation;

/* One per thread, over a model that outlives it; options as for a tagger. Labels are those inside the
 * model, see trellis_model_label(). */
typedef struct trellis_explainer trellis_explainer;
TRELLIS_API trellis_status trellis_explainer_create(const trellis_model *model,
                                                    const trellis_options *options,
                                                    trellis_explainer **ret_explainer,
                                                    trellis_error *error);
TRELLIS_API void trellis_explainer_destroy(trellis_explainer *explainer);
/* As trellis_tagger_bind(). */
TRELLIS_API trellis_status trellis_explainer_bind(trellis_explainer *explainer,
                                                  const trellis_reader *reader,
                                                  trellis_error *error);
/* Finds the best labels and the reasons for them: *ret_explanations [sequence->length], until the next call. A
 * sequence of more than 1000 tokens is TRELLIS_LIMIT. */
TRELLIS_API trellis_status trellis_explainer_run(trellis_explainer *explainer,
                                                 const trellis_sequence *sequence,
                                                 const trellis_explanation **ret_explanations,
                                                 trellis_error *error);
/* The reasons found last, for a person or as a line of JSON, with the `top` largest contributions of each
 * token. */
TRELLIS_API trellis_status trellis_explainer_report(const trellis_explainer *explainer,
                                                    const trellis_sequence *sequence, size_t top,
                                                    bool json, trellis_sink sink, void *user,
                                                    trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Pictures
 * --------------------------------------------------------------------------------------------- */

/* Labels a sequence of 1 to 60 tokens and writes its trellis as SVG: a column for each token, a row for
 * each label of the best path and for the `most` most probable ones, states shaded and steps drawn by
 * their probability, the best path on top. For a model without probabilities those of exp(score) / Z. */
TRELLIS_API trellis_status trellis_draw(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        size_t most, trellis_sink sink, void *user,
                                        trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Evaluation
 * --------------------------------------------------------------------------------------------- */

/* Counts what was right, by token, by sequence and, where the labels are spans, by span as the
 * conlleval program of the CoNLL shared tasks does. The options of TRELLIS_GROUP_EVAL, `scheme` and
 * `seed` say how. */
typedef struct trellis_evaluation trellis_evaluation;

typedef struct trellis_scores {
    uint64_t sequences, sequences_correct;
    uint64_t tokens, tokens_correct;
    uint64_t spans_gold, spans_predicted, spans_correct;
    double accuracy;              // of tokens, 0 to 1, as all figures here
    double precision, recall, f1; // of spans
    bool has_spans;               // every gold label is O, B-TYPE, I-TYPE, ...
    double log_likelihood;        // sum of log P(gold | sequence); NaN where it was not told
    uint64_t impossible;          // sequences left out of it, whose gold labels have probability 0
    double log_probability;       // sum of log P(sequence) under an HMM; NaN where it was not told
    double perplexity; // exp(-log_probability / its tokens), without sequences that cannot be
    double calibration_error; // expected; over TRELLIS_BY_CONFIDENCE; NaN without marginals
} trellis_scores;

TRELLIS_API trellis_status trellis_evaluation_create(const trellis_options *options,
                                                     trellis_evaluation **ret_evaluation,
                                                     trellis_error *error);
TRELLIS_API void trellis_evaluation_destroy(trellis_evaluation *evaluation);
TRELLIS_API trellis_status trellis_evaluation_add(trellis_evaluation *evaluation,
                                                  const trellis_text *gold,
                                                  const trellis_text *predicted, size_t length,
                                                  trellis_error *error);
/* The same with all that is known about the sequence; what is not known is NULL. */
typedef struct trellis_labelled {
    size_t length;
    const trellis_text *gold, *predicted; // [length]
    const bool *known;                    // [length] whether the word was seen in training
    const float *marginals;               // [length] the probability of each label found
    const double *log_likelihood;         // log P(gold | sequence), one number
    const double *log_probability;        // log P(sequence) under an HMM, one number
} trellis_labelled;
TRELLIS_API trellis_status trellis_evaluation_add_labelled(trellis_evaluation *evaluation,
                                                           const trellis_labelled *sequence,
                                                           trellis_error *error);
TRELLIS_API trellis_scores trellis_evaluation_scores(const trellis_evaluation *evaluation);

/* The same counts, where what was found are states that were learned without labels. */
typedef struct trellis_cluster_scores {
    uint64_t tokens;
    size_t states, labels; // that occur
    double many_to_one;    // share of tokens right, where each state is read as its commonest label
    double one_to_one;     // the same under the best assignment that gives no label to two states
    double variation;      // of information, in bits: 0 where states and labels say the same
    double homogeneity;    // 1 - H(label | state) / H(label)
    double completeness;   // 1 - H(state | label) / H(state)
    double v_measure;      // the harmonic mean of these two
} trellis_cluster_scores;
TRELLIS_API trellis_status trellis_evaluation_clusters(const trellis_evaluation *evaluation,
                                                       trellis_cluster_scores *ret_scores,
                                                       trellis_error *error);

/* The counts in parts. Ranges of lengths and positions are 1, 2, 3-4, 5-8, 9-16, ... */
typedef enum trellis_breakdown {
    TRELLIS_BY_LABEL,            // tokens by their label, in the order of the texts
    TRELLIS_BY_TYPE,             // spans by their type, in the order of the texts
    TRELLIS_BY_WORD,             // tokens: "in vocabulary" and "OOV", out of it
    TRELLIS_BY_LENGTH,           // tokens by the length of their sequence
    TRELLIS_BY_POSITION,         // tokens by their position in the sequence, from 1
    TRELLIS_SEQUENCES_BY_LENGTH, // sequences that are right from end to end
    TRELLIS_SPANS_BY_LENGTH,     // spans by their length
    TRELLIS_BY_CONFIDENCE,       // tokens by the probability of the label found, in ten bins
    TRELLIS_BREAKDOWN_COUNT
} trellis_breakdown;
/* A key for programs ("by_label") and a heading for people ("tokens by label"); NULL beyond the last. */
TRELLIS_API const char *trellis_breakdown_key(trellis_breakdown breakdown);
TRELLIS_API const char *trellis_breakdown_title(trellis_breakdown breakdown);

typedef struct trellis_row {
    trellis_text name; // until the next sequence is added
    uint64_t gold, predicted,
        correct;                  // how many have it by the gold labels, by those found, by both
    double precision, recall, f1; // all of them the accuracy where gold and found are the same
    double confidence;            // mean probability, of TRELLIS_BY_CONFIDENCE; else NaN
} trellis_row;
/* Row `index`, from 0, of those that have something to count; false beyond the last. */
TRELLIS_API bool trellis_evaluation_row(const trellis_evaluation *evaluation,
                                        trellis_breakdown breakdown, size_t index,
                                        trellis_row *ret_row);

/* Averages over the rows of a breakdown: of all counts together, of the figures of each row, and of
 * those weighted by its gold count. The name of the row is empty. */
typedef enum trellis_average { TRELLIS_MICRO, TRELLIS_MACRO, TRELLIS_WEIGHTED } trellis_average;
TRELLIS_API trellis_row trellis_evaluation_average(const trellis_evaluation *evaluation,
                                                   trellis_breakdown breakdown,
                                                   trellis_average average);

/* Tokens with one label by the gold labels and the other (or the same) by those found. */
TRELLIS_API uint64_t trellis_evaluation_confusion(const trellis_evaluation *evaluation,
                                                  trellis_text gold, trellis_text predicted);

/* What one number says about it all. */
typedef enum trellis_measure {
    TRELLIS_ACCURACY,
    TRELLIS_SEQUENCE_ACCURACY,
    TRELLIS_PRECISION,
    TRELLIS_RECALL,
    TRELLIS_F1,
    TRELLIS_MEASURE_COUNT
} trellis_measure;
/* "accuracy", "sequence_accuracy", ...; NULL beyond the last. */
TRELLIS_API const char *trellis_measure_name(trellis_measure measure);

/* The interval that holds a measure in 95 % of the samples, with replacement, of as many sequences: the
 * bootstrap with as many samples as the option `bootstrap` says; NaN where that is 0. */
typedef struct trellis_interval {
    double low, high;
} trellis_interval;
TRELLIS_API trellis_status trellis_evaluation_intervals(
    const trellis_evaluation *evaluation, trellis_interval ret_intervals[TRELLIS_MEASURE_COUNT],
    trellis_error *error);

/* Two systems on the same gold labels. */
typedef struct trellis_contrast {
    double first, second;        // the measure of each
    trellis_interval difference; // of second - first, by the bootstrap
    double p; // how often a difference as large arises by exchanging labellings at random
} trellis_contrast;
typedef struct trellis_comparison {
    bool has_spans; // else precision, recall and F1 say nothing
    trellis_contrast measures[TRELLIS_MEASURE_COUNT];
    uint64_t exchanges;               // tried by the randomisation test,
    bool exact;                       // ... or all there are
    uint64_t only_first, only_second; // tokens that only the one or the other has right
    double mcnemar;                   // p of those two counts, by the exact binomial test
} trellis_comparison;
/* With the options of the first one: `shuffles`, `bootstrap` (1000 where that is 0), `seed`.
 * TRELLIS_DATA where the gold labels are not the same. */
TRELLIS_API trellis_status trellis_evaluation_compare(const trellis_evaluation *first,
                                                      const trellis_evaluation *second,
                                                      trellis_comparison *ret_comparison,
                                                      trellis_error *error);

/* The report: conlleval's lines, JSON with everything, or everything for a person, with conlleval's
 * lines behind it. With the option `clusters`, of states against labels. */
typedef enum trellis_report_form {
    TRELLIS_CONLLEVAL,
    TRELLIS_JSON,
    TRELLIS_DETAILS
} trellis_report_form;
TRELLIS_API trellis_status trellis_evaluation_report(const trellis_evaluation *evaluation,
                                                     trellis_report_form form, trellis_sink sink,
                                                     void *user, trellis_error *error);
TRELLIS_API trellis_status trellis_comparison_report(const trellis_comparison *comparison,
                                                     trellis_report_form form, trellis_sink sink,
                                                     void *user, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Inspection: what a model has learned
 * --------------------------------------------------------------------------------------------- */

/* A feature and its weight. */
typedef struct trellis_weighted {
    trellis_text attribute;     // what is seen, such as word[-1]=the; empty for a step
    const trellis_text *labels; // [label_count] oldest first; the last one is what it speaks for
    size_t label_count;         // 1; 2 and more where it depends on the labels before
    double weight;
} trellis_weighted;

/* What is ranked: features of what is seen or steps, that speak for a label or against it. The weights of
 * an HMM are logarithms of probabilities and never above 0: there the highest ones speak for a label, and
 * none against it. */
typedef enum trellis_ranking {
    TRELLIS_FEATURES_HIGHEST,
    TRELLIS_FEATURES_LOWEST,
    TRELLIS_TRANSITIONS_HIGHEST,
    TRELLIS_TRANSITIONS_LOWEST,
    TRELLIS_RANKING_COUNT
} trellis_ranking;

/* A template, and how much of it is in the model. */
typedef struct trellis_template_usage {
    trellis_text text;   // empty for ready-made attributes
    bool edge;           // whether it sees pairs of labels
    uint64_t attributes; // that have a weight
    uint64_t weights;    // other than 0
    double absolute;     // the sum of their absolute values
} trellis_template_usage;

/* Looks at all weights of a model, which must outlive it, and keeps the `top` strongest features and steps
 * of each label. Labels are those inside the model, see trellis_model_label(). */
typedef struct trellis_inspection trellis_inspection;
TRELLIS_API trellis_status trellis_inspection_create(const trellis_model *model, size_t top,
                                                     trellis_inspection **ret_inspection,
                                                     trellis_error *error);
TRELLIS_API void trellis_inspection_destroy(trellis_inspection *inspection);
/* The strongest of a label, strongest first: *ret_count of them. The number behind the last label stands
 * for the end of a sequence, which has steps. */
TRELLIS_API const trellis_weighted *trellis_inspection_top(const trellis_inspection *inspection,
                                                           size_t label, trellis_ranking ranking,
                                                           size_t *ret_count);
/* The templates in the order of their file; ready-made attributes come last, where there are any. */
TRELLIS_API const trellis_template_usage *trellis_inspection_templates(
    const trellis_inspection *inspection, size_t *ret_count);
/* The weight of the step from a label to a label; the number behind the last label is the start as `from`
 * and the end as `to`. Minus infinity where it is forbidden, 0 where it has no weight. */
TRELLIS_API double trellis_inspection_transition(const trellis_inspection *inspection, size_t from,
                                                 size_t to);
/* All of it, for a person or as JSON; about one label only where `label` is not NULL, which may be
 * TRELLIS_DATA: the model does not have it. */
TRELLIS_API trellis_status trellis_inspection_report(const trellis_inspection *inspection,
                                                     const char *label, bool json,
                                                     trellis_sink sink, void *user,
                                                     trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Searching for options
 * --------------------------------------------------------------------------------------------- */

/* Which settings to try next. The search hands them out one by one and is told a score for each; it does
 * not know what is done with them. */
typedef struct trellis_search trellis_search;

typedef struct trellis_trial {
    size_t number; // of the settings, from 0
    double share;  // of the budget that they are to be given, or were given last; 1 is all
    const char *const *names;  // [setting_count] of options
    const char *const *values; // [setting_count] until the next call
    size_t setting_count;
    bool scored;
    double score, seconds; // where they were scored; the score is NaN where they could not be
} trellis_trial;

/* `tries` are texts NAME=A,B,C or NAME=LOW..HIGH about options of learning. The options of
 * TRELLIS_GROUP_TUNE and `seed` say which combinations are tried, and with which shares of the budget. */
TRELLIS_API trellis_status trellis_search_create(const trellis_options *options,
                                                 const char *const *tries, size_t try_count,
                                                 trellis_search **ret_search, trellis_error *error);
TRELLIS_API void trellis_search_destroy(trellis_search *search);
/* Keeps scores in a file, from which a later search takes them instead of handing the same settings out
 * again. `task` says what they are scores of: a file of another task is TRELLIS_DATA. To be called before
 * the first settings are asked for. */
TRELLIS_API trellis_status trellis_search_keep(trellis_search *search, const char *path,
                                               const char *task, trellis_error *error);
/* TRELLIS_OK and the next settings, or TRELLIS_END. */
TRELLIS_API trellis_status trellis_search_next(trellis_search *search, trellis_trial *ret_trial);
/* The score of the settings handed out last, NaN where there is none; higher is better. */
TRELLIS_API trellis_status trellis_search_tell(trellis_search *search, double score, double seconds,
                                               trellis_error *error);
/* All settings there are, and each of them by rank, from 0: those that were given most of the budget first,
 * and of these the best. TRELLIS_END beyond the last. */
TRELLIS_API size_t trellis_search_count(const trellis_search *search);
TRELLIS_API trellis_status trellis_search_ranked(const trellis_search *search, size_t place,
                                                 trellis_trial *ret_trial);
/* What was tried as an SVG picture, self-contained. */
TRELLIS_API trellis_status trellis_search_plot(const trellis_search *search, trellis_sink sink,
                                               void *user, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Reports: how good a model is and what it has learned, as one page
 * --------------------------------------------------------------------------------------------- */

/* One HTML page that holds all it needs and asks nothing of a network: figures, course of the training,
 * confusions, calibration, strongest features, label steps, and the sequences with wrong labels. The model
 * must outlive the report. `title` is copied; options are those of TRELLIS_GROUP_EVAL and _LOOK. */
typedef struct trellis_report trellis_report;
TRELLIS_API trellis_status trellis_report_create(const trellis_model *model,
                                                 const trellis_options *options, const char *title,
                                                 trellis_report **ret_report, trellis_error *error);
TRELLIS_API void trellis_report_destroy(trellis_report *report);
/* Adds a sequence with its right labels, the labels found, and the probability of each or NULL. The pages of
 * long corpora stay readable: beyond the option `errors`, sequences are counted but not shown. */
TRELLIS_API trellis_status trellis_report_add(trellis_report *report,
                                              const trellis_sequence *sequence,
                                              const trellis_labelled *labelled,
                                              trellis_error *error);
TRELLIS_API trellis_status trellis_report_write(const trellis_report *report, trellis_sink sink,
                                                void *user, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Drawing corpora
 * --------------------------------------------------------------------------------------------- */

/* Draws labelled sequences from the HMM of `model`, or where it is NULL from a random one with the
 * sizes of the options of TRELLIS_GROUP_SAMPLE, and writes them. */
TRELLIS_API trellis_status trellis_sample(const trellis_model *model,
                                          const trellis_options *options, trellis_writer *writer,
                                          trellis_error *error);

#ifdef __cplusplus
}
#endif

#endif
