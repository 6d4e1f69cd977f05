/* trellis.h - train sequence labelling models and tag with them.
 *
 * This is the whole public interface of libtrellis, and its manual. It has three tiers:
 *
 *   simple     trellis_train_files(), trellis_model_save(), trellis_model_open(),
 *              trellis_tagger_tag()
 *   streams    readers, writers, features and evaluations: what the command is built from
 *   tables     options and learners, listed so that a program can offer all of them
 *
 * docs/glossary.md defines the terms. These rules hold everywhere:
 *
 *   - A function that can fail returns a trellis_status and takes a trellis_error * as its last
 *     argument, which may be NULL. Success leaves it untouched. On failure it holds a status and a
 *     message of one sentence, which begins with file:line where the input is at fault.
 *   - A pointer may be NULL only if it is called `error`, `user` or `progress`, if it is a set of
 *     options to read, if its function destroys or closes it, if it is an array of 0 elements, or
 *     if the comment says "may be NULL". Any other NULL is TRELLIS_OPTION; from a function without a
 *     status the answer is false, 0, NULL, NaN or an empty text, or that nothing was found.
 *   - An object returned through a `ret_` argument belongs to the caller, who passes it to the
 *     matching _destroy or _close function. Each of those accepts NULL. On failure *ret_ is NULL.
 *   - A returned `const` pointer belongs to the object it came from and is valid as long as that
 *     object, unless the function says "until the next call".
 *   - The library has no global state, prints nothing and never exits the process.
 *   - A trellis_model is immutable and may be shared by any number of threads. Options may be
 *     shared by threads that only read them. Every other object belongs to one thread at a time:
 *     create one trellis_tagger per thread over a shared model.
 *   - A struct that begins with `struct_size` may grow. The caller sets that member to sizeof and
 *     all others that it does not use to 0; the library reads and writes only what both sides know.
 *     If `struct_size` is not set, the status is TRELLIS_OPTION or false; without one, nothing is
 *     written. Other structs say whether they may grow at their end or never do.
 *   - The numbers of all enums are fixed: new ones may be added, none changes its meaning. So a
 *     program should expect numbers that it does not know. docs/abi.md has the whole policy.
 *   - A trellis_text is a pointer and a size, in UTF-8, without a terminating zero byte; a
 *     `const char *` is terminated.
 */
#ifndef TRELLIS_H
#define TRELLIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRELLIS_VERSION_MAJOR 0
#define TRELLIS_VERSION_MINOR 2
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

/* All status codes: X(name, number, meaning). The numbers never change; new ones are appended. */
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

/* Never grows. */
typedef struct trellis_error {
    trellis_status status;
    uint64_t line;      // of the input at fault, from 1; 0 if there is none
    uint32_t column;    // within that line, from 1; 0 if there is none
    char message[1000]; // one sentence, after file:line:column: where these are known
} trellis_error;

/* "OK", "FORMAT", ...; never NULL. */
TRELLIS_API const char *trellis_status_name(trellis_status status);
/* "success", "malformed input", ...; never NULL. */
TRELLIS_API const char *trellis_status_meaning(trellis_status status);
/* "0.2.0": the version of the library at run time, which may differ from the macros above. */
TRELLIS_API const char *trellis_version(void);
/* Processors that this process may use, at least 1: its affinity and the quota of its cgroup are
 * respected. It is what `threads` stands for at 0. */
TRELLIS_API unsigned trellis_processor_count(void);

/* ------------------------------------------------------------------------------------------------
 * Options: one table for the command, the library, --help and the man pages
 * --------------------------------------------------------------------------------------------- */

typedef enum trellis_option_type {
    TRELLIS_FLAG = 0,    // "yes" or "no"; takes no value on the command line
    TRELLIS_INTEGER = 1, // within [minimum, maximum]
    TRELLIS_REAL = 2,    // within [minimum, maximum]
    TRELLIS_CHOICE = 3,  // one of `choices`, which are separated by spaces
    TRELLIS_STRING = 4   // any text
} trellis_option_type;

/* Groups of options; each subcommand takes the options of some groups. */
enum {
    TRELLIS_GROUP_READ = 1 << 0,    // reading a corpus
    TRELLIS_GROUP_WRITE = 1 << 1,   // writing a corpus
    TRELLIS_GROUP_TRAIN = 1 << 2,   // training
    TRELLIS_GROUP_TAG = 1 << 3,     // decoding
    TRELLIS_GROUP_EVAL = 1 << 4,    // evaluation
    TRELLIS_GROUP_SAMPLE = 1 << 5,  // sampling a corpus from a model
    TRELLIS_GROUP_RUN = 1 << 6,     // seed, threads, memory
    TRELLIS_GROUP_INSPECT = 1 << 7, // inspecting a model or explaining a prediction
    TRELLIS_GROUP_TUNE = 1 << 8,    // searching for hyperparameters
    TRELLIS_GROUP_LIMITS = 1 << 9   // bounds on untrusted input
};

/* Limits: a program that takes input from others sets the options of TRELLIS_GROUP_LIMITS once and
 * passes that set to every function that takes options: readers, features, taggers, trainings.
 * They bound the tokens and bytes of a sequence (`max-length`, `max-sequence`), the bytes of a cell
 * (`max-token`) and of a file that is read as a whole (`max-file`), how much compressed input may
 * grow (`max-ratio`), the work of regular expressions on a sequence (`max-matches`) and the size of
 * n-best lists (`max-labellings`). Input that exceeds one is TRELLIS_LIMIT, as it is read, and the
 * message names the option. The defaults suit a laptop. `memory` bounds a training as a whole. */

/* May grow at its end: there are pointers to it only. */
typedef struct trellis_option {
    const char *name; // without the dashes
    char letter;      // short form, or 0
    trellis_option_type type;
    unsigned groups;         // TRELLIS_GROUP_*
    const char *placeholder; // stands for the value in the help, such as "FILE"
    const char *default_value;
    double minimum, maximum; // for TRELLIS_INTEGER and TRELLIS_REAL
    const char *choices;     // for TRELLIS_CHOICE
    const char *help;        // one or two sentences
} trellis_option;

/* The table of options; NULL for an index out of range or an unknown name. */
TRELLIS_API size_t trellis_option_count(void);
TRELLIS_API const trellis_option *trellis_option_at(size_t index);
TRELLIS_API const trellis_option *trellis_option_find(const char *name);

/* Values of all options; a new set holds the defaults. */
typedef struct trellis_options trellis_options;
TRELLIS_API trellis_status trellis_options_create(trellis_options **ret_options,
                                                  trellis_error *error);
/* A copy; NULL for `options` gives the defaults. */
TRELLIS_API trellis_status trellis_options_copy(const trellis_options *options,
                                                trellis_options **ret_options,
                                                trellis_error *error);
TRELLIS_API void trellis_options_destroy(trellis_options *options);
/* Checks the value and copies it. For an unknown name the message suggests the closest one. */
TRELLIS_API trellis_status trellis_options_set(trellis_options *options, const char *name,
                                               const char *value, trellis_error *error);
/* The value as text, valid until that option is set again; NULL for an unknown name. */
TRELLIS_API const char *trellis_options_get(const trellis_options *options, const char *name);
/* Whether the option was set, rather than left at its default. */
TRELLIS_API bool trellis_options_given(const trellis_options *options, const char *name);

/* The nearest of some names to one that is not among them, for "did you mean ...?": the one with
 * that meaning in another tool ("l2" for CRFsuite's "c2"), or the most similar one. Set
 * `struct_size` and `asked`, the rest to 0, and offer each name, which must stay valid; `nearest`
 * is NULL while none is near enough. */
typedef struct trellis_suggestion {
    size_t struct_size;
    const char *asked;
    const char *nearest;
    unsigned distance; // in letters changed
} trellis_suggestion;
TRELLIS_API void trellis_suggest(trellis_suggestion *suggestion, const char *name);

/* ------------------------------------------------------------------------------------------------
 * Sequences, readers, writers
 * --------------------------------------------------------------------------------------------- */

/* Never grows. */
typedef struct trellis_text {
    const char *data;
    size_t size;
} trellis_text;

/* An observation at a position: given in the input (CRFsuite's format) or made by a template. Never
 * grows. */
typedef struct trellis_attribute {
    trellis_text name;
    double value;
} trellis_attribute;

/* How often a token's word, in whatever case, is written in each way in the rest of its document.
 * Never grows. */
typedef struct trellis_writing {
    uint32_t lower;                      // in lower case
    uint32_t capitalised, upper;         // inside a sequence; `upper`: in capitals throughout
    uint32_t first;                      // capitalised as the first token of a sequence
    uint32_t alone, before, after, both; // of capitalised and upper: beside capitalised words,
                                         // none, the one before, the one after, both
} trellis_writing;

/* One sequence, filled in by a reader or by the caller. A caller sets all members to 0 first and
 * then the ones it needs: `struct_size`, `length` and `weight`, `columns` with `cells`, or
 * `attributes` with `attribute_begin`. The library copies what it keeps and never writes to a
 * sequence. */
typedef struct trellis_sequence {
    size_t struct_size;                  // sizeof(trellis_sequence)
    size_t length;                       // number of tokens
    size_t columns;                      // columns of each token, including the label's
    const trellis_text *cells;           // [length][columns]; NULL if columns is 0
    const trellis_text *labels;          // [length], or NULL if there are none
    const trellis_attribute *attributes; // of all tokens, one token after another, or NULL
    const size_t *attribute_begin;       // [length + 1] into attributes, or NULL
    double weight;                       // in training; 1 by default
    uint64_t line;                       // of its first token in the input, from 1; 0 if unknown
    const trellis_text *rows;            // [row_count] verbatim lines of the input, or NULL
    const size_t *row_token;             // [row_count] token of each row; SIZE_MAX for a comment
    size_t row_count;
    uint32_t group; // chosen by the caller, to hold some sequences out; 0 by default
    const trellis_writing *writing; // [length] the context of its words (option `context`), or NULL
    const trellis_text *elsewhere;  // [length][columns] the most frequent cell of each column at
                                    // other places of the word in the document, its data being NULL
                                    // if there are none; or NULL
} trellis_sequence;

