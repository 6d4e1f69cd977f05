/* foreign_crfpp.c - reads the models of CRF++, binary and as text (crf_learn -t).
 *
 * Binary, little-endian, in the order of the file:
 *
 *     u32 version 100, i32 type 0, f64 cost factor (not used), u32 weights W, u32 columns, u32 size of
 *     the double array; u32 size of the labels, labels; u32 size of the templates, templates: texts
 *     that a zero byte ends, and zero bytes up to a multiple of 4; double array; W f32 weights
 *
 * The double array is a trie of strings: units of i32 base, u32 check. From a state with base b,
 * byte c leads to unit p = b + c + 1 if check[p] = b; its base is that of the next state. Where
 * check[b] = b and base[b] < 0 a string ends, and its first weight is number -base[b] - 1.
 *
 * As text: "version: 100", "cost-factor: ", "maxid: W", "xsize: columns", and separated by empty
 * lines labels, templates, lines "NUMBER STRING", and weights, one a line.
 *
 * A string that begins with U has a weight for each label, any other for each pair of labels.
 */
#include "model/foreign_strings.h"

#include <endian.h>

enum { HEADER = 28, VERSION = 100, UNIT = 8 };

/* A string of the trie and where its weights begin. */
struct crfpp_string {
    size_t text; // offset in `texts`
    size_t size;
    uint32_t weight;
};

struct crfpp_file {
    trellis_text bytes;
    struct tr_string_model model;
    uint32_t weight_count;
    struct tr_buffer texts;
    TR_ARRAY(struct crfpp_string) entries;
    const unsigned char *units; // [unit_count]
    size_t unit_count;
    const unsigned char *weights; // [weight_count] f32 of a binary file
    TR_ARRAY(float) read_weights; // of a text
};

static const char truncated[] = "it is truncated or not laid out as CRF++ writes it";

/* ---- what both have in common ---------------------------------------------------------------- */

