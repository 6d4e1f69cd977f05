/* functions.c - the functions of the template language.
 *
 * Each is a small function from text to text, or to nothing. Characters are code points; a byte
 * that is no UTF-8 is a character of its own (base/utf8.h). Results that are not a slice of their
 * argument are written to the scratch buffer of the view's depth, so that nested calls do not
 * disturb one another.
 */
#include "features/compiled.h"

#include "base/limits.h"

#include "base/utf8.h"

typedef bool (*apply_function)(struct tr_evaluation *evaluation, const struct tr_view *view,
                               trellis_text x, trellis_text *ret_text);

static struct tr_buffer *scratch_of(struct tr_evaluation *evaluation, const struct tr_view *view)
{
    struct tr_buffer *buffer = &evaluation->scratch[view->depth];
    buffer->size = 0;
    return buffer;
}

/* After an allocation failure the result is nothing; the extractor reports it. */
static bool finish(const struct tr_buffer *buffer, trellis_text *ret_text)
{
    *ret_text = (trellis_text){buffer->data, buffer->size};
    return !buffer->failed;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void add_code(struct tr_buffer *buffer, int32_t code)
{
    char bytes[4];
    tr_buffer_add(buffer, bytes, tr_utf8_write(code, bytes));
}

/* As Wapiti does it: letters of ASCII only. */
static void lower_bytes(trellis_text text, struct tr_buffer *buffer)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        tr_buffer_char(buffer, (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    }
}

static bool apply_lower(struct tr_evaluation *evaluation, const struct tr_view *view,
                        trellis_text x, trellis_text *ret_text)
{
    struct tr_buffer *buffer = scratch_of(evaluation, view);
    if (evaluation->features->strings) {
        lower_bytes(x, buffer);
    } else {
        tr_lower_text(x, buffer);
    }
    return finish(buffer, ret_text);
}

static bool apply_upper(struct tr_evaluation *evaluation, const struct tr_view *view,
                        trellis_text x, trellis_text *ret_text)
{
    struct tr_buffer *buffer = scratch_of(evaluation, view);
    for (size_t at = 0; at < x.size;) {
        add_code(buffer, tr_utf8_upper(tr_utf8_next(x, &at)));
    }
    return finish(buffer, ret_text);
}

static bool apply_digits(struct tr_evaluation *evaluation, const struct tr_view *view,
                         trellis_text x, trellis_text *ret_text)
{
    struct tr_buffer *buffer = scratch_of(evaluation, view);
    for (size_t at = 0; at < x.size;) {
        int32_t code = tr_utf8_next(x, &at);
        add_code(buffer, tr_utf8_class(code) == TR_DIGIT ? '0' : code);
    }
    return finish(buffer, ret_text);
}

static bool apply_prefix(struct tr_evaluation *evaluation, const struct tr_view *view,
                         trellis_text x, trellis_text *ret_text)
{
    (void)evaluation;
    return tr_utf8_prefix(x, view->number, ret_text);
}

static bool apply_suffix(struct tr_evaluation *evaluation, const struct tr_view *view,
                         trellis_text x, trellis_text *ret_text)
{
    (void)evaluation;
    return tr_utf8_suffix(x, view->number, ret_text);
}

/* The character that represents a character in a shape; -1 for accents, joiners and the like, which
 * belong to the character before them. */
static int32_t shape_sign(int32_t code)
{
    switch (tr_utf8_class(code)) {
    case TR_UPPER:
        return 'X';
    case TR_LOWER:
        return 'x';
    case TR_OTHER_LETTER:
        return 'o';
    case TR_DIGIT:
        return 'd';
    case TR_OTHER:
        return -1;
    default:
        return code;
    }
}

static bool draw_shape(struct tr_buffer *buffer, trellis_text x, bool collapse,
                       trellis_text *ret_text)
{
    int32_t before = -1;
    for (size_t at = 0; at < x.size;) {
        int32_t sign = shape_sign(tr_utf8_next(x, &at));
        if (sign >= 0 && !(collapse && sign == before)) {
            add_code(buffer, sign);
            before = sign;
        }
    }
    return finish(buffer, ret_text);
}

static bool apply_shape(struct tr_evaluation *evaluation, const struct tr_view *view,
                        trellis_text x, trellis_text *ret_text)
{
    return draw_shape(scratch_of(evaluation, view), x, false, ret_text);
}

static bool apply_shortshape(struct tr_evaluation *evaluation, const struct tr_view *view,
                             trellis_text x, trellis_text *ret_text)
{
    return draw_shape(scratch_of(evaluation, view), x, true, ret_text);
}

static bool apply_length(struct tr_evaluation *evaluation, const struct tr_view *view,
                         trellis_text x, trellis_text *ret_text)
{
    struct tr_buffer *buffer = scratch_of(evaluation, view);
    tr_buffer_format(buffer, "%zu", tr_utf8_length(x));
    return finish(buffer, ret_text);
}

static bool apply_cluster(struct tr_evaluation *evaluation, const struct tr_view *view,
                          trellis_text x, trellis_text *ret_text)
{
    const struct tr_resource *resource = &evaluation->features->resources.at[view->resource];
    if (!tr_table_path(resource->data, tr_hash(x).low, ret_text)) {
        return false;
    }
    trellis_text beginning;
    if (view->number && tr_utf8_prefix(*ret_text, view->number, &beginning)) {
        *ret_text = beginning; // a shorter path is kept whole
    }
    return true;
}

static bool apply_learned(struct tr_evaluation *evaluation, const struct tr_view *view,
                          trellis_text x, trellis_text *ret_text)
{
    const struct tr_resource *resource = &evaluation->features->resources.at[view->resource];
    uint64_t key = tr_hash(x).low;
    return tr_learned_answer(resource->data, (enum tr_learned_role)view->number, key + (key == 0),
                             evaluation->block, ret_text);
}

/* The place of a word in an entry depends on the words beside it, and a vector is no text:
 * column_views.c computes them. */
static bool apply_nothing(struct tr_evaluation *evaluation, const struct tr_view *view,
                          trellis_text x, trellis_text *ret_text)
{
    (void)evaluation, (void)view, (void)x;
    *ret_text = TR_TEXT("");
    return false;
}

/* Numbers are read by the extractor, which knows the line for error messages. */
static bool apply_real(struct tr_evaluation *evaluation, const struct tr_view *view, trellis_text x,
                       trellis_text *ret_text)
{
    (void)evaluation, (void)view;
    *ret_text = x;
    return true;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Which kinds of characters a text has. */
struct kinds {
    size_t characters;
    size_t of[TR_OTHER + 1];
    bool first_upper;
    size_t later_uppers; // after the first character
    bool hyphen;
};

static bool is_hyphen(int32_t code)
{
    return code == '-' || code == 0x2010 || code == 0x2011;
}

static struct kinds count_kinds(trellis_text x)
{
    struct kinds kinds = {0};
    for (size_t at = 0; at < x.size; kinds.characters++) {
        int32_t code = tr_utf8_next(x, &at);
        enum tr_class class = tr_utf8_class(code);
        kinds.of[class]++;
        kinds.hyphen |= is_hyphen(code);
        if (class == TR_UPPER && kinds.characters == 0) {
            kinds.first_upper = true;
        } else if (class == TR_UPPER) {
            kinds.later_uppers++;
        }
    }
    return kinds;
}

static bool apply_kinds(struct tr_evaluation *evaluation, const struct tr_view *view,
                        trellis_text x, trellis_text *ret_text)
{
    (void)evaluation;
    *ret_text = TR_TEXT("");
    struct kinds kinds = count_kinds(x);
    size_t marks = kinds.of[TR_PUNCTUATION] + kinds.of[TR_SYMBOL];
    switch (view->operation) {
    case TR_OP_ISUPPER:
        return kinds.first_upper;
    case TR_OP_ALLCAPS:
        return kinds.of[TR_UPPER] > 0 && kinds.of[TR_LOWER] == 0;
    case TR_OP_CAPITALISED:
        return kinds.first_upper && kinds.later_uppers == 0 && kinds.of[TR_LOWER] > 0;
    case TR_OP_MIXEDCASE:
        return kinds.later_uppers > 0 && kinds.of[TR_LOWER] > 0;
    case TR_OP_HASDIGIT:
        return kinds.of[TR_DIGIT] > 0;
    case TR_OP_ALLDIGITS:
        return kinds.characters > 0 && kinds.of[TR_DIGIT] == kinds.characters;
    case TR_OP_HASHYPHEN:
        return kinds.hyphen;
    case TR_OP_HASPUNCT:
        return marks > 0;
    case TR_OP_ALLPUNCT:
        return kinds.characters > 0 && marks == kinds.characters;
    default:
        return false;
    }
}

/* [+-] digit { digit | , | . } [%], or with a leading point; the last character before % is a
 * digit. */
static bool apply_isnumber(struct tr_evaluation *evaluation, const struct tr_view *view,
                           trellis_text x, trellis_text *ret_text)
{
    (void)evaluation, (void)view;
    *ret_text = TR_TEXT("");
    if (x.size && (x.data[0] == '+' || x.data[0] == '-')) {
        x.data++, x.size--;
    }
    if (x.size && x.data[x.size - 1] == '%') {
        x.size--;
    }
    bool after_digit = false, after_separator = false;
    for (size_t at = 0; at < x.size;) {
        bool first = at == 0;
        int32_t code = tr_utf8_next(x, &at);
        bool digit = tr_utf8_class(code) == TR_DIGIT;
        bool separator = code == '.' || (code == ',' && !first);
        if (!digit && (!separator || after_separator)) {
            return false;
        }
        after_digit = digit;
        after_separator = separator;
    }
    return after_digit;
}

static bool apply_inlist(struct tr_evaluation *evaluation, const struct tr_view *view,
                         trellis_text x, trellis_text *ret_text)
{
    *ret_text = TR_TEXT("");
    const struct tr_resource *resource = &evaluation->features->resources.at[view->resource];
    if (resource->kind == TR_LOWER_WORDS) {
        struct tr_buffer *buffer = scratch_of(evaluation, view);
        tr_lower_text(x, buffer);
        x = (trellis_text){buffer->data, buffer->size};
    }
    return tr_table_has(resource->data, tr_hash(x).low);
}

static bool apply_counted(struct tr_evaluation *evaluation, const struct tr_view *view,
                          trellis_text x, trellis_text *ret_text)
{
    *ret_text = TR_TEXT("");
    const struct tr_resource *resource = &evaluation->features->resources.at[view->resource];
    return tr_table_has(resource->data, tr_hash(x).low) == (view->operation == TR_OP_FREQUENT);
}

/* ---- regular expressions --------------------------------------------------------------------- */

/* Every match may take this many steps, whatever the sequence has used up; a longer one is tried
 * again with more, up to MAX_STEPS, which the budget of the sequence pays for. PCRE2 does not say
 * how many steps a match took, only whether they sufficed. */
enum { FREE_STEPS = 1000, STEP_FACTOR = 10, MAX_STEPS = 100000 };

static int match_within_budget(struct tr_evaluation *evaluation, const pcre2_code *code,
                               trellis_text x)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)(x.size ? x.data : "");
    if (evaluation->exhausted) {
        return PCRE2_ERROR_MATCHLIMIT;
    }
    pcre2_set_match_limit(evaluation->limits, FREE_STEPS);
    int result = pcre2_match(code, subject, x.size, 0, 0, evaluation->matched, evaluation->limits);
    for (uint32_t steps = FREE_STEPS * STEP_FACTOR;
         result == PCRE2_ERROR_MATCHLIMIT && steps <= MAX_STEPS; steps *= STEP_FACTOR) {
        if (evaluation->steps_left < steps) {
            evaluation->exhausted = true;
            return result;
        }
        evaluation->steps_left -= steps;
        pcre2_set_match_limit(evaluation->limits, steps);
        result = pcre2_match(code, subject, x.size, 0, 0, evaluation->matched, evaluation->limits);
    }
    return result;
}

