/* import.c - a model from its text form, which a person may have written. */
#include <float.h>
#include <math.h>

#include "base/input.h"
#include "model/import_normals.h"
#include "model/model.h"
#include "model/textform.h"

enum { MOST_FIELDS = TR_MOST_ORDER + 4 };

/* A weight as read, before the rows are laid out. */
struct loose_weight {
    uint32_t attribute, outcome;
    double weight;
    uint32_t line; // where it stands, for messages
};

struct loose_part {
    struct tr_dictionary dictionary;
    TR_ARRAY(struct loose_weight) weights;
    struct tr_rows *rows;
    float *values; // [rows->size]
    float *low;    // [rows->size] what those leave over
};

struct import {
    struct tr_input *input;
    trellis_error *error;
    trellis_text fields[MOST_FIELDS]; // of this line, escapes in place
    size_t count;
    struct tr_buffer scratch, notes, source, block;
    TR_ARRAY(uint64_t) template_lines; // where each line of `source` stands
    uint64_t block_line;               // where the last line of `block` stands
    trellis_features *features;
    struct tr_extractor *extractor;
    struct tr_intern labels;
    uint32_t order, count_cap;
    bool observed_states;
    TR_ARRAY(struct tr_gram) grams;
    struct tr_intern gram_texts; // the labels of each, as bytes: no two are the same
    TR_ARRAY(float) step_weights;
    TR_ARRAY(float) step_low;     // what those leave over
    TR_ARRAY(uint16_t) forbidden; // pairs
    struct loose_part node, edge;
    struct tr_normal_lines normals;
    struct tr_lexicon_draft lexicon;
    struct tr_buffer lexicon_block;
};

static const struct {
    char written, meant;
} escapes[] = {{'\\', '\\'}, {'t', '\t'}, {'n', '\n'}, {'r', '\r'}};

bool tr_textform_unescape(struct tr_buffer *buffer, trellis_text field)
{
    for (size_t i = 0; i < field.size; i++) {
        char c = field.data[i];
        if (c == '\\') {
            size_t k = 0;
            i++;
            while (k < TR_COUNT(escapes) &&
                   (i >= field.size || escapes[k].written != field.data[i])) {
                k++;
            }
            if (k == TR_COUNT(escapes)) {
                return false;
            }
            c = escapes[k].meant;
        }
        tr_buffer_char(buffer, c);
    }
    return true;
}

#define REFUSE(import, ...)                                                                        \
    tr_fail_at((import)->error, TRELLIS_FORMAT, tr_input_place((import)->input), __VA_ARGS__)

/* Field i without its escapes; until the next call. */
static trellis_status field_text(struct import *import, size_t i, trellis_text *ret_text)
{
    *ret_text = (trellis_text){"", 0};
    import->scratch.size = 0;
    if (!tr_textform_unescape(&import->scratch, import->fields[i])) {
        return REFUSE(import, "an unknown escape in '%.*s'", TR_SHOW(import->fields[i]));
    }
    tr_buffer_char(&import->scratch, 0);
    if (import->scratch.failed) {
        return tr_fail_memory(import->error);
    }
    *ret_text = (trellis_text){import->scratch.data, import->scratch.size - 1};
    return memchr(ret_text->data, 0, ret_text->size) ? REFUSE(import, "a zero byte in the text")
                                                     : TRELLIS_OK;
}

/* Field i as a label; the ends of a sequence have numbers behind those of all labels. */
static trellis_status field_label(struct import *import, size_t i, bool ends, uint16_t *ret_label)
{
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    if (ends && tr_text_is(import->fields[i], "\\start")) {
        *ret_label = (uint16_t)labels;
        return TRELLIS_OK;
    }
    if (ends && tr_text_is(import->fields[i], "\\end")) {
        *ret_label = (uint16_t)(labels + 1);
        return TRELLIS_OK;
    }
    trellis_text text = {0};
    trellis_status status = field_text(import, i, &text);
    if (status) {
        return status;
    }
    uint32_t label = tr_intern_find(&import->labels, text);
    if (label == TR_NONE) {
        return REFUSE(import, "there is no label '%.*s'; labels come before their use",
                      TR_SHOW(text));
    }
    *ret_label = (uint16_t)label;
    return TRELLIS_OK;
}

