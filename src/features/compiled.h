/* compiled.h - the compiled form of a set of templates; for the files of src/features only.
 *
 * A *view* is a function of a column, without an offset: suffix(lower(word),3). It is computed once
 * per token. A *part* of a template is a view at an offset, or a literal. A *template* is a list of
 * parts:
 *
 *     node pos[-1] & pos[0]        ->  key "pos[-1]&pos[0]=", then pos at -1, then pos at 0
 *     U05:%x[-1,0]/%x[0,0]         ->  key "U05:", then $1 at -1, then "/", then $1 at 0
 *
 * The key of an attribute is that of the template's beginning, mixed with those of its parts in
 * order (base/hash.h). Tests and conditions are parts that must be there (or must not); real values
 * are parts that multiply.
 */
#ifndef TRELLIS_FEATURES_COMPILED_H
#define TRELLIS_FEATURES_COMPILED_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/intern.h"
#include "base/utf8.h"
#include "features/features.h"
#include "features/learned_names.h"
#include "features/resources.h"
#include "features/segment_filter.h"

/* Limits that no hand-written file reaches; they bound the cost of a hostile one. */
enum {
    TR_MAX_OFFSET = 100,
    TR_MAX_ABSOLUTE = 1000000, // Wapiti's "@"
    TR_MAX_DEPTH = 16,         // functions in functions
    TR_MAX_VIEWS = 4096,
    TR_MAX_COLUMNS = 256,
    TR_MAX_PARTS = 64, // of one template
    TR_MAX_SPAN = 64,  // tokens of a segment, or away from it
    TR_MAX_TEMPLATES = 20000,
    TR_MAX_SOURCE = 1 << 20, // bytes of a template file
    TR_WAPITI_PADS = 5,      // _x-1 .. _x-4, then _x-#
    TR_CRFPP_PADS = 8,       // CRF++ itself does not look further
    TR_MAX_WAPITI_REGEX = 1000
};

enum tr_dialect { TR_NATIVE, TR_CRFPP, TR_WAPITI };

enum tr_signature {
    TR_TAKES_NOTHING, // a word by itself: first
    TR_TAKES_TEXT,    // lower(x)
    TR_TAKES_COLUMN,  // elsewhere(x)
    TR_TAKES_LENGTHS, // prefix(x, 1..4)
    TR_TAKES_COUNT,   // rare(x, 3)
    TR_TAKES_REGEX,   // match(x, /re/)
    TR_TAKES_LIST,    // inlist(x, "file"[, lower])
    TR_TAKES_PATHS,   // cluster(x, "file"[, 4 6])
    TR_TAKES_ENTRIES, // gazetteer(x, "file"[, lower])
    TR_TAKES_VECTORS, // embedding(x, "file")
    TR_TAKES_ROLES,   // learned(x, inside first)
    TR_TAKES_WINDOW   // ngram(x, -2..2, 2)
};

enum tr_value_type {
    TR_GIVES_TEXT,
    TR_GIVES_TEST, // there or not there, without a value
    TR_GIVES_REAL
};

/* Every function of the native language: X(operation, name, signature, result, usage, help). The
 * parser, the help and the message for an unknown name all come from here; how each works is in
 * functions.c. */