/* Sequences in memory. Cells, labels and attributes are kept as numbers of texts, so that one that
 * occurs a thousand times takes little more memory than one that occurs once. */
typedef struct trellis_corpus trellis_corpus;
TRELLIS_API trellis_status trellis_corpus_create(trellis_corpus **ret_corpus, trellis_error *error);
TRELLIS_API void trellis_corpus_destroy(trellis_corpus *corpus);
/* Adds a copy of a sequence; all sequences of a corpus have the same number of columns. Labels may
 * be partial, as the option `partial` describes. On failure the corpus is as before. */
TRELLIS_API trellis_status trellis_corpus_add(trellis_corpus *corpus,
                                              const trellis_sequence *sequence,
                                              trellis_error *error);
/* Names the columns from the first one on; NULL for a column without a name. */
TRELLIS_API trellis_status trellis_corpus_name_columns(trellis_corpus *corpus,
                                                       const char *const *names, size_t count,
                                                       trellis_error *error);
TRELLIS_API size_t trellis_corpus_sequences(const trellis_corpus *corpus);
TRELLIS_API size_t trellis_corpus_tokens(const trellis_corpus *corpus);
/* Bytes allocated. */
TRELLIS_API size_t trellis_corpus_bytes(const trellis_corpus *corpus);

/* Which sequences of a source are read, by their group. */
typedef enum trellis_group_rule {
    TRELLIS_ALL_GROUPS = 0,
    TRELLIS_ONLY_GROUP = 1,
    TRELLIS_EXCEPT_GROUP = 2
} trellis_group_rule;

/* The next sequence of a source of the caller's: TRELLIS_OK and a sequence that is valid until the
 * next call, TRELLIS_END, or a failure, which ends the reading. */
typedef trellis_status (*trellis_next_function)(void *user, const trellis_sequence **ret_sequence,
                                                trellis_error *error);
/* Starts again at the first sequence. */
typedef trellis_status (*trellis_rewind_function)(void *user, trellis_error *error);

/* Where sequences come from: one of `path`, `data`, `corpus` and `next`; the others are NULL. What
 * is pointed to must outlive the reading. */
typedef struct trellis_source {
    size_t struct_size;
    const char *path; // a file; "-" is standard input
    const void *data; // the bytes of a file [data_size], plain or compressed
    size_t data_size;
    const trellis_corpus *corpus;   // may be read by several readers at once, but not changed
    trellis_next_function next;     // the caller's own
    trellis_rewind_function rewind; // called before each reading; NULL: it can be read once only
    void *user;
    const char *name;                // in messages; NULL: the path, or "memory"
    const char *const *column_names; // [column_count] of `next`; NULL: they have none
    size_t column_count;             // of `next`; 0: its sequences have attributes only
    size_t
        label_column; // of `next`: 1 + the column of `cells` that has the label; 0: it is not there
    trellis_group_rule groups;
    uint32_t group;
} trellis_source;

/* Reads sequences one by one from a file, or from standard input for "-". Compressed input (.gz,
 * .zst) is recognised by its first bytes. Options: TRELLIS_GROUP_READ; NULL for the defaults. */
typedef struct trellis_reader trellis_reader;
TRELLIS_API trellis_status trellis_reader_open(const char *path, const trellis_options *options,
                                               trellis_reader **ret_reader, trellis_error *error);
/* The same from any source, which is copied. The format of `data` is the option `format`, "auto"
 * being columns; of a corpus and of `next`, only the options `columns`, `context`, `part` and
 * `seed` are used. */
TRELLIS_API trellis_status trellis_reader_open_source(const trellis_source *source,
                                                      const trellis_options *options,
                                                      trellis_reader **ret_reader,
                                                      trellis_error *error);
/* Adds the sequences of a source to a corpus, and the names of its columns where it has none. */
TRELLIS_API trellis_status trellis_corpus_read(trellis_corpus *corpus, const trellis_source *source,
                                               const trellis_options *options,
                                               trellis_error *error);
/* TRELLIS_OK and a sequence that is valid until the next call; TRELLIS_END; or an error. */
TRELLIS_API trellis_status trellis_reader_next(trellis_reader *reader,
                                               const trellis_sequence **ret_sequence,
                                               trellis_error *error);
/* Several threads that read one source. A batch is a reader that gets whole sequences from another
 * and splits them itself: trellis_reader_take_batch() moves the next ones, about `bytes` bytes of
 * them, from `reader` to `batch`, of which trellis_reader_next() then reads them, up to TRELLIS_END.
 * `reader` is used by one thread at a time, each batch by another if need be; errors are the same as
 * without batches. It must have read the first sequence, which says what the columns are; a batch
 * has no names of columns. TRELLIS_OPTION if the format is not columns, conllu or crfsuite, and
 * with the options `context` and `part`. */
TRELLIS_API trellis_status trellis_reader_open_batch(const trellis_reader *reader,
                                                     trellis_reader **ret_batch,
                                                     trellis_error *error);
/* TRELLIS_OK; TRELLIS_END if `reader` has no more; or an error. */
TRELLIS_API trellis_status trellis_reader_take_batch(trellis_reader *reader, size_t bytes,
                                                     trellis_reader *batch, trellis_error *error);
/* The format that "auto" infers from a file name: "columns", "conllu", ... */
TRELLIS_API const char *trellis_format_by_name(const char *path);
/* The name of a column ("FORM"), or NULL if it has none. */
TRELLIS_API const char *trellis_reader_column_name(const trellis_reader *reader, size_t column);
/* The column of `cells` that has the label, from 0; SIZE_MAX if there is none, or if no sequence
 * has been read yet. */
TRELLIS_API size_t trellis_reader_label_column(const trellis_reader *reader);
TRELLIS_API void trellis_reader_close(trellis_reader *reader);

/* Receives output. Any status but TRELLIS_OK stops the writing and is returned to the caller. */
typedef trellis_status (*trellis_sink)(void *user, const char *data, size_t size);

/* Writes sequences in the format of the option `output-format`. */
typedef struct trellis_writer trellis_writer;
TRELLIS_API trellis_status trellis_writer_create(const trellis_options *options, trellis_sink sink,
                                                 void *user, trellis_writer **ret_writer,
                                                 trellis_error *error);
/* Writes a sequence. `labels` [sequence->length] become a new last column, or replace the label in
 * formats that have room for one label only; `labels` may be NULL: the sequence is written
 * unchanged. */
TRELLIS_API trellis_status trellis_writer_put(trellis_writer *writer,
                                              const trellis_sequence *sequence,
                                              const trellis_text *labels, trellis_error *error);
/* What is known of a tagged sequence; NULL for what is not. */
typedef struct trellis_annotation {
    size_t struct_size;
    const trellis_text *labels;       // [length] predicted
    const struct trellis_span *spans; // [span_count] of these labels
    size_t span_count;
    const double *span_probabilities; // [span_count]
    const float *marginals;           // [length] of the predicted labels
    const float *all_marginals;       // [length][label_count] of all labels,
    const trellis_text *label_names;  // [label_count]
    size_t label_count;
    const trellis_text *nbest_labels; // [nbest_count][length] best first,
    const double *nbest_scores;       // [nbest_count]
    const double *nbest_probabilities;
    size_t nbest_count;
} trellis_annotation;
/* Writes a sequence with its predicted labels, as trellis_writer_put() does; in JSON lines with all
 * of the rest, and with the text and the place of each token in it. docs/formats.md has a schema. */
TRELLIS_API trellis_status trellis_writer_put_tagged(trellis_writer *writer,
                                                     const trellis_sequence *sequence,
                                                     const trellis_annotation *annotation,
                                                     trellis_error *error);
/* Flushes the buffer to the sink. */
TRELLIS_API trellis_status trellis_writer_finish(trellis_writer *writer, trellis_error *error);
TRELLIS_API void trellis_writer_destroy(trellis_writer *writer);

/* The vocabulary of a corpus, to tell words in vocabulary from words out of vocabulary (OOV). Words
 * are in the column named word, form, token or tokens, otherwise in the first column. */
typedef struct trellis_words trellis_words;
TRELLIS_API trellis_status trellis_words_read(const char *path, const trellis_options *options,
                                              trellis_words **ret_words, trellis_error *error);
TRELLIS_API void trellis_words_destroy(trellis_words *words);
/* Sets known [sequence->length]: whether each word is in the vocabulary. Returns false if the
 * sequence has no words. `reader` may be NULL; it supplies the names of the columns. */
TRELLIS_API bool trellis_words_known(const trellis_words *words, const trellis_reader *reader,
                                     const trellis_sequence *sequence, bool *known);

/* Label schemes for spans. */
typedef enum trellis_scheme {
    TRELLIS_IOB1 = 0,  // B- only between two adjacent spans of the same type
    TRELLIS_IOB2 = 1,  // B- at the start of every span
    TRELLIS_IOBES = 2, // E- at the end of a span, S- for a span of one token
    TRELLIS_BILOU = 3, // as IOBES, with L- and U- instead of E- and S-
    TRELLIS_NO_SCHEME = 4
} trellis_scheme;
/* "iob1", "iob2", "iobes", "bilou"; TRELLIS_NO_SCHEME for anything else. `name` may be NULL. */
TRELLIS_API trellis_scheme trellis_scheme_from_name(const char *name);
/* Converts the labels of one sequence. The result is valid until `storage`, which starts as NULL,
 * is used again or destroyed. Illegal sequences are interpreted as by conlleval. */
typedef struct trellis_scheme_storage trellis_scheme_storage;
TRELLIS_API trellis_status trellis_scheme_convert(trellis_scheme from, trellis_scheme to,
                                                  const trellis_text *labels, size_t length,
                                                  trellis_scheme_storage **storage,
                                                  const trellis_text **ret_labels,
                                                  trellis_error *error);