/* The text of group 1 if it took part in the match, else of the whole match. */
static bool find_match(struct tr_evaluation *evaluation, const struct tr_view *view, trellis_text x,
                       trellis_text *ret_text)
{
    const pcre2_code *code = evaluation->features->regexes.at[view->regex];
    const char *subject = x.size ? x.data : "";
    int groups = match_within_budget(evaluation, code, x);
    if (groups < 0) {
        return false; // no match, or one that would take too long to find
    }
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(evaluation->matched);
    if (groups > 1 && span[2] != PCRE2_UNSET) {
        span += 2;
    }
    if (span[0] > span[1] || span[1] > x.size) {
        return false; // \K in a lookahead can put the end before the start
    }
    *ret_text = (trellis_text){subject + span[0], span[1] - span[0]};
    return true;
}

static bool apply_test(struct tr_evaluation *evaluation, const struct tr_view *view, trellis_text x,
                       trellis_text *ret_text)
{
    bool found = find_match(evaluation, view, x, ret_text);
    *ret_text = TR_TEXT("");
    return found;
}

/* The same for Wapiti's patterns, whose steps are counted. */
static bool find_wapiti(struct tr_evaluation *evaluation, const struct tr_view *view,
                        trellis_text x, trellis_text *ret_text)
{
    const trellis_features *features = evaluation->features;
    if (!features->strings) {
        return find_match(evaluation, view, x, ret_text);
    }
    uint64_t steps = FREE_STEPS + evaluation->steps_left;
    bool found = tr_wapiti_regex_find(tr_intern_text(&features->regex_texts, view->regex), x,
                                      ret_text, &evaluation->overrun, &steps);
    evaluation->exhausted = evaluation->exhausted || steps == 0;
    evaluation->steps_left = steps < evaluation->steps_left ? steps : evaluation->steps_left;
    return found;
}