/* What a float leaves over of a weight. */
static float left_over(double weight)
{
    double rest = weight - (double)(float)weight;
    return isfinite(rest) ? (float)rest : 0;
}

static trellis_status field_weight(struct import *import, size_t i, double *ret_weight)
{
    trellis_text text = import->fields[i];
    bool logarithm = tr_text_begins(text, "log(") && text.data[text.size - 1] == ')';
    if (logarithm) {
        text = (trellis_text){text.data + 4, text.size - 5};
    }
    double value;
    if (!tr_text_real(text, &value) || !(value <= FLT_MAX) ||
        (logarithm && (value < 0 || value > 1))) {
        return REFUSE(import,
                      "a weight is a number, -inf, or log(p) with p from 0 to 1; not '%.*s'",
                      TR_SHOW(import->fields[i]));
    }
    *ret_weight = logarithm ? log(value) : value;
    return TRELLIS_OK;
}

static trellis_status field_whole(struct import *import, size_t i, int64_t most,
                                  uint32_t *ret_value)
{
    int64_t value;
    if (!tr_text_integer(import->fields[i], &value) || value < 0 || value > most) {
        return REFUSE(import, "a whole number from 0 to %lld is due here, not '%.*s'",
                      (long long)most, TR_SHOW(import->fields[i]));
    }
    *ret_value = (uint32_t)value;
    return TRELLIS_OK;
}

static trellis_status take_note(struct import *import)
{
    for (size_t i = 1; i <= 2; i++) {
        trellis_text text = {0};
        trellis_status status = field_text(import, i, &text);
        if (status) {
            return status;
        }
        tr_buffer_add(&import->notes, text.data, text.size + 1);
    }
    return TRELLIS_OK;
}

/* The compiled templates look into `block` and `source`, which must not move any more then. */
static trellis_status refuse_late_templates(struct import *import, const struct tr_buffer *other)
{
    return import->features ? REFUSE(import, "templates come before the first 'word'")
           : other->size    ? REFUSE(import, "either 'template' lines or 'block' lines, not both")
                            : TRELLIS_OK;
}