#define TR_FUNCTION_LIST(X)                                                                        \
    X(LOWER, "lower", TEXT, TEXT, "lower(x)", "in lower case")                                     \
    X(UPPER, "upper", TEXT, TEXT, "upper(x)", "in upper case")                                     \
    X(DIGITS, "digits", TEXT, TEXT, "digits(x)", "every digit replaced by 0")                      \
    X(PREFIX, "prefix", LENGTHS, TEXT, "prefix(x, 1..4)",                                          \
      "the first characters; nothing where x is shorter")                                          \
    X(SUFFIX, "suffix", LENGTHS, TEXT, "suffix(x, 1..4)",                                          \
      "the last characters; nothing where x is shorter")                                           \
    X(SHAPE, "shape", TEXT, TEXT, "shape(x)",                                                      \
      "the kinds of its characters: McDonald's-9 is XxXxxxxx'x-d")                                 \
    X(SHORTSHAPE, "shortshape", TEXT, TEXT, "shortshape(x)",                                       \
      "the shape with its runs collapsed: XxXx'x-d")                                               \
    X(LENGTH, "length", TEXT, TEXT, "length(x)", "the number of characters")                       \
    X(MATCH, "match", REGEX, TEXT, "match(x, /re/)",                                               \
      "what the regular expression matched, or its first group; nothing without a match")          \
    X(CLUSTER, "cluster", PATHS, TEXT, "cluster(x, \"file\", 4 6 10 20)",                          \
      "beginnings of its Brown cluster's path; without lengths the whole")                         \
    X(GAZETTEER, "gazetteer", ENTRIES, TEXT, "gazetteer(x, \"file\"[, lower])",                    \
      "B, I, E or S: where x is in an entry of one or more words, for each type of entry")         \
    X(EMBEDDING, "embedding", VECTORS, REAL, "embedding(x, \"file\")",                             \
      "the components of its vector, an attribute each, as their values")                          \
    X(REAL, "real", TEXT, REAL, "real(x)", "x as a number, which becomes the attribute's value")   \
    X(ISUPPER, "isupper", TEXT, TEST, "isupper(x)", "test: begins with an upper-case letter")      \
    X(ALLCAPS, "allcaps", TEXT, TEST, "allcaps(x)",                                                \
      "test: has upper-case letters and no lower-case ones")                                       \
    X(CAPITALISED, "capitalised", TEXT, TEST, "capitalised(x)",                                    \
      "test: an upper-case letter, then lower-case ones only")                                     \
    X(MIXEDCASE, "mixedcase", TEXT, TEST, "mixedcase(x)",                                          \
      "test: has lower-case letters, and upper-case ones after the first character")               \
    X(HASDIGIT, "hasdigit", TEXT, TEST, "hasdigit(x)", "test: has a digit")                        \
    X(ALLDIGITS, "alldigits", TEXT, TEST, "alldigits(x)", "test: digits only")                     \
    X(HASHYPHEN, "hashyphen", TEXT, TEST, "hashyphen(x)", "test: has a hyphen")                    \
    X(HASPUNCT, "haspunct", TEXT, TEST, "haspunct(x)", "test: has punctuation or a symbol")        \
    X(ALLPUNCT, "allpunct", TEXT, TEST, "allpunct(x)", "test: punctuation and symbols only")       \
    X(ISNUMBER, "isnumber", TEXT, TEST, "isnumber(x)", "test: a number such as -1,234.5 or 12%")   \
    X(TEST, "test", REGEX, TEST, "test(x, /re/)", "test: the regular expression matches")          \
    X(INLIST, "inlist", LIST, TEST, "inlist(x, \"file\"[, lower])",                                \
      "test: is a line of the file; with lower, whatever the case")                                \
    X(RARE, "rare", COUNT, TEST, "rare(x, n)", "test: seen at most n times in training")           \
    X(FREQUENT, "frequent", COUNT, TEST, "frequent(x, n)",                                         \
      "test: seen more than n times in training")                                                  \
    X(UNKNOWN, "unknown", COUNT, TEST, "unknown(x, n)",                                            \
      "test: never seen in training; while training, seen at most n times")                        \
    X(FIRST, "first", NOTHING, TEST, "first", "test: the first token")                             \
    X(LAST, "last", NOTHING, TEST, "last", "test: the last token")                                 \
    X(POSITION, "position", NOTHING, TEXT, "position",                                             \
      "tokens before this one: 0 1 2 3 4 5-9 10-19 20+")                                           \
    X(BIAS, "bias", NOTHING, TEST, "bias", "always there")                                         \
    X(WRITTEN, "written", NOTHING, TEXT, "written",                                                \
      "how the word is written in the rest of its document: lower, mostly-capitalised, ...")       \
    X(JOINED, "joined", NOTHING, TEXT, "joined",                                                   \
      "capitalised words beside it in the rest of its document: before, after, both or alone")     \
    X(ELSEWHERE, "elsewhere", COLUMN, TEXT, "elsewhere(x)",                                        \
      "the most frequent cell of column x at other places of the word in its document")            \
    X(LEARNED, "learned", ROLES, TEXT, "learned(x, inside first last)",                            \
      "what x was in the training data: inside spans or not, as their first word, as their last")  \
    X(NGRAM, "ngram", WINDOW, TEXT, "ngram(x, -2..2, 1..2)",                                       \
      "all n-grams of x within a window; x has no offset of its own")