static int by_weight(const void *a, const void *b)
{
    const struct crfpp_string *x = a, *y = b;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static double weight_at(const struct crfpp_file *file, uint64_t number)
{
    float weight;
    if (!file->weights) {
        return (double)file->read_weights.at[number];
    }
    uint32_t bits;
    memcpy(&bits, file->weights + 4 * number, sizeof bits);
    bits = le32toh(bits);
    memcpy(&weight, &bits, sizeof weight);
    return (double)weight;
}

static trellis_status take_entry(struct crfpp_file *file, const struct crfpp_string *entry,
                                 uint64_t end)
{
    struct tr_string_model *model = &file->model;
    uint64_t labels = tr_intern_count(&model->labels);
    trellis_text text = entry->size ? (trellis_text){file->texts.data + entry->text, entry->size}
                                    : (trellis_text){"", 0};
    bool edge = text.size == 0 || text.data[0] != 'U';
    uint64_t count = edge ? labels * labels : labels;
    if (entry->weight > end || count > end - entry->weight) {
        return tr_string_damaged(model, "the weights of a string do not fit");
    }
    trellis_status status = tr_string_begin(model, edge, text);
    for (uint64_t i = 0; !status && i < count; i++) {
        double weight = weight_at(file, entry->weight + i);
        if (weight != 0) {
            status = tr_string_weight(model, edge, i, weight);
        }
    }
    return status;
}

/* Strings by their weights, which must not overlap. */
static trellis_status take_entries(struct crfpp_file *file)
{
    trellis_status status = file->texts.failed ? tr_fail_memory(file->model.error) : TRELLIS_OK;
    size_t count = file->entries.size;
    if (count) {
        qsort(file->entries.at, count, sizeof *file->entries.at, by_weight);
    }
    for (size_t i = 0; !status && i < count; i++) {
        uint64_t end = file->weight_count;
        if (i + 1 < count && file->entries.at[i + 1].weight < end) {
            end = file->entries.at[i + 1].weight;
        }
        status = take_entry(file, &file->entries.at[i], end);
    }
    return status;
}

/* ---- binary ---------------------------------------------------------------------------------- */

static int32_t base_at(const struct crfpp_file *file, size_t unit)
{
    uint32_t base;
    memcpy(&base, file->units + UNIT * unit, sizeof base);
    return (int32_t)le32toh(base);
}

static uint32_t check_at(const struct crfpp_file *file, size_t unit)
{
    uint32_t check;
    memcpy(&check, file->units + UNIT * unit + 4, sizeof check);
    return le32toh(check);
}

/* The units of a state, as lists by ascending unit: from a state with base b, those with check b
 * among b, b + 1, ..., b + 256. 0, the root, is in no list. */
struct trie {
    uint32_t *first; // [unit_count] by base; 0 where there are none
    uint32_t *next;  // [unit_count] 0 behind the last
};

#define WALKED UINT32_MAX // first of a state that was visited

static bool list_units(const struct crfpp_file *file, struct trie *trie)
{
    size_t count = file->unit_count;
    trie->first = tr_alloc(count, sizeof *trie->first);
    trie->next = tr_alloc(count, sizeof *trie->next);
    for (size_t unit = count; trie->first && trie->next && unit-- > 1;) {
        uint32_t base = check_at(file, unit);
        if (unit >= base && unit - base <= 256) {
            trie->next[unit] = trie->first[base];
            trie->first[base] = (uint32_t)unit;
        }
    }
    return trie->first && trie->next;
}

/* The first unit of a state with this base. False if the state was visited before: the array then
 * has a cycle or a join. */
static bool enter_state(const struct crfpp_file *file, struct trie *trie, int32_t base,
                        uint32_t *ret_unit)
{
    *ret_unit = 0;
    if (base < 0 || (size_t)base >= file->unit_count) {
        return base >= 0; // a dead state
    }
    *ret_unit = trie->first[base];
    if (*ret_unit) {
        trie->first[base] = WALKED;
    }
    return *ret_unit != WALKED;
}

static bool take_end(struct crfpp_file *file, const struct tr_buffer *text, int32_t base)
{
    struct crfpp_string entry = {file->texts.size, text->size, (uint32_t)(-(int64_t)base - 1)};
    tr_buffer_add(&file->texts, text->data, text->size);
    return tr_push(&file->entries, entry);
}

/* All strings of the double array, by a depth-first walk; path[i] is the next unit to try with the
 * i-th byte. The texts of a sound array are not much longer than the array itself. */
static trellis_status walk_units(struct crfpp_file *file)
{
    TR_ARRAY(uint32_t) path = {0};
    struct tr_buffer text = {0};
    struct trie trie = {0};
    const size_t max_text = 16 * file->bytes.size;
    uint32_t unit = 0;
    bool ok = list_units(file, &trie);
    bool sound = ok && file->unit_count && enter_state(file, &trie, base_at(file, 0), &unit);
    ok = ok && tr_push(&path, unit);
    while (ok && sound && path.size) {
        unit = path.at[path.size - 1];
        if (unit == 0) {
            path.size--;
            text.size -= text.size > 0;
            continue;
        }
        path.at[path.size - 1] = trie.next[unit];
        uint32_t check = check_at(file, unit);
        int32_t base = base_at(file, unit);
        if (unit == check) {
            ok = base >= 0 || take_end(file, &text, base);
            sound = file->texts.size <= max_text;
            continue;
        }
        tr_buffer_char(&text, (char)(unit - check - 1));
        sound = enter_state(file, &trie, base, &unit);
        ok = !text.failed && tr_push(&path, unit);
    }
    free(path.at);
    free(trie.first);
    free(trie.next);
    tr_buffer_free(&text);
    return !ok      ? tr_fail_memory(file->model.error)
           : !sound ? tr_string_damaged(&file->model, "its double array is not a tree of strings")
                    : TRELLIS_OK;
}

/* Texts that a zero byte ends; empty ones fill up the templates. */
static trellis_status take_texts(struct crfpp_file *file, trellis_text texts, bool labels)
{
    trellis_status status = TRELLIS_OK;
    while (!status && texts.size) {
        const char *end = memchr(texts.data, 0, texts.size);
        if (!end) {
            return tr_string_damaged(&file->model, truncated);
        }
        trellis_text text = {texts.data, (size_t)(end - texts.data)};
        if (labels) {
            status = tr_string_add_label(&file->model, text);
        } else if (text.size) {
            status = tr_string_add_template(&file->model, text);
        }
        texts.data += text.size + 1;
        texts.size -= text.size + 1;
    }
    return status;
}

static trellis_status read_binary(struct crfpp_file *file)
{
    struct tr_cursor cursor = tr_cursor(file->bytes);
    tr_cursor_bytes(&cursor, 16); // version, type and cost factor
    file->weight_count = tr_foreign_u32(&cursor);
    tr_foreign_u32(&cursor); // the columns that templates use
    uint32_t array_size = tr_foreign_u32(&cursor);
    uint32_t labels_size = tr_foreign_u32(&cursor);
    const char *labels = tr_cursor_bytes(&cursor, labels_size);
    uint32_t templates_size = tr_foreign_u32(&cursor);
    const char *templates = tr_cursor_bytes(&cursor, templates_size);
    file->unit_count = array_size / UNIT;
    file->units = tr_cursor_bytes(&cursor, array_size);
    file->weights = tr_cursor_bytes(&cursor, (size_t)file->weight_count * 4);
    if (cursor.failed || cursor.at != cursor.end || array_size % UNIT) {
        return tr_string_damaged(&file->model, truncated);
    }
    trellis_status status = take_texts(file, (trellis_text){labels, labels_size}, true);
    if (!status) {
        status = take_texts(file, (trellis_text){templates, templates_size}, false);
    }
    return status ? status : walk_units(file);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The next line without its end; false behind the last, and where it has none. */
static bool next_line(trellis_text *left, trellis_text *ret_line)
{
    const char *end = left->size ? memchr(left->data, '\n', left->size) : NULL;
    if (!end) {
        return false;
    }
    *ret_line = (trellis_text){left->data, (size_t)(end - left->data)};
    left->data += ret_line->size + 1;
    left->size -= ret_line->size + 1;
    return true;
}

static bool take_field(trellis_text *left, const char *name, uint32_t *ret_number)
{
    trellis_text line;
    int64_t number = 0;
    size_t size = strlen(name);
    if (!next_line(left, &line) || !tr_text_begins(line, name) ||
        !tr_text_integer((trellis_text){line.data + size, line.size - size}, &number) ||
        number < 0 || number > UINT32_MAX) {
        return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

/* NUMBER STRING; the string may have blanks of its own. */
static trellis_status take_string_line(struct crfpp_file *file, trellis_text line)
{
    const char *blank = memchr(line.data, ' ', line.size);
    size_t size = blank ? (size_t)(blank - line.data) : 0;
    int64_t number = 0;
    if (!blank || !tr_text_integer((trellis_text){line.data, size}, &number) || number < 0 ||
        number > UINT32_MAX) {
        return tr_string_damaged(&file->model,
                                 "a line of its strings does not begin with a number");
    }
    struct crfpp_string entry = {file->texts.size, line.size - size - 1, (uint32_t)number};
    tr_buffer_add(&file->texts, blank + 1, entry.size);
    return tr_push(&file->entries, entry) ? TRELLIS_OK : tr_fail_memory(file->model.error);
}

/* CRF++ converts such a file to single precision. */
static trellis_status take_weight_line(struct crfpp_file *file, trellis_text line)
{
    double weight;
    if (!tr_text_real(line, &weight)) {
        return tr_string_damaged(&file->model, "a weight is not a number");
    }
    return tr_push(&file->read_weights, (float)weight) ? TRELLIS_OK
                                                       : tr_fail_memory(file->model.error);
}

static trellis_status read_text(struct crfpp_file *file)
{
    enum { LABELS, TEMPLATES, STRINGS, WEIGHTS } part = LABELS;
    trellis_text left = file->bytes, line;
    uint32_t version, columns;
    if (!take_field(&left, "version: ", &version) || !next_line(&left, &line) ||
        !tr_text_begins(line, "cost-factor: ") ||
        !take_field(&left, "maxid: ", &file->weight_count) ||
        !take_field(&left, "xsize: ", &columns) || !next_line(&left, &line) || line.size) {
        return tr_string_damaged(&file->model, truncated);
    }
    trellis_status status = TRELLIS_OK;
    while (!status && next_line(&left, &line)) {
        if (line.size == 0 && part < WEIGHTS) {
            part++;
            continue;
        }
        status = part == LABELS      ? tr_string_add_label(&file->model, line)
                 : part == TEMPLATES ? tr_string_add_template(&file->model, line)
                 : part == STRINGS   ? take_string_line(file, line)
                                     : take_weight_line(file, line);
    }
    if (!status && (part < WEIGHTS || left.size || file->read_weights.size != file->weight_count)) {
        status = tr_string_damaged(&file->model, truncated);
    }
    return status;
}

/* ---- the format ------------------------------------------------------------------------------ */

static bool is_text(trellis_text bytes)
{
    return tr_text_begins(bytes, "version: 100\n");
}

static bool is_binary(trellis_text bytes)
{
    static const unsigned char begin[8] = {VERSION};
    return bytes.size >= HEADER && memcmp(bytes.data, begin, sizeof begin) == 0;
}

static trellis_status read_model(trellis_text bytes, const char *path, trellis_model **ret_model,
                                 trellis_error *error)
{
    *ret_model = NULL;
    struct crfpp_file file = {.bytes = bytes,
                              .model = {.format = &tr_foreign_crfpp, .path = path, .error = error}};
    tr_buffer_string(&file.model.source, TR_STRINGS_CRFPP "\n");
    trellis_status status = is_text(bytes) ? read_text(&file) : read_binary(&file);
    if (!status) {
        status = take_entries(&file);
    }
    if (!status) {
        status = tr_string_build(&file.model, ret_model);
    }
    tr_string_free(&file.model);
    tr_buffer_free(&file.texts);
    free(file.entries.at);
    free(file.read_weights.at);
    return status;
}

static bool recognises(trellis_text bytes)
{
    return is_text(bytes) || is_binary(bytes);
}

const struct tr_foreign_format tr_foreign_crfpp = {"CRF++", recognises, read_model};