static trellis_status take_template(struct import *import)
{
    trellis_text text = {0};
    trellis_status status = refuse_late_templates(import, &import->block);
    if (!status) {
        status = field_text(import, 1, &text);
    }
    if (!status) {
        tr_buffer_text(&import->source, text);
        tr_buffer_char(&import->source, '\n');
        if (!tr_push(&import->template_lines, tr_input_place(import->input).line)) {
            return tr_fail_memory(import->error);
        }
    }
    return status;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static trellis_status take_block(struct import *import)
{
    trellis_text hex = import->fields[1];
    trellis_status status = refuse_late_templates(import, &import->source);
    if (status) {
        return status;
    }
    import->block_line = tr_input_place(import->input).line;
    for (size_t i = 0; i < hex.size; i += 2) {
        int high = hex_digit(hex.data[i]), low = i + 1 < hex.size ? hex_digit(hex.data[i + 1]) : -1;
        if (high < 0 || low < 0) {
            return REFUSE(import, "pairs of hexadecimal digits are due here");
        }
        tr_buffer_char(&import->block, (char)(high * 16 + low));
    }
    return TRELLIS_OK;
}

static trellis_status take_label(struct import *import)
{
    trellis_text text = {0};
    trellis_status status = field_text(import, 1, &text);
    if (status) {
        return status;
    }
    if (import->grams.size || import->node.weights.size || import->edge.weights.size ||
        import->forbidden.size || import->lexicon.pairs.size || import->normals.lines.size) {
        return REFUSE(import, "labels come before all weights");
    }
    if (tr_intern_find(&import->labels, text) != TR_NONE) {
        return REFUSE(import, "the label '%.*s' is there twice", TR_SHOW(text));
    }
    if (tr_intern_count(&import->labels) >= TR_MOST_LABELS) {
        return REFUSE(import, "more than %d labels", TR_MOST_LABELS);
    }
    return tr_intern_add(&import->labels, text) == TR_NONE ? tr_fail_memory(import->error)
                                                           : TRELLIS_OK;
}

static trellis_status take_forbidden(struct import *import)
{
    for (size_t i = 1; i <= 2; i++) {
        uint16_t label = 0;
        trellis_status status = field_label(import, i, true, &label);
        if (status) {
            return status;
        }
        if (label == tr_intern_count(&import->labels) + (i == 1)) {
            return REFUSE(import,
                          i == 1 ? "nothing follows the end" : "nothing leads to the start");
        }
        if (!tr_push(&import->forbidden, label)) {
            return tr_fail_memory(import->error);
        }
    }
    return TRELLIS_OK;
}

/* With counted states all labels but the last are the same, and the start goes with one other. */
static bool is_counted(const struct tr_gram *gram, uint32_t labels)
{
    for (size_t i = 1; i + 1 < gram->length; i++) {
        if (gram->label[i] != gram->label[0] || gram->label[i] == labels) {
            return false;
        }
    }
    return true;
}

static trellis_status take_step(struct import *import)
{
    double weight = 0;
    struct tr_gram gram = {.length = (uint8_t)(import->count - 2)};
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    trellis_status status = field_weight(import, 1, &weight);
    struct tr_graph_plan plan = {.order = import->order, .count_cap = import->count_cap};
    if (!status && gram.length > tr_graph_longest(&plan)) {
        status = REFUSE(import, "a gram of %d labels in a model of order %u", gram.length,
                        import->order);
    }
    for (size_t i = 0; !status && i < gram.length; i++) {
        status = field_label(import, i + 2, true, &gram.label[i]);
        bool start = gram.label[i] == labels, end = gram.label[i] == labels + 1;
        if (!status && ((start && i > 0) || (end && i + 1 < gram.length) ||
                        ((start || end) && gram.length < 2))) {
            status = REFUSE(import, "the start goes first and the end last");
        }
    }
    if (!status && import->count_cap > 1 && !is_counted(&gram, labels)) {
        status = REFUSE(import, "with 'count-cap' all labels of a step but the last are the same");
    }
    if (status) {
        return status;
    }
    trellis_text bytes = {(const char *)gram.label, gram.length * sizeof *gram.label};
    if (tr_intern_find(&import->gram_texts, bytes) != TR_NONE) {
        return REFUSE(import, "this step has a weight already");
    }
    return tr_intern_add(&import->gram_texts, bytes) != TR_NONE && tr_push(&import->grams, gram) &&
                   tr_push(&import->step_weights, (float)weight) &&
                   tr_push(&import->step_low, left_over(weight))
               ? TRELLIS_OK
               : tr_fail_memory(import->error);
}

static trellis_status add_weight(struct import *import, struct loose_part *part, uint64_t key,
                                 trellis_text text, uint32_t outcome, double weight)
{
    bool is_new, clash = false;
    uint32_t number = tr_dictionary_add(&part->dictionary, (struct tr_key){key, 0}, &is_new,
                                        &clash);
    if (number == TR_NONE || (is_new && !tr_dictionary_name(&part->dictionary, number, text)) ||
        !tr_push(&part->weights,
                 (struct loose_weight){number, outcome, weight,
                                       (uint32_t)tr_input_place(import->input).line})) {
        return tr_fail_memory(import->error);
    }
    return TRELLIS_OK;
}

static trellis_status take_attribute(struct import *import)
{
    bool edge = tr_text_is(import->fields[0], "edge");
    size_t i = edge ? 2 : 1;
    double weight = 0;
    uint16_t from = 0, to = 0;
    trellis_status status = field_weight(import, 1, &weight);
    if (!status && edge) {
        status = field_label(import, 2, false, &from);
    }
    if (!status) {
        status = field_label(import, i + 1, false, &to);
    }
    uint64_t key = 0;
    trellis_text hex = import->fields[i + 2], text = {0};
    bool is_key = hex.size == 16;
    for (size_t k = 0; is_key && k < hex.size; k++) {
        int digit = hex_digit(hex.data[k]);
        is_key = digit >= 0;
        key = key * 16 + (uint64_t)digit;
    }
    if (!status && !is_key) {
        status = REFUSE(import, "a key is 16 hexadecimal digits, not '%.*s'", TR_SHOW(hex));
    }
    if (!status) {
        status = field_text(import, i + 3, &text);
    }
    if (status) {
        return status;
    }
    uint32_t width = tr_row_width((uint32_t)tr_intern_count(&import->labels));
    return add_weight(import, edge ? &import->edge : &import->node, key, text,
                      edge ? from * width + to : to, weight);
}

/* Says the place in this file, where the compiler of templates knows only that in its own text. */
static trellis_status blame_template(struct import *import, trellis_status status,
                                     const trellis_error *cause)
{
    struct tr_place place = tr_input_place(import->input);
    const char *sentence = cause->message;
    place.line = import->block.size ? import->block_line : 0;
    if (cause->line > 0 && cause->line <= import->template_lines.size) {
        place.line = import->template_lines.at[cause->line - 1];
        const char *colon = strstr(sentence, ": ");
        sentence = colon ? colon + 2 : sentence;
    }
    return status == TRELLIS_MEMORY
               ? tr_fail_memory(import->error)
               : tr_fail_at(import->error, status == TRELLIS_MODEL ? TRELLIS_FORMAT : status, place,
                            "%s", sentence);
}

/* Compiles the templates, once, when they are first needed. */
static trellis_status need_features(struct import *import)
{
    trellis_error cause = {0};
    trellis_status status = TRELLIS_OK;
    if (import->source.failed || import->block.failed) {
        return tr_fail_memory(import->error);
    }
    if (import->features) {
        return TRELLIS_OK;
    }
    if (import->block.size) {
        status = tr_features_read(import->block.data, import->block.size, &import->features,
                                  &cause);
    } else if (import->source.size) {
        status = tr_features_parse((trellis_text){import->source.data, import->source.size},
                                   "imported", &import->features, &cause);
    } else {
        status = tr_features_none(&import->features, &cause);
    }
    return status ? blame_template(import, status, &cause) : TRELLIS_OK;
}

/* A weight for a word: its attribute is what the templates see in a sequence of that word alone. */
static trellis_status take_word(struct import *import)
{
    double weight = 0;
    uint16_t label = 0;
    trellis_text word = {0};
    trellis_status status = field_weight(import, 1, &weight);
    if (!status) {
        status = field_label(import, 2, false, &label);
    }
    if (!status) {
        status = need_features(import);
    }
    if (!status && !import->extractor) {
        status = tr_extractor_create(import->features, true, &import->extractor, import->error);
        trellis_error cause = {0};
        if (!status && tr_extractor_bind(import->extractor, NULL, SIZE_MAX, &cause)) {
            status = REFUSE(import, "%s", cause.message);
        }
    }
    if (!status) {
        status = field_text(import, 3, &word);
    }
    if (status) {
        return status;
    }
    trellis_sequence sequence = {.length = 1, .columns = 1, .cells = &word, .weight = 1};
    const struct tr_observation *seen;
    status = tr_extractor_run(import->extractor, &sequence, &seen, import->error);
    if (status == TRELLIS_MEMORY) {
        return status;
    }
    if (status || seen->node.begin[1] != 1) {
        return REFUSE(import, "'word' lines need templates that see one attribute in a lone word");
    }
    struct tr_buffer text = {0};
    tr_extractor_text(import->extractor, &sequence, false, 0, 0, &text);
    status = text.failed ? tr_fail_memory(import->error)
                         : add_weight(import, &import->node, seen->node.low[0],
                                      (trellis_text){text.data, text.size}, label, weight);
    tr_buffer_free(&text);
    return status;
}

/* Labels that a word may have. */
static trellis_status take_allowed(struct import *import)
{
    for (size_t i = 2; i < import->count; i++) {
        uint16_t label = 0;
        trellis_text word = {0};
        trellis_status status = field_label(import, i, false, &label);
        if (!status) {
            status = field_text(import, 1, &word);
        }
        if (status) {
            return status;
        }
        if (!tr_lexicon_add(&import->lexicon, word, label)) {
            return tr_fail_memory(import->error);
        }
    }
    return TRELLIS_OK;
}

/* A real-valued column of a label. */
static trellis_status take_gaussian(struct import *import)
{
    struct tr_normal_line line = {0};
    uint16_t label = 0;
    trellis_text column = {0};
    trellis_status status = field_label(import, 1, false, &label);
    if (!status) {
        status = field_text(import, 2, &column);
    }
    if (!status && (column.size == 0 || memchr(column.data, ',', column.size))) {
        status = REFUSE(import, "the name of a column is not empty and has no comma");
    }
    if (!status && (!tr_text_real(import->fields[3], &line.mean) || !isfinite(line.mean) ||
                    !tr_text_real(import->fields[4], &line.variance) || !isfinite(line.variance) ||
                    !(line.variance > 0))) {
        status = REFUSE(import,
                        "a finite mean and a variance above 0 are due here, not '%.*s' and "
                        "'%.*s'",
                        TR_SHOW(import->fields[3]), TR_SHOW(import->fields[4]));
    }
    if (status) {
        return status;
    }
    line.label = label;
    line.column = tr_intern_add(&import->normals.columns, column);
    if (line.column >= TR_MOST_REALS && line.column != TR_NONE) {
        return REFUSE(import, "more than %d columns", TR_MOST_REALS);
    }
    return line.column != TR_NONE && tr_push(&import->normals.lines, line)
               ? TRELLIS_OK
               : tr_fail_memory(import->error);
}

/* What both of these say decides which steps there can be. */
static trellis_status check_shape(struct import *import)
{
    return import->grams.size ? REFUSE(import, "this comes before all steps")
           : import->count_cap > 1 && import->order != 1
               ? REFUSE(import, "'count-cap' goes with order 1, not %u", import->order)
               : TRELLIS_OK;
}

static trellis_status take_order(struct import *import)
{
    trellis_status status = field_whole(import, 1, TR_MOST_ORDER, &import->order);
    return status ? status : check_shape(import);
}

static trellis_status take_count_cap(struct import *import)
{
    trellis_status status = field_whole(import, 1, TR_MOST_ORDER, &import->count_cap);
    return status ? status : check_shape(import);
}

static trellis_status take_observed_states(struct import *import)
{
    import->observed_states = true;
    return TRELLIS_OK;
}

static const struct {
    const char *name;
    size_t least, most; // fields, the name included
    trellis_status (*take)(struct import *import);
} items[] = {
    {"note", 3, 3, take_note},
    {"template", 2, 2, take_template},
    {"block", 2, 2, take_block},
    {"label", 2, 2, take_label},
    {"order", 2, 2, take_order},
    {"count-cap", 2, 2, take_count_cap},
    {"observed-states", 1, 1, take_observed_states},
    {"forbid", 3, 3, take_forbidden},
    {"step", 3, MOST_FIELDS - 1, take_step},
    {"node", 5, 5, take_attribute},
    {"edge", 6, 6, take_attribute},
    {"word", 4, 4, take_word},
    {"gaussian", 5, 5, take_gaussian},
    {"allow", 3, MOST_FIELDS - 1, take_allowed},
};

static void split(struct import *import, trellis_text line)
{
    import->count = 0;
    for (;;) {
        const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
        size_t n = tab ? (size_t)(tab - line.data) : line.size;
        if (import->count < MOST_FIELDS) {
            import->fields[import->count++] = (trellis_text){line.data, n};
        }
        if (!tab) {
            return;
        }
        line = (trellis_text){line.data + n + 1, line.size - n - 1};
    }
}

static trellis_status take_line(struct import *import, trellis_text line)
{
    if (line.size == 0 || line.data[0] == '#') {
        return TRELLIS_OK;
    }
    split(import, line);
    for (size_t i = 0; i < TR_COUNT(items); i++) {
        if (tr_text_is(import->fields[0], items[i].name)) {
            if (import->count < items[i].least || import->count > items[i].most) {
                return REFUSE(import, "'%s' has %zu fields, not %zu", items[i].name, items[i].least,
                              import->count);
            }
            return items[i].take(import);
        }
    }
    return REFUSE(import, "'%.*s' is no item of the text form of a model",
                  TR_SHOW(import->fields[0]));
}

static trellis_status take_lines(struct import *import)
{
    trellis_text line;
    trellis_status status = tr_input_line(import->input, &line, import->error);
    if (status == TRELLIS_END || (!status && !tr_text_is(line, TR_TEXT_FORM "\t1") &&
                                  !tr_text_is(line, TR_TEXT_FORM " 1"))) {
        return REFUSE(import, "a model in text form begins with '%s %d'", TR_TEXT_FORM,
                      TR_TEXT_VERSION);
    }
    while (!status && !(status = tr_input_line(import->input, &line, import->error))) {
        status = take_line(import, line);
    }
    return status == TRELLIS_END ? need_features(import) : status;
}

static int by_attribute(const void *a, const void *b)
{
    const struct loose_weight *x = a, *y = b;
    return x->attribute != y->attribute
               ? (x->attribute > y->attribute) - (x->attribute < y->attribute)
               : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

/* Lays out the rows of a part and fills in its weights. */
static trellis_status settle(struct import *import, struct loose_part *part, uint32_t outcomes)
{
    size_t count = part->weights.size;
    uint32_t attributes = (uint32_t)part->dictionary.entries.size;
    uint64_t *begin = tr_alloc((size_t)attributes + 1, sizeof *begin);
    uint32_t *outcome = tr_alloc(count, sizeof *outcome);
    if (!begin || !outcome) {
        free(begin);
        free(outcome);
        return tr_fail_memory(import->error);
    }
    struct loose_weight *weights = part->weights.at;
    if (count) {
        qsort(weights, count, sizeof *weights, by_attribute);
    }
    uint64_t pairs = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_attribute(&weights[i - 1], &weights[i]) == 0) {
            trellis_text text = tr_dictionary_text(&part->dictionary, weights[i].attribute);
            struct tr_place place = tr_input_place(import->input);
            uint32_t line = weights[i].line, other = weights[i - 1].line;
            place.line = line > other ? line : other;
            free(begin);
            free(outcome);
            return tr_fail_at(import->error, TRELLIS_FORMAT, place,
                              "'%.*s' has two weights for one label", TR_SHOW(text));
        }
        outcome[pairs++] = weights[i].outcome;
        begin[weights[i].attribute + 1] = pairs;
    }
    trellis_status status = tr_rows_create(outcomes, attributes, 0, begin, outcome, &part->rows,
                                           import->error);
    if (status) {
        return status;
    }
    part->values = tr_alloc(part->rows->size, sizeof *part->values);
    part->low = tr_alloc(part->rows->size, sizeof *part->low);
    if (!part->values || !part->low) {
        return tr_fail_memory(import->error);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = tr_rows_find(part->rows, weights[i].attribute, weights[i].outcome);
        part->values[at] = (float)weights[i].weight;
        part->low[at] = left_over(weights[i].weight);
    }
    return TRELLIS_OK;
}

