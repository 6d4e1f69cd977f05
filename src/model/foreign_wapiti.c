/* foreign_wapiti.c - reads the models of Wapiti.
 *
 * Text, in the order of the file; NS is a netstring "LENGTH:BYTES," with a newline:
 *
 *     #mdl#TYPE#N           0 maxent, 1 memm, 2 crf; N weights; up to 1.3 #mdl#N, read as type 0
 *     #rdr#P/COLUMN/ALONE   P patterns; the highest column; tokens are features of their own; up to
 *                           1.2
 *                           without the last
 *     P x NS                patterns
 *     #qrk#L, L x NS        labels
 *     #qrk#O, O x NS        observations: the strings that patterns made
 *     N x INDEX=WEIGHT      weights other than 0, by ascending index
 *
 * An observation that begins with u has L indices, with b L^2, with * L and then L^2, in the order
 * of the observations. Types 0 and 2 are decoded alike.
 */
#include "model/foreign_strings.h"

#include <math.h>

struct wapiti_file {
    const char *at, *end;
    struct tr_string_model model;
    uint64_t weights; // that the header announces
    uint64_t index;   // of the weight read last, its
    double weight;    // and whether there is one that has not been used
    bool pending;
};

static const char truncated[] = "it is truncated or not laid out as Wapiti writes it";

static bool take(struct wapiti_file *file, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(file->end - file->at) < size || memcmp(file->at, text, size) != 0) {
        return false;
    }
    file->at += size;
    return true;
}

static bool take_number(struct wapiti_file *file, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *begin = file->at;
    while (file->at < file->end && *file->at >= '0' && *file->at <= '9' &&
           number < UINT64_MAX / 16) {
        number = 10 * number + (uint64_t)(*file->at++ - '0');
    }
    *ret_number = number;
    return file->at > begin;
}