TRELLIS_API void trellis_scheme_storage_destroy(trellis_scheme_storage *storage);
/* A span: tokens begin .. end-1. Never grows. */
typedef struct trellis_span {
    trellis_text type; // points into the label of its first token; may be empty
    size_t begin, end;
} trellis_span;
/* The spans that labels [length] encode, whatever their scheme, as conlleval reads them; a label
 * that is not a part of spans is outside of them. Fills in ret_spans [length] and returns how many
 * there are, in the order of their tokens. */
TRELLIS_API size_t trellis_spans_find(const trellis_text *labels, size_t length,
                                      trellis_span *ret_spans);

/* Looks for what is usually a mistake in data: labels that break their scheme, document marks,
 * missing blank lines, a single label, empty columns, mixed encodings, sequences that are in the
 * training data and in the dev data. trellis_train() does the same with its data; what it finds
 * begins with "warning: " among its messages. */
typedef struct trellis_lint trellis_lint;
typedef enum trellis_data_role { TRELLIS_TRAIN_DATA = 0, TRELLIS_DEV_DATA = 1 } trellis_data_role;
TRELLIS_API trellis_status trellis_lint_create(trellis_lint **ret_lint, trellis_error *error);
TRELLIS_API void trellis_lint_destroy(trellis_lint *lint);
/* Reads a source, one of several perhaps. */
TRELLIS_API trellis_status trellis_lint_read(trellis_lint *lint, const trellis_source *source,
                                             const trellis_options *options, trellis_data_role role,
                                             trellis_error *error);
/* Draws up the findings of all that was read. */
TRELLIS_API trellis_status trellis_lint_finish(trellis_lint *lint, trellis_error *error);
typedef struct trellis_finding {
    size_t struct_size;
    const char *kind;    // "illegal-labels", "duplicates", ...
    const char *message; // one sentence, without the place
    const char *name;    // of the source
    uint64_t line;       // where it occurs first; 0: everywhere
    uint64_t count;      // how often
} trellis_finding;
/* Finding `index`, from 0; false beyond the last. Its texts are valid as long as the lint. */
TRELLIS_API bool trellis_lint_finding(const trellis_lint *lint, size_t index,
                                      trellis_finding *ret_finding);
typedef struct trellis_lint_summary {
    size_t struct_size;
    const char *format; // of the first source
    size_t columns;
    uint64_t sequences, tokens;
    uint64_t longest; // sequence, in tokens
    size_t labels;
    const char *scheme; // of the labels; "none" if they are not spans
} trellis_lint_summary;
/* What was read; false if nothing was. */
TRELLIS_API bool trellis_lint_describe(const trellis_lint *lint, trellis_data_role role,
                                       trellis_lint_summary *ret_summary);

/* ------------------------------------------------------------------------------------------------
 * Features
 * --------------------------------------------------------------------------------------------- */

/* A compiled set of feature templates: a preset, or a file in our own language, CRF++'s or
 * Wapiti's. */
typedef struct trellis_features trellis_features;
TRELLIS_API trellis_status trellis_features_open(const char *preset_or_path,
                                                 trellis_features **ret_features,
                                                 trellis_error *error);
/* A file that templates name, as bytes: a word list or clusters, plain or compressed. Never
 * grows. */
typedef struct trellis_resource {
    const char *name; // as in the templates
    const void *data;
    size_t size;
} trellis_resource;
/* The same from a text in any of these languages. `name` may be NULL; it is for messages. No
 * file is opened: templates that name one which is not among the resources are TRELLIS_TEMPLATE.
 * Nothing is kept of the arguments. */
TRELLIS_API trellis_status trellis_features_parse(trellis_text templates, const char *name,
                                                  const trellis_resource *resources,
                                                  size_t resource_count,
                                                  trellis_features **ret_features,
                                                  trellis_error *error);
TRELLIS_API void trellis_features_destroy(trellis_features *features);
/* The option `context` that a reader needs for these templates by default; 0 if they do not ask for
 * the rest of the document. */
TRELLIS_API size_t trellis_features_context(const trellis_features *features);
/* Writes the attributes of a sequence in CRFsuite's format: a line per token, then an empty line.
 * `reader` may be NULL; it supplies the names of the columns. */
TRELLIS_API trellis_status trellis_features_print(trellis_features *features,
                                                  const trellis_reader *reader,
                                                  const trellis_sequence *sequence,
                                                  trellis_sink sink, void *user,
                                                  trellis_error *error);
/* The name of a preset, the text of its templates, and in a line what it is for; NULL if there is
 * none. `name` may be NULL. */
TRELLIS_API const char *trellis_preset_name(size_t index);
TRELLIS_API const char *trellis_preset_text(const char *name);
TRELLIS_API const char *trellis_preset_summary(const char *name);
/* The recipe of a preset: the options of training that go with its templates, as part of a command
 * line such as "-t crf -a sgd --l2 0.1". trellis_train() takes those that its options leave open;
 * the flags `fast` and `best` among them choose the effort. NULL if the preset has none. */
typedef enum trellis_effort {
    TRELLIS_EFFORT_DEFAULT = 0,
    TRELLIS_EFFORT_FAST = 1,        // a fraction of the time, a little less accurate
    TRELLIS_EFFORT_BEST = 2,        // several times the time, a little more accurate
    TRELLIS_EFFORT_MANY_LABELS = 3, // the default where there are more than 64 labels
    TRELLIS_EFFORT_MANY_SPANS = 4   // the default where 15,000 tokens are in spans, or NULL
} trellis_effort;
TRELLIS_API const char *trellis_preset_options(const char *name, trellis_effort effort);
/* The functions of the template language, with a line of help each, as one text. */
TRELLIS_API const char *trellis_features_help(void);

/* ------------------------------------------------------------------------------------------------
 * Models
 * --------------------------------------------------------------------------------------------- */

typedef struct trellis_model trellis_model;

/* Maps and checks a model file. The file is untrusted: sizes and offsets are checked here, weights
 * where they are read. The weights of a large model are not compared with their checksums here, so
 * that a model of any size opens in a few milliseconds; whatever reads them does so before: a
 * tagger for the blocks of the file that it reads, everything else for the whole file. Damage is
 * TRELLIS_MODEL, or from functions without a status the answer for something that the model does
 * not have. A model that CRFsuite wrote (lCRF) is recognised by its first
 * bytes and converted in memory, which reads all of it. */
TRELLIS_API trellis_status trellis_model_open(const char *path, trellis_model **ret_model,
                                              trellis_error *error);
/* What becomes of bytes that a caller passes. */
typedef enum trellis_bytes_use {
    TRELLIS_COPY = 0,  // copied; the caller may free them afterwards
    TRELLIS_BORROW = 1 // used where they are; they must outlive the object and not change
} trellis_bytes_use;
/* The same for the bytes of a model file, without touching the file system. Borrowed bytes should
 * begin at a multiple of 8; otherwise they are copied. */
TRELLIS_API trellis_status trellis_model_open_bytes(const void *data, size_t size,
                                                    trellis_bytes_use use,
                                                    trellis_model **ret_model,
                                                    trellis_error *error);
/* Compares the whole file with its checksums; TRELLIS_MODEL, and the message names the file, if it
 * was changed or damaged after it was written. */
TRELLIS_API trellis_status trellis_model_verify(const trellis_model *model, trellis_error *error);
/* Writes a model atomically: to a temporary file next to `path`, which is synced and renamed. */
TRELLIS_API trellis_status trellis_model_save(const trellis_model *model, const char *path,
                                              trellis_error *error);
/* Writes the bytes of a model file, trellis_model_size() of them, to a sink. */
TRELLIS_API trellis_status trellis_model_write(const trellis_model *model, trellis_sink sink,
                                               void *user, trellis_error *error);
TRELLIS_API size_t trellis_model_size(const trellis_model *model);
TRELLIS_API void trellis_model_close(trellis_model *model);

/* The same model with its weights in 16 or 32 bits. In 16 bits they are fixed point with a common
 * scale; TRELLIS_LIMIT if a few weights are so large that the others would lose too much precision,
 * or if one is infinite. Transition weights, of which there are few, keep 32 bits. */
TRELLIS_API trellis_status trellis_model_repack(const trellis_model *model, int bits,
                                                trellis_model **ret_model, trellis_error *error);
TRELLIS_API int trellis_model_bits(const trellis_model *model);

TRELLIS_API size_t trellis_model_label_count(const trellis_model *model);
/* The name of a label; empty for an index out of range. */
TRELLIS_API trellis_text trellis_model_label(const trellis_model *model, size_t index);
/* The number of a label, or SIZE_MAX if the model does not have it. */
TRELLIS_API size_t trellis_model_find_label(const trellis_model *model, trellis_text label);
/* A note that the training left in the model: "type", "algorithm", "objective", ...; NULL if there
 * is none of that name. */
TRELLIS_API const char *trellis_model_note(const trellis_model *model, const char *key);
/* All notes, by index; false and NULL beyond the last. The note "curve" occurs once for each
 * iteration. */
TRELLIS_API size_t trellis_model_note_count(const trellis_model *model);
TRELLIS_API bool trellis_model_note_at(const trellis_model *model, size_t index,
                                       const char **ret_key, const char **ret_value);

/* Whether the model is probabilistic, that is of type crf, maxent, hmm or memm: its scores are
 * log-probabilities up to a constant for each sequence. */
TRELLIS_API bool trellis_model_has_probabilities(const trellis_model *model);
/* Whether the labels mark spans: all of them are O, B-TYPE, I-TYPE, ..., and not only O. */
TRELLIS_API bool trellis_model_has_spans(const trellis_model *model);

/* Describes the model, as text or as JSON. */
TRELLIS_API trellis_status trellis_model_info(const trellis_model *model, bool json,
                                              trellis_sink sink, void *user, trellis_error *error);
/* Writes the whole model as text, which trellis_model_import() reads back, or as JSON. */
TRELLIS_API trellis_status trellis_model_export(const trellis_model *model, bool json,
                                                trellis_sink sink, void *user,
                                                trellis_error *error);
TRELLIS_API trellis_status trellis_model_import(const char *path, trellis_model **ret_model,
                                                trellis_error *error);
/* The same from bytes, plain or compressed, of which nothing is kept. `name` may be NULL; it is for
 * messages. */