/* Those of an HMM are logarithms of probabilities, whose every digit counts. */
static bool has_exact_weights(const struct import *import)
{
    static const char note[] = "type\0hmm";
    const struct tr_buffer *notes = &import->notes;
    return import->step_low.size && notes->size &&
           memmem(notes->data, notes->size, note, sizeof note);
}

static trellis_status build(struct import *import, trellis_model **ret_model)
{
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    if (labels == 0) {
        return tr_fail_at(import->error, TRELLIS_FORMAT, tr_input_place(import->input),
                          "the model has no labels");
    }
    struct tr_graph_plan plan = {.labels = labels,
                                 .order = import->order,
                                 .count_cap = import->count_cap,
                                 .observed_states = import->observed_states,
                                 .grams = import->grams.at,
                                 .gram_count = import->grams.size,
                                 .forbidden = (const uint16_t(*)[2])import->forbidden.at,
                                 .forbidden_count = import->forbidden.size / 2};
    trellis_status status = settle(import, &import->node, labels);
    if (!status) {
        status = settle(import, &import->edge, (labels - 1) * tr_row_width(labels) + labels);
    }
    struct tr_gaussian gaussian = {0};
    trellis_error cause;
    if (!status &&
        (status = tr_normal_lines_make(&import->normals, &import->labels, &gaussian, &cause))) {
        status = tr_fail_at(import->error, status, tr_input_place(import->input), "%s",
                            cause.message);
    }
    if (!status && import->lexicon.pairs.size) {
        status = tr_lexicon_write(&import->lexicon, &import->lexicon_block, import->error);
    }
    if (status || import->notes.failed) {
        return status ? status : tr_fail_memory(import->error);
    }
    struct tr_model_parts parts = {
        .labels = &import->labels,
        .plan = &plan,
        .step_weights = import->step_weights.at,
        .step_low = has_exact_weights(import) ? import->step_low.at : NULL,
        .features = import->features,
        .node = {&import->node.dictionary, import->node.rows, import->node.values,
                 import->node.low},
        .edge = {&import->edge.dictionary, import->edge.rows, import->edge.values, NULL},
        .gaussian = &gaussian,
        .notes = &import->notes,
        .lexicon = &import->lexicon_block};
    return tr_model_build(&parts, ret_model, import->error);
}