static bool take_string(struct wapiti_file *file, trellis_text *ret_text)
{
    uint64_t size;
    if (!take_number(file, &size) || !take(file, ":") || size >= (size_t)(file->end - file->at)) {
        return false;
    }
    *ret_text = (trellis_text){file->at, (size_t)size};
    file->at += size;
    return take(file, ",\n") && size > 0 && !memchr(ret_text->data, 0, ret_text->size);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* One more than the value of a hexadecimal digit, 0 for any other character. A table, since which
 * of the digits comes next cannot be predicted. */
static const unsigned char digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Appends hexadecimal digits to a number; the place behind them. The last that fit into 64 bits
 * end it. */
static size_t take_digits(trellis_text text, size_t at, uint64_t *number)
{
    unsigned value;
    while (at < text.size && *number >> 60 == 0 &&
           (value = digit_values[(unsigned char)text.data[at]]) != 0) {
        *number = 16 * *number + value - 1;
        at++;
    }
    return at;
}

/* [-]0xH.HHHp[+-]D: what printf's %a writes; false for anything else or for more than 64 bits. */
static bool parse_hex_real(trellis_text text, double *ret_value)
{
    bool negative = text.size && text.data[0] == '-';
    size_t first = negative ? 3 : 2;
    if (text.size < first + 1 || text.data[first - 2] != '0' ||
        (text.data[first - 1] | 0x20) != 'x') {
        return false;
    }
    uint64_t digits = 0;
    size_t at = take_digits(text, first, &digits), count = at - first, places = 0;
    if (at < text.size && text.data[at] == '.') {
        size_t point = at;
        at = take_digits(text, at + 1, &digits);
        places = at - point - 1;
    }
    if (count + places == 0 || at >= text.size || (text.data[at] | 0x20) != 'p') {
        return false;
    }
    int64_t power = 0;
    if (!tr_text_integer((trellis_text){text.data + at + 1, text.size - at - 1}, &power) ||
        power < -5000 || power > 5000 || places > 5000) {
        return false;
    }
    double value = ldexp((double)digits, (int)power - 4 * (int)places);
    *ret_value = negative ? -value : value;
    return true;
}

/* The next line INDEX=WEIGHT becomes the pending one. */
static trellis_status next_weight(struct wapiti_file *file)
{
    uint64_t before = file->index, index;
    file->pending = false;
    if (file->weights == 0) {
        return TRELLIS_OK;
    }
    if (!take_number(file, &index) || !take(file, "=")) {
        return tr_string_damaged(&file->model, truncated);
    }
    const char *end = memchr(file->at, '\n', (size_t)(file->end - file->at));
    if (!end) {
        return tr_string_damaged(&file->model, truncated);
    }
    trellis_text text = {file->at, (size_t)(end - file->at)};
    if (!parse_hex_real(text, &file->weight) && !tr_text_real(text, &file->weight)) {
        return tr_string_damaged(&file->model, "a weight is not a number");
    }
    if (index <= before && before != UINT64_MAX) {
        return tr_string_damaged(&file->model, "its weights are not in ascending order");
    }
    file->at = end + 1;
    file->index = index;
    file->weights--;
    file->pending = true;
    return TRELLIS_OK;
}

/* The weights of one observation for labels or for pairs, whose indices begin at `first`. */
static trellis_status take_weights(struct wapiti_file *file, bool edge, trellis_text text,
                                   uint64_t first, uint64_t count)
{
    trellis_status status = tr_string_begin(&file->model, edge, text);
    while (!status && file->pending && file->index - first < count) {
        status = tr_string_weight(&file->model, edge, file->index - first, file->weight);
        if (!status) {
            status = next_weight(file);
        }
    }
    return status;
}

/* Observations and weights side by side; both are in the order of the indices. */
static trellis_status take_observations(struct wapiti_file *file, uint64_t count,
                                        const char *observations)
{
    uint64_t labels = tr_intern_count(&file->model.labels), first = 0;
    struct wapiti_file strings = {.at = observations, .end = file->end};
    file->index = UINT64_MAX;
    trellis_status status = next_weight(file);
    for (uint64_t i = 0; !status && i < count; i++) {
        trellis_text text = {0};
        if (!take_string(&strings, &text) || !strchr("ub*", text.data[0])) {
            return tr_string_damaged(&file->model, "an observation does not begin with u, b or *");
        }
        if (text.data[0] != 'b') {
            status = take_weights(file, false, text, first, labels);
            first += labels;
        }
        if (!status && text.data[0] != 'u') {
            status = take_weights(file, true, text, first, labels * labels);
            first += labels * labels;
        }
    }
    if (!status && (file->pending || file->at < file->end)) {
        return tr_string_damaged(&file->model, file->pending ? "a weight has no observation"
                                                             : "something follows its weights");
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Both headers, old and new, and the patterns. */
static trellis_status take_head(struct wapiti_file *file)
{
    uint64_t type = 0, patterns = 0, column = 0, alone = 0;
    struct tr_string_model *model = &file->model;
    bool fits = take(file, "#mdl#") && take_number(file, &file->weights);
    if (fits && take(file, "#")) {
        type = file->weights;
        fits = take_number(file, &file->weights);
    }
    fits = fits && take(file, "\n#rdr#") && take_number(file, &patterns) && take(file, "/") &&
           take_number(file, &column);
    if (fits && take(file, "/")) {
        fits = take_number(file, &alone);
    }
    if (!fits || !take(file, "\n")) {
        return tr_string_damaged(model, truncated);
    }
    if (type > 2) {
        return tr_string_damaged(model, "its type is not maxent, memm or crf");
    }
    if (patterns && alone) {
        return tr_string_damaged(model, "it has patterns, and features of its own");
    }
    model->local = type == 1;
    model->cells = patterns == 0;
    tr_buffer_string(&model->source, TR_STRINGS_WAPITI "\n");
    if (model->cells) {
        tr_buffer_string(&model->source,
                         alone ? TR_STRINGS_NODE_CELLS "\n" : TR_STRINGS_CELLS "\n");
    }
    trellis_status status = TRELLIS_OK;
    for (uint64_t i = 0; !status && i < patterns; i++) {
        trellis_text text = {0};
        status = take_string(file, &text) ? tr_string_add_template(model, text)
                                          : tr_string_damaged(model, truncated);
    }
    return status;
}

static trellis_status read_file(struct wapiti_file *file, trellis_model **ret_model)
{
    struct tr_string_model *model = &file->model;
    trellis_text text = {0};
    uint64_t labels = 0, count = 0;
    trellis_status status = take_head(file);
    if (!status && (!take(file, "#qrk#") || !take_number(file, &labels) || !take(file, "\n"))) {
        status = tr_string_damaged(model, truncated);
    }
    for (uint64_t i = 0; !status && i < labels; i++) {
        status = take_string(file, &text) ? tr_string_add_label(model, text)
                                          : tr_string_damaged(model, truncated);
    }
    if (!status && (!take(file, "#qrk#") || !take_number(file, &count) || !take(file, "\n"))) {
        status = tr_string_damaged(model, truncated);
    }
    const char *observations = file->at;
    for (uint64_t i = 0; !status && i < count; i++) {
        status = take_string(file, &text) ? TRELLIS_OK : tr_string_damaged(model, truncated);
    }
    if (!status) {
        status = take_observations(file, count, observations);
    }
    return status ? status : tr_string_build(model, ret_model);
}

static trellis_status read_model(trellis_text bytes, const char *path, trellis_model **ret_model,
                                 trellis_error *error)
{
    *ret_model = NULL;
    struct wapiti_file file = {
        .at = bytes.data,
        .end = bytes.data + bytes.size,
        .model = {.format = &tr_foreign_wapiti, .path = path, .error = error}};
    trellis_status status = read_file(&file, ret_model);
    tr_string_free(&file.model);
    return status;
}

static bool recognises(trellis_text bytes)
{
    return tr_text_begins(bytes, "#mdl#");
}

const struct tr_foreign_format tr_foreign_wapiti = {"Wapiti", recognises, read_model};