/* What the native language has no name for: a plain column, and Wapiti's %t and %m. */
#define TR_HIDDEN_LIST(X)                                                                          \
    X(COLUMN, "", NOTHING, TEXT, "", "")                                                           \
    X(WAPITI_TEST, "%t", REGEX, TEXT, "", "")                                                      \
    X(WAPITI_MATCH, "%m", REGEX, TEXT, "", "")

enum tr_operation {
#define TR_OPERATION_ENUM(operation, name, signature, result, usage, help) TR_OP_##operation,
    TR_FUNCTION_LIST(TR_OPERATION_ENUM) TR_HIDDEN_LIST(TR_OPERATION_ENUM)
#undef TR_OPERATION_ENUM
        TR_OP_COUNT
};

struct tr_column {
    char *name;      // "" where it is given by number
    size_t position; // SIZE_MAX: given by name in the input
    bool optional;
    bool elsewhere; // its cells are those of the sequence's context
};

struct tr_view {
    enum tr_operation operation;
    uint32_t argument; // the view it is applied to, TR_NONE for columns and positions
    uint32_t column;   // the innermost, TR_NONE for positions
    uint32_t number;   // of characters, of a count, or of a role
    uint32_t resource; // word list, clusters or counted words, TR_NONE where none is needed
    uint32_t regex;    // TR_NONE where none is needed
    uint32_t depth;    // functions in it
};

/* Every function of a whole segment: X(span, name, takes, result, usage, help). They are for the
 * `segment` lines of the native language; their parser is segment_template.c, how each works is in
 * segment_values.c. */
#define TR_SPAN_LIST(X)                                                                            \
    X(TEXT, "text", TEXT, TEXT, "text(x)", "segment: x of all its tokens")                         \
    X(HEAD, "head", LENGTHS, TEXT, "head(x, 1..2)",                                                \
      "segment: x of its first tokens; nothing where it is shorter")                               \
    X(TAIL, "tail", LENGTHS, TEXT, "tail(x, 1..2)",                                                \
      "segment: x of its last tokens; nothing where it is shorter")                                \
    X(ANY, "any", LENGTHS, TEXT, "any(x, 1..2)", "segment: every n-gram of x within it")           \
    X(BEFORE, "before", LENGTHS, TEXT, "before(x, 1..2)",                                          \
      "segment: x of the first, second, ... token before it")                                      \
    X(AFTER, "after", LENGTHS, TEXT, "after(x, 1..2)",                                             \
      "segment: x of the first, second, ... token after it")                                       \
    X(SIZE, "size", NOTHING, TEXT, "size", "segment: its tokens: 1 2 3 4 5 6 7-8 9-12 13+")        \
    X(COUNT, "count", TEST, TEXT, "count(t)", "segment: at how many of its tokens a test is true") \
    X(ALL, "all", TEST, TEST, "all(t)", "segment: test: t is true at all its tokens")              \
    X(LISTED, "listed", LIST, TEST, "listed(x, \"file\"[, lower])",                                \
      "segment: test: x of its tokens, joined by blanks, is a line of the file")                   \
    X(FUZZY, "fuzzy", SIMILAR, TEST, "fuzzy(x, \"file\", 50 80)",                                  \
      "segment: test: its similarity to a line of the file is at least 50 %, 80 %")                \
    X(SIMILARITY, "similarity", NAMES, REAL, "similarity(x, \"file\")",                            \
      "segment: that similarity as the attribute's value: the words both have, of all words")      \
    X(LEARNED, "learned", TEXT, TEXT, "learned(x)",                                                \
      "segment: the type that this text had as a segment of the training data")