static void part_free(struct loose_part *part)
{
    tr_dictionary_free(&part->dictionary);
    tr_rows_destroy(part->rows);
    free(part->weights.at);
    free(part->values);
    free(part->low);
}

trellis_status trellis_model_import(const char *path, trellis_model **ret_model,
                                    trellis_error *error)
{
    *ret_model = NULL;
    struct import import = {.error = error, .order = 1};
    trellis_status status = tr_input_open(path, &import.input, error);
    if (!status) {
        status = take_lines(&import);
    }
    if (!status) {
        status = build(&import, ret_model);
    }
    tr_extractor_destroy(import.extractor);
    trellis_features_destroy(import.features);
    tr_buffer_free(&import.scratch);
    tr_buffer_free(&import.notes);
    tr_buffer_free(&import.source);
    tr_buffer_free(&import.block);
    tr_intern_free(&import.labels);
    tr_intern_free(&import.gram_texts);
    free(import.template_lines.at);
    free(import.grams.at);
    free(import.step_weights.at);
    free(import.step_low.at);
    free(import.forbidden.at);
    tr_normal_lines_free(&import.normals);
    tr_lexicon_draft_free(&import.lexicon);
    tr_buffer_free(&import.lexicon_block);
    part_free(&import.node);
    part_free(&import.edge);
    tr_input_close(import.input);
    return status;
}