TRELLIS_API trellis_status trellis_model_import_bytes(const void *data, size_t size,
                                                      const char *name, trellis_model **ret_model,
                                                      trellis_error *error);

/* Writes a model as CRFsuite and python-crfsuite read it (lCRF), with the same labels and, except
 * for a perceptron, which has none, the same probabilities. Attributes have the names that
 * trellis_model_attribute() gives. TRELLIS_LIMIT, and the message says why, if the format cannot
 * hold the model: weights of the first or the last label, label priors, edge attributes, an order
 * above 1, forbidden transitions, a tag dictionary, normal distributions, local normalisation, or
 * two label schemes. */
TRELLIS_API trellis_status trellis_model_write_crfsuite(const trellis_model *model,
                                                        trellis_sink sink, void *user,
                                                        trellis_error *error);

/* Checks that a model is an HMM whose probabilities sum to 1; otherwise TRELLIS_DATA, and the
 * message names the label. */
TRELLIS_API trellis_status trellis_model_check_hmm(const trellis_model *model,
                                                   trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Training
 * --------------------------------------------------------------------------------------------- */

/* What the training is doing. */
typedef enum trellis_phase {
    TRELLIS_PHASE_MESSAGE = 0,     // only `message` is new
    TRELLIS_PHASE_READING = 1,     // reading the data
    TRELLIS_PHASE_CALIBRATING = 2, // trying learning rates
    TRELLIS_PHASE_WARM_UP = 3,     // stochastic epochs before a batch method begins
    TRELLIS_PHASE_TRAINING = 4,
    TRELLIS_PHASE_CLUSTERING = 5, // merging clusters of words: see trellis_cluster()
    TRELLIS_PHASE_SEEDS = 6 // of --seeds, after the first: `iteration` of `max_iterations` seeds
} trellis_phase;
/* "reading", "training", ...; never NULL. */
TRELLIS_API const char *trellis_phase_name(trellis_phase phase);

/* Progress of a training. Figures that are not known are NaN (double) or 0 (uint64_t). May grow at
 * its end. Of several --seeds the first reports its iterations; then a message follows for each that
 * has ended, in their order, and at last the figures of the mean, with all seeds complete. Whatever
 * the number of threads, all calls are made by the thread that trains. */
typedef struct trellis_progress {
    trellis_phase phase;
    const char *message;                  // with TRELLIS_PHASE_MESSAGE; otherwise NULL
    uint64_t iteration;                   // epochs or iterations completed
    uint64_t max_iterations;              // 0 if there is no maximum
    double fraction;                      // of this iteration, from 0 to 1
    double objective;                     // with -a sgd, summed while the weights were changing
    double gradient_norm;                 // relative to the norm of the weights
    double error_rate;                    // of training tokens, in this iteration
    uint64_t active_features;             // with a non-zero weight
    double dev_accuracy;                  // on --dev
    double dev_f1;                        // on --dev, if the labels are spans
    double likelihood;                    // weighted mean log P per training token, with EM
    double dev_likelihood;                // the same for --dev, if it is the dev score
    double seconds;                       // since the start
    double tokens_per_second;             // in this iteration
    double feature_norm;                  // of the weights, with batch and online methods
    uint64_t line_search_trials;          // evaluations in this iteration, with batch methods
    double line_search_step;              // the step taken, with batch methods
    const struct trellis_evaluation *dev; // of this iteration on the dev data; NULL if not scored
    double loss; // of online learners in this iteration: by how much the sequences missed their
                 // margins, in all; of a perceptron, the sum of their shares of wrong labels
    uint64_t features; // that get a weight; once the layout is known
} trellis_progress;

/* Returning false interrupts the training: trellis_train() returns TRELLIS_INTERRUPTED and the best
 * model so far. */
typedef bool (*trellis_progress_function)(void *user, const trellis_progress *progress);

/* Ends a training from another thread or from a signal handler, where progress is reported and
 * between any two sequences of the training data, which is sooner; in a CRF of higher order between
 * any two positions, and while its graph is built. Not while a dev score is computed. */
typedef struct trellis_cancellation trellis_cancellation;
TRELLIS_API trellis_status trellis_cancellation_create(trellis_cancellation **ret_cancellation,
                                                       trellis_error *error);
/* After every training that it was given to has ended. */
TRELLIS_API void trellis_cancellation_destroy(trellis_cancellation *cancellation);
/* Async-signal-safe; may be called by any number of threads. It stays cancelled. */
TRELLIS_API void trellis_cancel(trellis_cancellation *cancellation);

/* Processes that train one model together, each with its own trellis_train() on the same sources and
 * options: the ranks of MPI, or whatever else passes bytes between processes. The library asks for
 * two things, and every rank asks for them in the same order:
 *
 *   agree      waits for all ranks. Where none has failed it returns TRELLIS_OK; otherwise every
 *              rank, those that are well too, gets status and message of the first that has, and
 *              no rank calls again.
 *   exchange   sends send[r] to each other rank r and receives receive[r] from it; the sizes on both
 *              sides agree, and those of the rank itself are 0.
 *
 * All ranks get the model, but the texts of attributes may be complete on rank 0 alone. A rank that
 * waits for one that is gone should end the process: there is nothing left to do. */
typedef trellis_status (*trellis_agree_function)(void *user, trellis_status status,
                                                 trellis_error *error);
typedef trellis_status (*trellis_exchange_function)(void *user, const void *const *send,
                                                    const size_t *send_size, void *const *receive,
                                                    const size_t *receive_size,
                                                    trellis_error *error);
typedef struct trellis_ranks {
    size_t struct_size;
    unsigned rank;  // of this process, from 0
    unsigned count; // of all processes
    void *user;
    trellis_agree_function agree;
    trellis_exchange_function exchange;
} trellis_ranks;

/* What a model is trained on. What is NULL or 0 is not there; an array of sources lies in the
 * caller's struct_size. */
typedef struct trellis_training {
    size_t struct_size;
    const trellis_source *train; // [train_count]
    size_t train_count;
    const trellis_source *dev; // [dev_count] none: the file of the option `dev`, if it is set
    size_t dev_count;
    const trellis_source
        *unlabelled; // [unlabelled_count] none: the file of the option `unlabelled`
    size_t unlabelled_count;
    const trellis_model *from; // initial weights; NULL: the file of the option `from`, if it is set
    const char *templates;     // text of the feature templates; NULL: the option `features`
    trellis_progress_function progress;
    void *user;
    const trellis_cancellation *cancellation;
    const trellis_ranks *ranks; // NULL: this process trains alone
} trellis_training;

/* Trains a model. Options: TRELLIS_GROUP_TRAIN, _READ and _RUN; NULL for the defaults. With
 * TRELLIS_INTERRUPTED *ret_model is the best model so far, or NULL if nothing was learned yet. The
 * same sequences give the same model to the byte, from whatever source they come. Of several ranks
 * every one gets the model. A source that can
 * be read once only is TRELLIS_OPTION where templates or --train-scheme need to read it twice, and
 * so is an option that was set and that the learner and algorithm would ignore. */
TRELLIS_API trellis_status trellis_train(const trellis_options *options,
                                         const trellis_training *training,
                                         trellis_model **ret_model, trellis_error *error);
/* The same for files. `progress` may be NULL. */
TRELLIS_API trellis_status trellis_train_files(const trellis_options *options,
                                               const char *const *paths, size_t path_count,
                                               trellis_progress_function progress, void *user,
                                               trellis_model **ret_model, trellis_error *error);

/* An online learner: learns from sequences as they come, and gives a model at any time. Labels and
 * attributes may appear at any time. Used by one thread at a time.
 *
 * Learners are -t perceptron (all of its algorithms), -t mira, and -a sgd of crf, maxent and memm,
 * with their options. Every pair of an attribute and a label is a feature, as with --all-features,
 * and every transition. Since the data is not known in advance, these are TRELLIS_OPTION: --order
 * above 1, --counted, --prune, --dictionary, --min-count, --select-l1, --train-scheme without
 * --scheme, templates that count words, and what would read files later (--cost, --constrain FILE).
 * Options of epochs, dev data and checkpoints have no effect.
 *
 * With -a sgd, step t (counted in sequences) has the rate r / (1 + t / 10000)^(3/4), where r is
 * --rate, or 0.1 if that is 0. The penalty --l2 is that of the sum over all sequences learned so
 * far. With --average the model is an average in which the weights after step k count k^3. */
typedef struct trellis_online trellis_online;
/* Starts without weights, or with the labels, attributes and weights of the model `from`, which is
 * not needed afterwards. Templates are `features`, those of `from`, or those of the option
 * `features`: the first of these that is there. A model with a tag dictionary, of a higher order or
 * of type hmm is TRELLIS_MODEL. Options are copied. `from` and `features` may be NULL. */
TRELLIS_API trellis_status trellis_online_create(const trellis_options *options,
                                                 const trellis_model *from,
                                                 const trellis_features *features,
                                                 trellis_online **ret_online, trellis_error *error);
TRELLIS_API void trellis_online_destroy(trellis_online *online);
/* Matches the columns of a reader to those of the templates by name; call it once for each reader,
 * before its first sequence. Otherwise columns are expected in the order of the templates. */
TRELLIS_API trellis_status trellis_online_bind(trellis_online *online, const trellis_reader *reader,
                                               trellis_error *error);
/* Learns from sequences [count] in their order, one update each; with -a sgd one step for every
 * --batch sequences. The labels of all of them are known from the first on. Their weights are
 * honoured. All sequences are checked first: if one is invalid (TRELLIS_DATA; TRELLIS_FORMAT if a
 * column is missing, TRELLIS_OPTION if its struct_size is not set), the learner is as before. If
 * learning fails later, as by TRELLIS_MEMORY, the sequences before that were learned, as
 * trellis_online_sequences() counts them. An update costs what the sequence touches; from time to
 * time there are more attributes or labels than there was room for, and all weights are copied. */
TRELLIS_API trellis_status trellis_online_learn(trellis_online *online,
                                                const trellis_sequence *sequences, size_t count,
                                                trellis_error *error);
/* How many sequences were learned from. */
TRELLIS_API uint64_t trellis_online_sequences(const trellis_online *online);
/* The model of what was learned so far: the averaged weights where the learner averages, without
 * those that are 0. It does not depend on the learner any more. TRELLIS_DATA while there is no
 * label. */
TRELLIS_API trellis_status trellis_online_model(const trellis_online *online,
                                                trellis_model **ret_model, trellis_error *error);
/* Writes the whole state, options included. A learner restored from it goes on as this one would,
 * to the last bit. The bytes are not trusted: damaged ones are TRELLIS_MODEL. They are not needed
 * afterwards. */
TRELLIS_API trellis_status trellis_online_save(const trellis_online *online, trellis_sink sink,
                                               void *user, trellis_error *error);
TRELLIS_API trellis_status trellis_online_restore(const void *data, size_t size,
                                                  trellis_online **ret_online,
                                                  trellis_error *error);

/* The values of -t, with a sentence each; NULL for an index out of range. */
TRELLIS_API const char *trellis_learner_name(size_t index);
TRELLIS_API const char *trellis_learner_help(size_t index);
/* Paragraphs: when to use it, its algorithms, references. */
TRELLIS_API const char *trellis_learner_about(size_t index);
/* The values of -a for a learner, the default first; NULL beyond the last. */
TRELLIS_API const char *trellis_learner_algorithm(size_t index, size_t algorithm);
/* Whether training with this algorithm makes use of an option of TRELLIS_GROUP_TRAIN. */
TRELLIS_API bool trellis_learner_takes(size_t index, size_t algorithm, const char *option);
/* The default of an option that is not the same for all: epochs (0: no limit) and l2; otherwise
 * NaN. */
TRELLIS_API double trellis_learner_default(size_t index, size_t algorithm, const char *option);

/* ------------------------------------------------------------------------------------------------
 * Word clusters
 * --------------------------------------------------------------------------------------------- */

/* Brown clusters: words that occur next to similar words, in a binary tree (Brown et al. 1992).
 * Each word starts as a cluster; repeatedly, the two clusters are merged that lose the least
 * average mutual information of neighbouring clusters, within a window of the most frequent ones
 * that takes in a word after each merge. */
typedef struct trellis_clusters trellis_clusters;

/* Clusters the words of corpora into at most `clusters` (at least 2; fewer where there are fewer
 * words), by the options of TRELLIS_GROUP_READ, `min-count` and `threads`. `progress` may be NULL;
 * if it returns false, the status is TRELLIS_INTERRUPTED and there is no result. Fewer than two
 * words: TRELLIS_DATA. */
TRELLIS_API trellis_status trellis_cluster(const trellis_options *options, size_t clusters,
                                           const char *const *paths, size_t path_count,
                                           trellis_progress_function progress, void *user,
                                           trellis_clusters **ret_clusters, trellis_error *error);
TRELLIS_API void trellis_clusters_destroy(trellis_clusters *clusters);

typedef struct trellis_clusters_info {
    size_t struct_size;
    uint64_t tokens;    // of the text
    size_t words;       // that were clustered
    size_t clusters;    // that they are in
    double information; // average mutual information of two neighbouring clusters, in bits
} trellis_clusters_info;
TRELLIS_API void trellis_clusters_describe(const trellis_clusters *clusters,
                                           trellis_clusters_info *ret_info);

typedef struct trellis_clustered_word {
    size_t struct_size;
    trellis_text word;
    trellis_text
        path; // from the root of the tree, of the digits 0 and 1; the same for a whole cluster
    uint64_t count; // how often it occurs
} trellis_clustered_word;
/* Word `index`, from 0: by their paths, then the most frequent first. False beyond the last. */
TRELLIS_API bool trellis_clusters_word(const trellis_clusters *clusters, size_t index,
                                       trellis_clustered_word *ret_word);
/* Writes a line for each word, path TAB word TAB count, as the function `cluster` of templates
 * reads it. */
TRELLIS_API trellis_status trellis_clusters_write(const trellis_clusters *clusters,
                                                  trellis_sink sink, void *user,
                                                  trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Tagging
 * --------------------------------------------------------------------------------------------- */

/* A decoder: one per thread. The model must outlive it. Options: TRELLIS_GROUP_TAG. */
typedef struct trellis_tagger trellis_tagger;
TRELLIS_API trellis_status trellis_tagger_create(const trellis_model *model,
                                                 const trellis_options *options,
                                                 trellis_tagger **ret_tagger, trellis_error *error);
TRELLIS_API void trellis_tagger_destroy(trellis_tagger *tagger);
/* Matches the columns of a reader to those of the model by name; call it once for each reader,
 * before its first sequence. Otherwise columns are expected in the order of the training data:
 * `reader` may be NULL. */
TRELLIS_API trellis_status trellis_tagger_bind(trellis_tagger *tagger, const trellis_reader *reader,
                                               trellis_error *error);
/* The same for columns with these names [count], NULL for a column without one; not kept. */
TRELLIS_API trellis_status trellis_tagger_bind_columns(trellis_tagger *tagger,
                                                       const char *const *names, size_t count,
                                                       trellis_error *error);
/* Restricts a position (from 0) of the next sequence to some labels: constrained decoding. Several
 * calls for one position intersect. The constraints are dropped once that sequence was tagged, with
 * or without success. Labels are in the scheme of the output and override the model's tag
 * dictionary. An unknown label, or count 0, is TRELLIS_DATA and has no effect. Tagging returns
 * TRELLIS_DATA if no labelling satisfies the constraints. */
TRELLIS_API trellis_status trellis_tagger_allow(trellis_tagger *tagger, size_t position,
                                                const trellis_text *labels, size_t count,
                                                trellis_error *error);
/* Predicts the labels of a sequence: *ret_labels [sequence->length], until the next call. */
TRELLIS_API trellis_status trellis_tagger_tag(trellis_tagger *tagger,
                                              const trellis_sequence *sequence,
                                              const trellis_text **ret_labels,
                                              trellis_error *error);
/* The score of the last prediction; NaN if there is none. */
TRELLIS_API double trellis_tagger_score(const trellis_tagger *tagger);

/* Finds the n >= 1 best labellings by Viterbi, whatever the option `decode` says. *ret_count is
 * less than n if there are fewer, and memory is asked for no more than there can be; a list of more
 * labels than the option `max-labellings` allows is TRELLIS_LIMIT. They are numbered by rank, from
 * 0 in order of falling score, and valid until the next sequence is tagged; other ranks give NULL
 * or NaN. After trellis_tagger_tag() rank 0 exists. With --train-scheme, different labellings
 * inside the model may convert to the same labels. */
TRELLIS_API trellis_status trellis_tagger_nbest(trellis_tagger *tagger,
                                                const trellis_sequence *sequence, size_t n,
                                                size_t *ret_count, trellis_error *error);
/* Labels [sequence->length], until the next call with this tagger; NULL also on allocation failure.
 * */
TRELLIS_API const trellis_text *trellis_tagger_nth_labels(trellis_tagger *tagger, size_t rank);
/* The same labels as numbers of trellis_model_label(), in the label scheme inside the model. */
TRELLIS_API const int32_t *trellis_tagger_nth_numbers(trellis_tagger *tagger, size_t rank);
TRELLIS_API double trellis_tagger_nth_score(const trellis_tagger *tagger, size_t rank);
/* The score of given labels [length] for the sequence tagged last; minus infinity if the model
 * excludes them, NaN if a number is out of range or nothing was tagged. */
TRELLIS_API double trellis_tagger_score_numbers(trellis_tagger *tagger, const int32_t *labels);
/* log Z of the sequence tagged last. Under an HMM it is log P(sequence), which may be minus
 * infinity, and scores are log P(sequence, labels). TRELLIS_MODEL if the model is not
 * probabilistic. */
TRELLIS_API trellis_status trellis_tagger_log_z(trellis_tagger *tagger, double *ret_log_z,
                                                trellis_error *error);
/* P(labels | sequence) = exp(score - log Z), where Z sums over all labellings that satisfy the
 * constraints. NaN if the model is not probabilistic. */
TRELLIS_API double trellis_tagger_nth_probability(trellis_tagger *tagger, size_t rank);
/* The posterior of each of its labels [sequence->length], until the next call with this tagger, in
 * the label scheme inside the model. TRELLIS_MODEL if the model is not probabilistic. */
TRELLIS_API trellis_status trellis_tagger_nth_marginals(trellis_tagger *tagger, size_t rank,
                                                        const float **ret_marginals,
                                                        trellis_error *error);

/* The posterior of every label at every position [length][trellis_model_label_count()], until the
 * next call with this tagger. */
TRELLIS_API trellis_status trellis_tagger_marginals(trellis_tagger *tagger,
                                                    const float **ret_marginals,
                                                    trellis_error *error);
/* The posterior that tokens begin .. end-1 have the labels of this labelling. If all labels of the
 * model mark spans, also that the spans start at begin and end at end: no neighbour extends them.
 * */
TRELLIS_API trellis_status trellis_tagger_nth_span_probability(trellis_tagger *tagger, size_t rank,
                                                               size_t begin, size_t end,
                                                               double *ret_probability,
                                                               trellis_error *error);
/* log P(labels | sequence) of given labels [length] for the sequence tagged last, in the scheme of
 * the output; minus infinity if the model excludes them. */
TRELLIS_API trellis_status trellis_tagger_log_probability(trellis_tagger *tagger,
                                                          const trellis_text *labels,
                                                          double *ret_log_probability,
                                                          trellis_error *error);

/* The same for labels as numbers of trellis_model_label(); TRELLIS_DATA for one out of range. */
TRELLIS_API trellis_status trellis_tagger_log_probability_numbers(trellis_tagger *tagger,
                                                                  const int32_t *labels,
                                                                  double *ret_log_probability,
                                                                  trellis_error *error);

/* More about the sequence tagged last, under the model's distribution of labellings inside the
 * model. TRELLIS_MODEL if the model is not probabilistic; with pruning, about what survived it. */

/* The posterior of every pair of adjacent labels [length][labels][labels]: of label a at position
 * i-1 and b at i in [i][a][b], with 0 for i = 0. Until the next call with this tagger. */
TRELLIS_API trellis_status trellis_tagger_pair_marginals(trellis_tagger *tagger,
                                                         const float **ret_marginals,
                                                         trellis_error *error);
/* Draws labellings from P(labels | sequence): *ret_labels [count][length], numbers of
 * trellis_model_label(), until the next call with this tagger. The same seed gives the same
 * ones. */
TRELLIS_API trellis_status trellis_tagger_sample(trellis_tagger *tagger, uint64_t seed,
                                                 size_t count, const int32_t **ret_labels,
                                                 trellis_error *error);
/* The entropy of P(labels | sequence) in nats: 0 if the model is certain. */
TRELLIS_API trellis_status trellis_tagger_entropy(trellis_tagger *tagger, double *ret_entropy,
                                                  trellis_error *error);

/* Whether each word is in a vocabulary, or in that of the training data: `words` may be NULL.
 * *ret_known [sequence->length], until the next call; NULL if the model has no vocabulary or the
 * input no words. */
TRELLIS_API trellis_status trellis_tagger_known(trellis_tagger *tagger, const trellis_words *words,
                                                const trellis_sequence *sequence,
                                                const bool **ret_known, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Explanation: why a token got its label
 * --------------------------------------------------------------------------------------------- */

/* What one feature adds to the scores of the predicted labelling and of the runner-up. Never
 * grows. */
typedef struct trellis_contribution {
    size_t position;            // token; the length of the sequence for its end
    trellis_text attribute;     // empty for a transition, "normaliser" in an MEMM
    const trellis_text *labels; // [label_count] of a transition, oldest first
    size_t label_count;         // 0 unless it is a transition
    double predicted;           // added to the score of the predicted labelling
    double runner_up;           // added to that of the runner-up
} trellis_contribution;

/* The predicted label of a token and its runner-up. The runner-up labelling is the best of those
 * with another label at this token. The differences predicted - runner_up of all contributions, at
 * this token and at others whose labels change with it, add up to the margin. Never grows. */
typedef struct trellis_explanation {
    trellis_text predicted;
    trellis_text runner_up; // empty if no other label is possible
    double margin;          // score of the prediction - that of the runner-up; infinite without one
    double predicted_probability, runner_up_probability; // posteriors at this token, or NaN
    const trellis_text *runner_up_labels;                // [length] the runner-up labelling
    const trellis_contribution *contributions;           // by falling absolute difference
    size_t contribution_count;
} trellis_explanation;

/* One per thread. The model must outlive it. Options as for a tagger. Labels are those inside the
 * model, see trellis_model_label(). */
typedef struct trellis_explainer trellis_explainer;
TRELLIS_API trellis_status trellis_explainer_create(const trellis_model *model,
                                                    const trellis_options *options,
                                                    trellis_explainer **ret_explainer,
                                                    trellis_error *error);
TRELLIS_API void trellis_explainer_destroy(trellis_explainer *explainer);
/* As trellis_tagger_bind(); `reader` may be NULL. */
TRELLIS_API trellis_status trellis_explainer_bind(trellis_explainer *explainer,
                                                  const trellis_reader *reader,
                                                  trellis_error *error);
/* Tags a sequence and explains each label: *ret_explanations [sequence->length], until the next
 * call. A sequence of more than 1000 tokens is TRELLIS_LIMIT. */
TRELLIS_API trellis_status trellis_explainer_run(trellis_explainer *explainer,
                                                 const trellis_sequence *sequence,
                                                 const trellis_explanation **ret_explanations,
                                                 trellis_error *error);
/* Writes the last explanations, as text or as a line of JSON, with the `top` largest contributions
 * to each label. */
TRELLIS_API trellis_status trellis_explainer_report(const trellis_explainer *explainer,
                                                    const trellis_sequence *sequence, size_t top,
                                                    bool json, trellis_sink sink, void *user,
                                                    trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Pictures
 * --------------------------------------------------------------------------------------------- */

/* Tags a sequence of 1 to 60 tokens and draws its trellis as SVG: a column for each token, a row
 * for each label on the best path and for the `max_labels` most probable ones. States and
 * transitions are shaded by their posterior, the best path is drawn on top. If the model is not
 * probabilistic, exp(score) / Z takes the place of probabilities. */
TRELLIS_API trellis_status trellis_draw(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        size_t max_labels, trellis_sink sink, void *user,
                                        trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * The trellis by itself: a linear chain over scores that something else computed
 * --------------------------------------------------------------------------------------------- */

/* Inference for scores of a neural network, a speech model or a table. With labels 0 .. L-1, a
 * labelling z of a sequence of n positions scores
 *
 *     start[z_1] + sum_i nodes[i][z_i] + sum_{i>1} (transitions[z_{i-1}][z_i] + pairs[i][z_{i-1}][z_i])
 *                + end[z_n]
 *
 * and P(z) = exp(score(z)) / Z. A score of minus infinity rules a label or a transition out; NaN
 * and plus infinity are TRELLIS_DATA. A chain of order k is one whose labels are the caller's
 * states, with the transitions between states that do not fit ruled out.
 *
 * A chain belongs to one thread at a time; it shares the sequences of a call among as many threads
 * of its own as the option `threads` says. Answers do not depend on how many those are. */
typedef struct trellis_chain trellis_chain;
/* 1 to 8000 labels; options may be NULL. All transitions score 0 to begin with. */
TRELLIS_API trellis_status trellis_chain_create(size_t labels, const trellis_options *options,
                                                trellis_chain **ret_chain, trellis_error *error);
TRELLIS_API void trellis_chain_destroy(trellis_chain *chain);

/* An array of floats that the caller lays out: element [i][j][k] is at[i * stride[0] + j *
 * stride[1] + k * stride[2]], with as many strides as the array has dimensions. All strides 0: the
 * elements stand one after the other. Never grows. */
typedef struct trellis_floats {
    float *at; // NULL: there is none
    ptrdiff_t stride[3];
} trellis_floats;

/* What all sequences share; copied. What is NULL scores 0. */
typedef struct trellis_chain_scores {
    size_t struct_size;
    trellis_floats transitions; // [L][L] from the row's label to the column's
    trellis_floats start, end;  // [L]
    const uint8_t *allowed;     // [L][L] 0: the transition is ruled out; NULL: none is
    trellis_floats costs; // [L][L] of predicting the column's label where the row's is correct,
                          // for TRELLIS_CHAIN_MIN_RISK; NULL: 1 for a wrong label
} trellis_chain_scores;
TRELLIS_API trellis_status trellis_chain_set(trellis_chain *chain,
                                             const trellis_chain_scores *scores,
                                             trellis_error *error);

/* What may be asked about a sequence; values are added up. */
enum {
    TRELLIS_CHAIN_BEST = 1 << 0,           // best, best_score
    TRELLIS_CHAIN_NBEST = 1 << 1,          // nbest_labels, nbest_scores, nbest_count
    TRELLIS_CHAIN_LOG_Z = 1 << 2,          // log_z
    TRELLIS_CHAIN_NODE_MARGINALS = 1 << 3, // node_marginals
    TRELLIS_CHAIN_PAIR_MARGINALS = 1 << 4, // pair_marginals
    TRELLIS_CHAIN_SCORE = 1 << 5,          // label_score: of labels that are all known
    TRELLIS_CHAIN_LOSS = 1 << 6,           // loss = -log P(labels)
    TRELLIS_CHAIN_GRADIENT = 1 << 7,       // d(weight * loss), with respect to all scores
    TRELLIS_CHAIN_SAMPLE = 1 << 8,         // sampled labels
    TRELLIS_CHAIN_MIN_RISK = 1 << 9 // min_risk: the label of least expected cost at each position
};

/* A sequence and what is answered about it; arrays are the caller's. */
typedef struct trellis_chain_sequence {
    size_t struct_size;
    size_t length;          // 0 is allowed
    trellis_floats nodes;   // [length][L]
    trellis_floats pairs;   // [length][L][L], row 0 is ignored; NULL: there are none
    const uint8_t *allowed; // [length][L] 0: the label is ruled out; NULL: none is
    const int32_t *labels;  // [length] gold labels, -1 where one is not known; or NULL
    double weight;          // of the gradient
    size_t nbest;           // labellings wanted, at least 1
    size_t samples;         // labellings wanted, at least 1
    uint64_t seed;          // of the samples

    int32_t *best; // [length]
    double best_score;
    int32_t *nbest_labels; // [nbest][length]
    double *nbest_scores;  // [nbest]
    size_t nbest_count;    // fewer than asked for where there are fewer
    double log_z;
    trellis_floats node_marginals; // [length][L]
    trellis_floats pair_marginals; // [length][L][L], row 0 becomes 0
    double label_score;
    double loss;
    trellis_floats node_gradient; // [length][L]; NULL: not wanted
    trellis_floats pair_gradient; // [length][L][L], row 0 becomes 0; NULL: not wanted
    int32_t *sampled;             // [samples][length]
    int32_t *min_risk;            // [length]
} trellis_chain_sequence;

/* The gradient with respect to what all sequences share: added to, summed over the sequences of a
 * call in double precision. What is NULL is not wanted. */
typedef struct trellis_chain_gradient {
    size_t struct_size;
    trellis_floats transitions; // [L][L]
    trellis_floats start, end;  // [L]
} trellis_chain_gradient;

/* Answers the questions about `count` sequences, which stand one after the other in the caller's
 * struct_size. `gradient` may be NULL. The first sequence that fails, in their order, gives the
 * status: TRELLIS_DATA for a score that is NaN or plus infinity, a label out of range, labels that
 * are missing or ruled out, or where no labelling is left; TRELLIS_OPTION for a question without
 * its array. Answers of other sequences may have been written then, but the gradient has not been
 * added to. */
TRELLIS_API trellis_status trellis_chain_run(trellis_chain *chain, unsigned questions,
                                             trellis_chain_sequence *sequences, size_t count,
                                             const trellis_chain_gradient *gradient,
                                             trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Evaluation
 * --------------------------------------------------------------------------------------------- */

/* Scores predictions against gold labels: by token, by sequence and, if the labels are spans, by
 * span as conlleval of the CoNLL shared tasks does. Options: TRELLIS_GROUP_EVAL, `scheme`, `seed`.
 * */
typedef struct trellis_evaluation trellis_evaluation;

typedef struct trellis_scores {
    size_t struct_size;
    uint64_t sequences, sequences_correct;
    uint64_t tokens, tokens_correct;
    uint64_t spans_gold, spans_predicted, spans_correct;
    double accuracy;              // of tokens, from 0 to 1 like all figures here
    double precision, recall, f1; // of spans
    bool has_spans;               // every gold label is O, B-TYPE, I-TYPE, ...
    double log_likelihood;        // sum of log P(gold | sequence); NaN if unknown
    uint64_t impossible;          // sequences left out of it: their gold labels have probability 0
    double log_probability;       // sum of log P(sequence) under an HMM; NaN if unknown
    double perplexity;            // exp(-log_probability / tokens), without impossible sequences
    double calibration_error;     // expected, over TRELLIS_BY_CONFIDENCE; NaN without posteriors
} trellis_scores;

TRELLIS_API trellis_status trellis_evaluation_create(const trellis_options *options,
                                                     trellis_evaluation **ret_evaluation,
                                                     trellis_error *error);
TRELLIS_API void trellis_evaluation_destroy(trellis_evaluation *evaluation);
TRELLIS_API trellis_status trellis_evaluation_add(trellis_evaluation *evaluation,
                                                  const trellis_text *gold,
                                                  const trellis_text *predicted, size_t length,
                                                  trellis_error *error);
/* A sequence with everything that may be known about it; NULL for what is not. */
typedef struct trellis_labelled {
    size_t struct_size;
    size_t length;
    const trellis_text *gold, *predicted; // [length]
    const bool *known;                    // [length] whether the word is in vocabulary
    const float *marginals;               // [length] posterior of the predicted label
    const double *log_likelihood;         // log P(gold | sequence), one number
    const double *log_probability;        // log P(sequence) under an HMM, one number
    const float *span_probabilities;      // [length] posterior of the predicted span that begins
                                          // at each token; not read where none begins
} trellis_labelled;
TRELLIS_API trellis_status trellis_evaluation_add_labelled(trellis_evaluation *evaluation,
                                                           const trellis_labelled *sequence,
                                                           trellis_error *error);
TRELLIS_API void trellis_evaluation_scores(const trellis_evaluation *evaluation,
                                           trellis_scores *ret_scores);

/* Scores of a clustering: the predictions are states that were learned without labels. */
typedef struct trellis_cluster_scores {
    size_t struct_size;
    uint64_t tokens;
    size_t states, labels; // that occur
    double many_to_one;    // accuracy with each state mapped to its most frequent label
    double one_to_one;     // accuracy under the best one-to-one mapping of states to labels
    double variation;      // of information, in bits; 0 if states and labels are equivalent
    double homogeneity;    // 1 - H(label | state) / H(label)
    double completeness;   // 1 - H(state | label) / H(state)
    double v_measure;      // harmonic mean of homogeneity and completeness
} trellis_cluster_scores;
TRELLIS_API trellis_status trellis_evaluation_clusters(const trellis_evaluation *evaluation,
                                                       trellis_cluster_scores *ret_scores,
                                                       trellis_error *error);

/* Breakdowns of the scores. Lengths and positions are binned as 1, 2, 3-4, 5-8, 9-16, ...
 *
 * The outcome of a span: its counterpart has the same boundaries and type ("correct"), the same
 * boundaries ("wrong type"), overlaps it and has the same type ("wrong boundaries"), overlaps it
 * ("wrong type and boundaries"), or there is none: a gold span is "missed", a predicted one
 * "spurious". Where several overlap, the first outcome of this list counts.
 *
 * Thresholds are those of `tag --threshold`: predictions are spans if span_probabilities are given,
 * otherwise tokens. Each row counts the predictions that would be left, so that its precision,
 * recall and F1 are those at the threshold. */
typedef enum trellis_breakdown {
    TRELLIS_BY_LABEL = 0,            // tokens by label, in alphabetical order
    TRELLIS_BY_TYPE = 1,             // spans by type, in alphabetical order
    TRELLIS_BY_WORD = 2,             // tokens: "in vocabulary" and "OOV", out of it
    TRELLIS_BY_LENGTH = 3,           // tokens by the length of their sequence
    TRELLIS_BY_POSITION = 4,         // tokens by position in the sequence, from 1
    TRELLIS_SEQUENCES_BY_LENGTH = 5, // sequences by length
    TRELLIS_SPANS_BY_LENGTH = 6,     // spans by length
    TRELLIS_BY_CONFIDENCE = 7,       // tokens by posterior of the predicted label, in ten bins
    TRELLIS_SPANS_BY_OUTCOME = 8,    // spans: correct, wrong type, wrong boundaries, ...
    TRELLIS_BY_THRESHOLD = 9         // predictions with at least this posterior, all gold ones
} trellis_breakdown;
/* A key for programs ("by_label") and a heading for people ("tokens by label"); NULL if there is no
 * such breakdown: those that exist are numbered from 0 without gaps. */
TRELLIS_API const char *trellis_breakdown_key(trellis_breakdown breakdown);
TRELLIS_API const char *trellis_breakdown_title(trellis_breakdown breakdown);

typedef struct trellis_row {
    size_t struct_size;
    trellis_text name;                 // until the next sequence is added
    uint64_t gold, predicted, correct; // counts: in the gold labels, in the predicted ones, in both
    double precision, recall, f1;      // all equal the accuracy if gold and predicted are equal
    double confidence;                 // mean posterior, with TRELLIS_BY_CONFIDENCE; otherwise NaN
} trellis_row;
/* Row `index`, from 0, of the rows that are not empty; false beyond the last. */
TRELLIS_API bool trellis_evaluation_row(const trellis_evaluation *evaluation,
                                        trellis_breakdown breakdown, size_t index,
                                        trellis_row *ret_row);

/* Averages over the rows of a breakdown. The name of the resulting row is empty. */
typedef enum trellis_average {
    TRELLIS_MICRO = 0,   // figures of the summed counts
    TRELLIS_MACRO = 1,   // mean of the figures of each row
    TRELLIS_WEIGHTED = 2 // the same, weighted by gold count
} trellis_average;
TRELLIS_API void trellis_evaluation_average(const trellis_evaluation *evaluation,
                                            trellis_breakdown breakdown, trellis_average average,
                                            trellis_row *ret_row);

/* A cell of the confusion matrix: tokens with this gold and this predicted label. */
TRELLIS_API uint64_t trellis_evaluation_confusion(const trellis_evaluation *evaluation,
                                                  trellis_text gold, trellis_text predicted);

/* Summary measures. */
typedef enum trellis_measure {
    TRELLIS_ACCURACY = 0,
    TRELLIS_SEQUENCE_ACCURACY = 1,
    TRELLIS_PRECISION = 2,
    TRELLIS_RECALL = 3,
    TRELLIS_F1 = 4
} trellis_measure;
/* "accuracy", "sequence_accuracy", ...; NULL if there is no such measure: those that exist are
 * numbered from 0 without gaps. */
TRELLIS_API const char *trellis_measure_name(trellis_measure measure);

/* A 95 % confidence interval by the percentile bootstrap over sequences; the option `bootstrap` is
 * the number of samples, and the limits are NaN if it is 0. Never grows. */
typedef struct trellis_interval {
    double low, high;
} trellis_interval;
/* Those of the first `count` measures, by their numbers; NaN where there is no such measure. */
TRELLIS_API trellis_status trellis_evaluation_intervals(const trellis_evaluation *evaluation,
                                                        trellis_interval *ret_intervals,
                                                        size_t count, trellis_error *error);

/* Two systems on the same gold labels. Uses the options of the first evaluation: `shuffles`,
 * `bootstrap` (1000 if that is 0), `seed`. TRELLIS_DATA if the gold labels differ. The evaluations
 * may be destroyed before the comparison. */
typedef struct trellis_comparison trellis_comparison;
TRELLIS_API trellis_status trellis_evaluation_compare(const trellis_evaluation *first,
                                                      const trellis_evaluation *second,
                                                      trellis_comparison **ret_comparison,
                                                      trellis_error *error);
TRELLIS_API void trellis_comparison_destroy(trellis_comparison *comparison);
/* The two systems by one measure. */
typedef struct trellis_contrast {
    size_t struct_size;
    double first, second;        // the measure of each system
    trellis_interval difference; // second - first, by the bootstrap
    double p;                    // of the approximate randomisation test
} trellis_contrast;
/* False if there is no such measure, or if it is of spans and the labels are not. */
TRELLIS_API bool trellis_comparison_measure(const trellis_comparison *comparison,
                                            trellis_measure measure,
                                            trellis_contrast *ret_contrast);
/* What does not depend on a measure. */
typedef struct trellis_comparison_info {
    size_t struct_size;
    uint64_t exchanges;               // shuffles of the randomisation test
    bool exact;                       // whether these are all that exist
    uint64_t only_first, only_second; // tokens that only one of the systems has correct
    double mcnemar;                   // p of McNemar's test, by the exact binomial distribution
} trellis_comparison_info;
TRELLIS_API void trellis_comparison_describe(const trellis_comparison *comparison,
                                             trellis_comparison_info *ret_info);

/* Forms of a report. With the option `clusters` it is about states and labels. */
typedef enum trellis_report_form {
    TRELLIS_CONLLEVAL = 0, // the lines of conlleval
    TRELLIS_JSON = 1,      // everything, as one JSON object
    TRELLIS_DETAILS = 2    // everything as tables, then the lines of conlleval
} trellis_report_form;
TRELLIS_API trellis_status trellis_evaluation_report(const trellis_evaluation *evaluation,
                                                     trellis_report_form form, trellis_sink sink,
                                                     void *user, trellis_error *error);
TRELLIS_API trellis_status trellis_comparison_report(const trellis_comparison *comparison,
                                                     trellis_report_form form, trellis_sink sink,
                                                     void *user, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Inspection: the weights of a model
 * --------------------------------------------------------------------------------------------- */

/* Label numbers are indices of trellis_model_label(); trellis_model_label_count() stands for the
 * start as the first label of a transition and for the end as the last one. */
typedef enum trellis_weight_kind {
    TRELLIS_NODE_WEIGHT = 0,      // of an attribute and a label
    TRELLIS_EDGE_WEIGHT = 1,      // of an attribute and a pair of labels
    TRELLIS_TRANSITION_WEIGHT = 2 // of labels alone: one, or several that follow each other
} trellis_weight_kind;
/* May grow at its end. */
typedef struct trellis_weight {
    trellis_weight_kind kind;
    trellis_text attribute;     // such as word[-1]=the; empty for a transition
    size_t attribute_number;    // of trellis_model_attribute(); SIZE_MAX for a transition
    const trellis_text *labels; // [label_count] oldest first; the last one is being scored
    const int32_t *numbers;     // [label_count] the same labels as numbers
    size_t label_count;
    double weight;
} trellis_weight;

/* Goes through all weights of a model, which must outlive the iterator: the transitions, then the
 * non-zero weights of attributes. They are the values used in tagging, whatever the number of bits,
 * and add up to the score of a labelling; in an MEMM, to it before normalisation. */
typedef struct trellis_weight_iterator trellis_weight_iterator;
TRELLIS_API trellis_status trellis_weight_iterator_create(const trellis_model *model,
                                                          trellis_weight_iterator **ret_iterator,
                                                          trellis_error *error);
/* The next weight, until the next call; NULL after the last. */
TRELLIS_API const trellis_weight *trellis_weight_iterator_next(trellis_weight_iterator *iterator);
TRELLIS_API void trellis_weight_iterator_destroy(trellis_weight_iterator *iterator);

/* The attributes of a model, those of single labels and those of label pairs (`edge`) separately.
 * An index out of range gives an empty text. */
TRELLIS_API size_t trellis_model_attribute_count(const trellis_model *model, bool edge);
TRELLIS_API trellis_text trellis_model_attribute(const trellis_model *model, bool edge,
                                                 size_t index);
/* The number of an attribute, or SIZE_MAX if the model does not have it. Compares with all of them:
 * about a millisecond for a million attributes. */
TRELLIS_API size_t trellis_model_find_attribute(const trellis_model *model, bool edge,
                                                trellis_text attribute);
/* One weight: of an attribute and one label, of an edge attribute and two labels, or, with SIZE_MAX
 * as the attribute, of a transition. 0 if there is no such feature, minus infinity for a forbidden
 * transition between two labels, NaN if a number is out of range. */
TRELLIS_API double trellis_model_weight(const trellis_model *model, size_t attribute,
                                        const int32_t *labels, size_t label_count);

/* A feature and its weight. Never grows. */
typedef struct trellis_weighted {
    trellis_text attribute;     // such as word[-1]=the; empty for a transition
    const trellis_text *labels; // [label_count] oldest first; the last one is being scored
    size_t label_count;         // 1, or more if the feature depends on previous labels
    double weight;
} trellis_weighted;

/* Rankings of weights: of features of attributes or of transitions, the highest (positive) or the
 * lowest (negative) ones. The weights of an HMM are log-probabilities and never positive: it has a
 * ranking of the highest ones only. */
typedef enum trellis_ranking {
    TRELLIS_FEATURES_HIGHEST = 0,
    TRELLIS_FEATURES_LOWEST = 1,
    TRELLIS_TRANSITIONS_HIGHEST = 2,
    TRELLIS_TRANSITIONS_LOWEST = 3
} trellis_ranking;

/* A template and its share of the model. Never grows. */
typedef struct trellis_template_usage {
    trellis_text text;   // empty for attributes given in the input
    bool edge;           // whether its features depend on pairs of labels
    uint64_t attributes; // with a non-zero weight
    uint64_t weights;    // non-zero
    double absolute;     // sum of the absolute weights
} trellis_template_usage;

/* Ranks the weights of a model, which must outlive the inspection, and keeps the `top` features and
 * transitions of each label. Labels are those inside the model, see trellis_model_label(). */
typedef struct trellis_inspection trellis_inspection;
TRELLIS_API trellis_status trellis_inspection_create(const trellis_model *model, size_t top,
                                                     trellis_inspection **ret_inspection,
                                                     trellis_error *error);
TRELLIS_API void trellis_inspection_destroy(trellis_inspection *inspection);
/* The ranking of a label, largest absolute weight first. As `label`, trellis_model_label_count()
 * stands for the end of the sequence, which has transitions only. */
TRELLIS_API const trellis_weighted *trellis_inspection_top(const trellis_inspection *inspection,
                                                           size_t label, trellis_ranking ranking,
                                                           size_t *ret_count);
/* The templates in file order; attributes given in the input, if any, come last. */
TRELLIS_API const trellis_template_usage *trellis_inspection_templates(
    const trellis_inspection *inspection, size_t *ret_count);
/* The weight of a transition; trellis_model_label_count() stands for the start as `from` and for
 * the end as `to`. Minus infinity if the transition is forbidden, 0 if it has no weight. */
TRELLIS_API double trellis_inspection_transition(const trellis_inspection *inspection, size_t from,
                                                 size_t to);
/* Writes the inspection, as text or as JSON, of one label only, or of all: `label` may be NULL.
 * TRELLIS_DATA if the model does not have it. */
TRELLIS_API trellis_status trellis_inspection_report(const trellis_inspection *inspection,
                                                     const char *label, bool json,
                                                     trellis_sink sink, void *user,
                                                     trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Hyperparameter search
 * --------------------------------------------------------------------------------------------- */

/* A search proposes settings one by one and is told a score for each. Training and scoring with
 * them is up to the caller. */
typedef struct trellis_search trellis_search;

typedef struct trellis_trial {
    size_t struct_size;
    size_t number;             // of the settings, from 0
    double share;              // of the budget to spend on them, or spent last; 1 is all of it
    const char *const *names;  // [setting_count] of options
    const char *const *values; // [setting_count] until the next call
    size_t setting_count;
    bool scored;
    double score, seconds; // if scored; the score is NaN if the training failed
} trellis_trial;

/* `tries` are strings NAME=A,B,C or NAME=LOW..HIGH for options of TRELLIS_GROUP_TRAIN. The options
 * of TRELLIS_GROUP_TUNE and `seed` control which combinations are tried and with which budget. */
TRELLIS_API trellis_status trellis_search_create(const trellis_options *options,
                                                 const char *const *tries, size_t try_count,
                                                 trellis_search **ret_search, trellis_error *error);
TRELLIS_API void trellis_search_destroy(trellis_search *search);
/* Stores the scores in a file, so that a later search can resume. `task` identifies the data and
 * the fixed options: a file of another task is TRELLIS_DATA. Call it before trellis_search_next().
 * */
TRELLIS_API trellis_status trellis_search_keep(trellis_search *search, const char *path,
                                               const char *task, trellis_error *error);
/* TRELLIS_OK and the next settings; TRELLIS_END; or TRELLIS_OPTION if `struct_size` is not set. */
TRELLIS_API trellis_status trellis_search_next(trellis_search *search, trellis_trial *ret_trial);
/* The score of the last settings, NaN if the training failed; higher is better. */
TRELLIS_API trellis_status trellis_search_tell(trellis_search *search, double score, double seconds,
                                               trellis_error *error);
/* The number of settings, and each by rank, from 0: those with the largest share of the budget
 * first, the best of these first. TRELLIS_END beyond the last. */
TRELLIS_API size_t trellis_search_count(const trellis_search *search);
TRELLIS_API trellis_status trellis_search_ranked(const trellis_search *search, size_t place,
                                                 trellis_trial *ret_trial);
/* Plots the scores as a self-contained SVG picture. */
TRELLIS_API trellis_status trellis_search_plot(const trellis_search *search, trellis_sink sink,
                                               void *user, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Reports: scores, weights and errors of a model, as one page
 * --------------------------------------------------------------------------------------------- */

/* A self-contained HTML page: scores, learning curve, confusion matrix, calibration, top features,
 * transitions, and the sequences with errors. The model must outlive the report. `title` is copied.
 * Options: TRELLIS_GROUP_EVAL and _INSPECT. */
typedef struct trellis_report trellis_report;
TRELLIS_API trellis_status trellis_report_create(const trellis_model *model,
                                                 const trellis_options *options, const char *title,
                                                 trellis_report **ret_report, trellis_error *error);
TRELLIS_API void trellis_report_destroy(trellis_report *report);
/* Adds a sequence with its gold and predicted labels. Sequences beyond the option `errors` are
 * counted but not shown. */
TRELLIS_API trellis_status trellis_report_add(trellis_report *report,
                                              const trellis_sequence *sequence,
                                              const trellis_labelled *labelled,
                                              trellis_error *error);
/* What another model predicted for the next sequence, so that the page compares the two. Call it
 * for each sequence of the data, in their order, before the first is added with
 * trellis_report_add(); `name` stands for that model on the page. TRELLIS_DATA if the sequences
 * added later are others. */
TRELLIS_API trellis_status trellis_report_add_other(trellis_report *report, const char *name,
                                                    const trellis_labelled *labelled,
                                                    trellis_error *error);
TRELLIS_API trellis_status trellis_report_write(const trellis_report *report, trellis_sink sink,
                                                void *user, trellis_error *error);

/* ------------------------------------------------------------------------------------------------
 * Sampling
 * --------------------------------------------------------------------------------------------- */

/* Samples labelled sequences from an HMM and writes them. `model` may be NULL, for a random HMM
 * with the sizes of the options of TRELLIS_GROUP_SAMPLE. */
TRELLIS_API trellis_status trellis_sample(const trellis_model *model,
                                          const trellis_options *options, trellis_writer *writer,
                                          trellis_error *error);

#ifdef __cplusplus
}
#endif

#endif