enum tr_span_function {
    TR_NO_SPAN, // a part of a node or edge template
#define TR_SPAN_ENUM(span, name, takes, result, usage, help) TR_SPAN_##span,
    TR_SPAN_LIST(TR_SPAN_ENUM)
#undef TR_SPAN_ENUM
        TR_SPAN_COUNT_OF
};

/* A part with no view is a literal. */
struct tr_template_part {
    uint32_t view;    // or TR_NONE
    uint32_t literal; // number in `literals`, for a literal
    int32_t offset;
    bool absolute; // the offset counts from the first token (1, 2, ...) or the last (-1, -2, ...)
    bool negated;  // a condition that must not hold
    /* Of a segment template: what is looked at, the number of tokens or the least similarity, and
     * the list. */
    enum tr_span_function span;
    uint32_t number;
    uint32_t resource; // TR_NONE where none is needed
};

struct tr_template {
    struct tr_key key; // of the text before the first value
    uint32_t text;     // number in `texts`, without the value
    uint32_t parts;    // its first in `parts`: those that are mixed, then the others
    uint32_t mixed, conditions, factors;
    bool edge, segment; // neither: a node
};

/* How often the values of a view were seen in training. */
struct tr_counter {
    uint32_t view;
    uint64_t *values; // [slots] 0 where empty; open addressing
    uint32_t *counts; // [slots]
    size_t slots, used;
};

struct trellis_features {
    char *name;
    char *source; // [source_size] as written
    size_t source_size;
    enum tr_dialect dialect;
    bool pad; // native: windows beyond the sequence have values
    enum { TR_NO_CELLS, TR_CELLS, TR_NODE_CELLS } cells; // the input's own strings are attributes
    bool strings; // keys are those of the strings that CRF++ or Wapiti would make, byte by byte
    struct tr_step_choice steps;
    TR_ARRAY(struct tr_column) columns;
    TR_ARRAY(struct tr_view) views;
    TR_ARRAY(struct tr_template_part) parts;
    TR_ARRAY(struct tr_template) templates;
    TR_ARRAY(struct tr_resource) resources;
    TR_ARRAY(struct tr_counter) counters;
    TR_ARRAY(struct tr_learned_names) learned;
    TR_ARRAY(pcre2_code *) regexes;        // [regex_texts]
    TR_ARRAY(struct tr_key) literal_keys;  // [literals]
    TR_ARRAY(struct tr_key) literal_spans; // [literals] of a set keyed by strings
    struct tr_intern regex_texts, literals;
    struct tr_intern texts; // of templates, 'n', 'e' or 's' in front
    uint32_t reach;         // the largest offset
    bool has_segments;      // some template is of segments
    bool counting;          // templates need counts that have not been made
    bool learning;          // templates need names or words that have not been learned
    bool learns_words;      // of these, words
    size_t block_size;      // while training: sequences whose names are left out together
    bool has_filter;        // of segments,
    uint32_t filter;        // which is this resource
    struct tr_role_counter *role_counter; // while it is being made
    uint64_t generation;                  // incremented when counts change the result of a test
    struct tr_extractor *printer;
};

/* The key of a piece of text; only strings have a span. */
static inline struct tr_string_key tr_features_key(const trellis_features *features,
                                                   trellis_text text)
{
    return features->strings ? tr_string_key(text) : (struct tr_string_key){tr_hash(text), {0, 0}};
}

/* Set in the span of a value that ends the string which it is part of. */
#define TR_STRING_END (UINT64_C(1) << 63)
/* Whether a view can have such values: Wapiti's %m and %M. */
static inline bool tr_view_may_end(const trellis_features *features, uint32_t view)
{
    while (features->views.at[view].operation == TR_OP_LOWER) {
        view = features->views.at[view].argument;
    }
    return features->views.at[view].operation == TR_OP_WAPITI_MATCH;
}