static bool apply_wapiti_test(struct tr_evaluation *evaluation, const struct tr_view *view,
                              trellis_text x, trellis_text *ret_text)
{
    *ret_text = find_wapiti(evaluation, view, x, ret_text) ? TR_TEXT("true") : TR_TEXT("false");
    evaluation->overrun = false;
    return true;
}

static bool apply_wapiti_match(struct tr_evaluation *evaluation, const struct tr_view *view,
                               trellis_text x, trellis_text *ret_text)
{
    if (!find_wapiti(evaluation, view, x, ret_text)) {
        *ret_text = TR_TEXT("");
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct function {
    const char *name;
    enum tr_signature signature;
    enum tr_value_type result;
};

static const struct function functions[TR_OP_COUNT] = {
#define FUNCTION_ROW(operation, name, signature, result, usage, help)                              \
    {name, TR_TAKES_##signature, TR_GIVES_##result},
    TR_FUNCTION_LIST(FUNCTION_ROW) TR_HIDDEN_LIST(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static const apply_function applies[TR_OP_COUNT] = {
    [TR_OP_LOWER] = apply_lower,
    [TR_OP_UPPER] = apply_upper,
    [TR_OP_DIGITS] = apply_digits,
    [TR_OP_PREFIX] = apply_prefix,
    [TR_OP_SUFFIX] = apply_suffix,
    [TR_OP_SHAPE] = apply_shape,
    [TR_OP_SHORTSHAPE] = apply_shortshape,
    [TR_OP_LENGTH] = apply_length,
    [TR_OP_MATCH] = find_match,
    [TR_OP_CLUSTER] = apply_cluster,
    [TR_OP_GAZETTEER] = apply_nothing,
    [TR_OP_LEARNED] = apply_learned,
    [TR_OP_EMBEDDING] = apply_nothing,
    [TR_OP_REAL] = apply_real,
    [TR_OP_ISUPPER] = apply_kinds,
    [TR_OP_ALLCAPS] = apply_kinds,
    [TR_OP_CAPITALISED] = apply_kinds,
    [TR_OP_MIXEDCASE] = apply_kinds,
    [TR_OP_HASDIGIT] = apply_kinds,
    [TR_OP_ALLDIGITS] = apply_kinds,
    [TR_OP_HASHYPHEN] = apply_kinds,
    [TR_OP_HASPUNCT] = apply_kinds,
    [TR_OP_ALLPUNCT] = apply_kinds,
    [TR_OP_ISNUMBER] = apply_isnumber,
    [TR_OP_TEST] = apply_test,
    [TR_OP_INLIST] = apply_inlist,
    [TR_OP_RARE] = apply_counted,
    [TR_OP_FREQUENT] = apply_counted,
    [TR_OP_UNKNOWN] = apply_counted,
    [TR_OP_WAPITI_TEST] = apply_wapiti_test,
    [TR_OP_WAPITI_MATCH] = apply_wapiti_match,
};

#define FUNCTION_WORD(operation, name, signature, result, usage, help) " " name
const char tr_function_names[] = TR_FUNCTION_LIST(FUNCTION_WORD);
#undef FUNCTION_WORD

const char *trellis_features_help(void)
{
#define FUNCTION_HELP(operation, name, signature, result, usage, help) usage "\n    " help "\n"
    return TR_FUNCTION_LIST(FUNCTION_HELP);
#undef FUNCTION_HELP
}

const char *tr_function_name(enum tr_operation operation)
{
    return functions[operation].name;
}

enum tr_value_type tr_function_result(enum tr_operation operation)
{
    return functions[operation].result;
}

enum tr_signature tr_function_signature(enum tr_operation operation)
{
    return functions[operation].signature;
}

enum tr_operation tr_function_find(trellis_text name)
{
    if (tr_text_is(name, "bos")) {
        return TR_OP_FIRST;
    }
    if (tr_text_is(name, "eos")) {
        return TR_OP_LAST;
    }
    for (int i = 0; i < TR_OP_COUNT; i++) {
        if (name.size && tr_text_is(name, functions[i].name)) {
            return (enum tr_operation)i;
        }
    }
    return TR_OP_COUNT;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

bool tr_evaluation_begin(struct tr_evaluation *evaluation, const trellis_features *features)
{
    struct tr_limits limits = {0};
    evaluation->features = features;
    tr_limits_resolve(NULL, &limits, NULL);
    evaluation->max_steps = evaluation->steps_left = limits.matches;
    if (features->regexes.size == 0) {
        return true;
    }
    /* Two pairs hold the whole match and group 1; the limit keeps a hostile expression from running
     * for ever. */
    evaluation->matched = pcre2_match_data_create(2, NULL);
    evaluation->limits = pcre2_match_context_create(NULL);
    if (!evaluation->matched || !evaluation->limits) {
        return false;
    }
    pcre2_set_depth_limit(evaluation->limits, 10000);
    return true;
}

void tr_evaluation_end(struct tr_evaluation *evaluation)
{
    for (size_t i = 0; i < TR_COUNT(evaluation->scratch); i++) {
        tr_buffer_free(&evaluation->scratch[i]);
    }
    tr_buffer_free(&evaluation->seen);
    pcre2_match_data_free(evaluation->matched);
    pcre2_match_context_free(evaluation->limits);
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Characters are cut nowhere: the first part ends, and the last begins, before one. */
trellis_text tr_seen_of_cell(struct tr_evaluation *evaluation, trellis_text cell)
{
    if (cell.size <= 2 * TR_SEEN_BYTES) {
        return cell;
    }
    size_t first = TR_SEEN_BYTES, last = cell.size - TR_SEEN_BYTES;
    for (int i = 0; i < 3 && is_continuation(cell.data[first]); i++) {
        first--;
    }
    for (int i = 0; i < 3 && is_continuation(cell.data[last]); i++) {
        last++;
    }
    struct tr_buffer *seen = &evaluation->seen;
    seen->size = 0;
    tr_buffer_add(seen, cell.data, first);
    tr_buffer_add(seen, cell.data + last, cell.size - last);
    return (trellis_text){seen->data, seen->size};
}

static bool is_cell(const struct tr_view *view)
{
    return view->operation == TR_OP_COLUMN || view->operation == TR_OP_ELSEWHERE;
}

static bool evaluate(struct tr_evaluation *evaluation, uint32_t number, trellis_text cell,
                     trellis_text *ret_text)
{
    const struct tr_view *view = &evaluation->features->views.at[number];
    if (is_cell(view)) {
        *ret_text = cell;
        evaluation->overrun = false;
        return true;
    }
    trellis_text x;
    return evaluate(evaluation, view->argument, cell, &x) &&
           applies[view->operation](evaluation, view, x, ret_text);
}

bool tr_view_text(struct tr_evaluation *evaluation, uint32_t number, trellis_text cell,
                  trellis_text *ret_text)
{
    bool whole = is_cell(&evaluation->features->views.at[number]);
    return evaluate(evaluation, number, whole ? cell : tr_seen_of_cell(evaluation, cell), ret_text);
}

static trellis_text position_text(size_t token)
{
    static const char *const exact[] = {"0", "1", "2", "3", "4"};
    return tr_text(token < 5 ? exact[token] : token < 10 ? "5-9" : token < 20 ? "10-19" : "20+");
}

/* Which of some counts is the largest, of several the first; `count` where all are 0. */
static size_t largest(const uint32_t *counts, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    return counts[best] ? best : count;
}

/* How a word is written elsewhere: always, mostly (three quarters) or partly so. At the beginning of
 * a sentence only, that says nothing. */
static bool written_text(const trellis_writing *writing, trellis_text *ret_text)
{
    static const char *const names[][3] = {
        {"lower", "mostly-lower", "partly-lower"},
        {"capitalised", "mostly-capitalised", "partly-capitalised"},
        {"upper", "mostly-upper", "partly-upper"},
    };
    const uint32_t counts[] = {writing->lower, writing->capitalised, writing->upper};
    uint64_t total = (uint64_t)counts[0] + counts[1] + counts[2];
    size_t best = largest(counts, TR_COUNT(counts));
    if (best == TR_COUNT(counts)) {
        *ret_text = TR_TEXT("first");
        return writing->first > 0;
    }
    uint64_t votes = counts[best];
    *ret_text = tr_text(names[best][votes == total ? 0 : votes * 4 >= total * 3 ? 1 : 2]);
    return true;
}

/* Beside which capitalised words it is capitalised elsewhere. */
static bool joined_text(const trellis_writing *writing, trellis_text *ret_text)
{
    static const char *const names[] = {"both", "before", "after", "alone"};
    const uint32_t counts[] = {writing->both, writing->before, writing->after, writing->alone};
    size_t best = largest(counts, TR_COUNT(counts));
    *ret_text = tr_text(best < TR_COUNT(names) ? names[best] : "");
    return best < TR_COUNT(names);
}

bool tr_place_text(enum tr_operation operation, const trellis_sequence *sequence, size_t token,
                   trellis_text *ret_text)
{
    const trellis_writing *writing = sequence->writing ? &sequence->writing[token] : NULL;
    *ret_text = TR_TEXT("");
    switch (operation) {
    case TR_OP_FIRST:
        return token == 0;
    case TR_OP_LAST:
        return token + 1 == sequence->length;
    case TR_OP_POSITION:
        *ret_text = position_text(token);
        return true;
    case TR_OP_BIAS:
        return true;
    case TR_OP_WRITTEN:
        return writing && written_text(writing, ret_text);
    case TR_OP_JOINED:
        return writing && joined_text(writing, ret_text);
    default:
        return false;
    }
}