/* ---- compile.c: building a set --------------------------------------------------------------- */

/* Where word lists and clusters come from. */
struct tr_resource_supply {
    enum { TR_NO_RESOURCES, TR_FILES, TR_GIVEN, TR_STORED } from;
    const char *folder;             // TR_FILES: of the template file, "" where there is none
    const trellis_options *options; // TR_FILES: with the limits
    const trellis_resource *given;  // TR_GIVEN: by the caller, as bytes
    size_t given_count;             //
    const struct tr_stored *stored; // TR_STORED: in a model's block
};

/* The state of a parser. */
struct tr_parser {
    trellis_features *features;
    const struct tr_resource_supply *supply;
    trellis_text line; // being read
    size_t at;         // in the line
    uint64_t number;   // of the line
    trellis_error *error;
};

/* A template before it is added. */
struct tr_draft {
    bool edge, segment;
    trellis_text text;      // what identifies it
    trellis_text beginning; // what its key begins with
    struct tr_template_part mixed[TR_MAX_PARTS], conditions[TR_MAX_PARTS], factors[TR_MAX_PARTS];
    uint32_t mixed_count, condition_count, factor_count;
    size_t prefix; // native: bytes of the text before its first expression
};

trellis_status tr_parse_fail(struct tr_parser *parser, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool tr_parse_blank(struct tr_parser *parser); // skips blanks; true at the end of the line
/* Reads a whole number within bounds; false, without moving, if there is none. */
bool tr_parse_integer(struct tr_parser *parser, int64_t min, int64_t max, int64_t *value);

trellis_status tr_compile_column(struct tr_parser *parser, size_t position, uint32_t *ret_column);
/* The number of a view, which is added if it is new; fills in its column and depth. */
trellis_status tr_compile_view(struct tr_parser *parser, struct tr_view view, uint32_t *ret_view);
trellis_status tr_compile_regex(struct tr_parser *parser, trellis_text pattern, size_t at,
                                uint32_t *ret_regex);
trellis_status tr_compile_literal(struct tr_parser *parser, trellis_text text,
                                  uint32_t *ret_literal);
trellis_status tr_compile_resource(struct tr_parser *parser, enum tr_resource_kind kind,
                                   trellis_text file, size_t at, uint32_t *ret_resource);
/* The words seen more than `count` times, of a view; TR_KNOWN: until the training ends. */
trellis_status tr_compile_counted(struct tr_parser *parser, enum tr_resource_kind kind,
                                  uint32_t view, uint32_t count, uint32_t *ret_resource);
/* The names of the training data, or its words in a role, by a view. */
trellis_status tr_compile_learned(struct tr_parser *parser, uint32_t view,
                                  enum tr_learned_role role, uint32_t *ret_resource);
trellis_status tr_compile_template(struct tr_parser *parser, const struct tr_draft *draft);
/* The canonical text of a view at an offset, or without one. */
#define TR_NO_OFFSET INT32_MIN
void tr_view_name(const trellis_features *features, uint32_t number, int32_t offset,
                  struct tr_buffer *buffer);

/* Takes over the text, a malloc'ed one with a terminating zero byte, also on failure. */
trellis_status tr_features_compile(const char *name, char *source, size_t size,
                                   const struct tr_resource_supply *supply,
                                   trellis_features **ret_features, trellis_error *error);

/* ---- native.c, patterns.c: one line of a dialect --------------------------------------------- */

bool tr_native_begins(trellis_text line);
trellis_status tr_native_line(struct tr_parser *parser);
trellis_status tr_pattern_line(struct tr_parser *parser);

/* ---- functions.c: what they give ------------------------------------------------------------- */

const char *tr_function_name(enum tr_operation operation);
enum tr_value_type tr_function_result(enum tr_operation operation);
enum tr_signature tr_function_signature(enum tr_operation operation);
/* TR_OP_COUNT for an unknown name. */
enum tr_operation tr_function_find(trellis_text name);
extern const char tr_function_names[]; // all of them, separated by blanks

/* Functions see the first and last TR_SEEN_BYTES of a cell that has more than both, so that any
 * number of functions of a cell of 100 MB takes no longer than reading it. */
enum { TR_SEEN_BYTES = 1 << 15 };

/* The workspace of one thread. */
struct tr_evaluation {
    const trellis_features *features;
    struct tr_buffer scratch[TR_MAX_DEPTH + 1]; // one for each depth of a view
    struct tr_buffer seen;                      // what functions see of a long cell
    pcre2_match_data *matched;
    pcre2_match_context *limits;
    uint64_t max_steps;  // of regular expressions in a sequence (--max-matches)
    uint64_t steps_left; // of them
    bool exhausted;      // they did not suffice
    uint64_t block;      // of the training data that learned() leaves out, from 1; 0: none
    bool overrun; // the value last computed ends the string that it is part of (wapiti_regex.c)
};
bool tr_evaluation_begin(struct tr_evaluation *evaluation, const trellis_features *features);
void tr_evaluation_end(struct tr_evaluation *evaluation);

/* The value of a view for a cell; false if it has none. It is valid until the next call, or as long
 * as the cell. For tests it is empty. */
bool tr_view_text(struct tr_evaluation *evaluation, uint32_t view, trellis_text cell,
                  trellis_text *ret_text);
/* What functions see of a cell; valid until the next call. */
trellis_text tr_seen_of_cell(struct tr_evaluation *evaluation, trellis_text cell);
/* The value of a view without a column at a token. */
bool tr_place_text(enum tr_operation operation, const trellis_sequence *sequence, size_t token,
                   trellis_text *ret_text);

/* ---- regex.c --------------------------------------------------------------------------------- */

/* Compiles for UTF-8, with the JIT where there is one. On failure *ret_code is NULL, and `reason`
 * and *at are the error and its position; the reason is empty on allocation failure. */
void tr_regex_compile(trellis_text pattern, pcre2_code **ret_code, char *reason, size_t room,
                      size_t *at);
/* Wapiti's small dialect in PCRE2's; false with *at where it is malformed. */
bool tr_regex_from_wapiti(trellis_text pattern, struct tr_buffer *buffer, size_t *at);

/* ---- wapiti_regex.c -------------------------------------------------------------------------- */

/* Whether an expression is well formed; *at is where it is not. */
bool tr_wapiti_regex_check(trellis_text regex, size_t *at);
/* The first match within *steps, which become those that are left; *ret_overrun says whether Wapiti would copy beyond the end of the text, and so
 * end its string there. */
bool tr_wapiti_regex_find(trellis_text regex, trellis_text text, trellis_text *ret_match,
                          bool *ret_overrun, uint64_t *steps);

/* ---- counts.c -------------------------------------------------------------------------------- */

bool tr_counter_add(struct tr_counter *counter, uint64_t value);
void tr_counter_free(struct tr_counter *counter);

/* ---- learned_names.c ------------------------------------------------------------------------- */

/* "inside", "first" or "last"; TR_LEARNED_ROLES where a word is none of them. */
const char *tr_learned_role_name(enum tr_learned_role role);
enum tr_learned_role tr_learned_role_find(trellis_text word);
/* The answer about a key, as seen from a block of the training data; false where there is none. */
bool tr_learned_answer(trellis_text table, enum tr_learned_role role, uint64_t key, uint64_t block,
                       trellis_text *ret_text);
/* When training ends: from here on the answers are those of all the training data. */
trellis_status tr_learned_names_finish(trellis_features *features, trellis_error *error);

/* ---- segment_filter.c ------------------------------------------------------------------------ */

/* Takes over a resource of kind TR_FILTER; false, without taking it, on allocation failure. */
bool tr_features_take_filter(trellis_features *features, struct tr_resource resource);
void tr_role_counter_free(trellis_features *features);

#endif
