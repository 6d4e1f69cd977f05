/* foreign_crfsuite.c - reads the models of CRFsuite (lCRF).
 *
 * Little-endian, in the order of the file:
 *
 *     header   "lCRF", u32 file size, "FOMC", u32 version 100, u32 0, u32 labels L, u32 attributes
 *              A,
 *              u32 offsets of FEAT, of the names of labels and of attributes, of LFRF and of AFRF
 *     FEAT     "FEAT", u32 size, u32 count, features: u32 type (0 state, 1 transition), u32 source
 *              (attribute or label), u32 label, f64 weight
 *     CQDB     names and their numbers, twice; of its hash tables only the array from number to
 *              name
 *              is read here, and foreign_crfsuite_write.c has the rest
 *     LFRF     "LFRF", u32 size, u32 L + 2, u32 offsets: of each label's u32 n and n feature
 *              numbers
 *     AFRF     the same for attributes
 *
 * A score is the sum of the weights of the features that a label or an attribute refers to; a
 * missing transition counts 0, and neither the start nor the end of a sequence has weights.
 */
#include <math.h>

#include "model/foreign.h"

enum { HEADER = 48, CHUNK = 12, FEATURE = 20, CQDB_HEADER = 24, VERSION = 100 };
enum { STATE = 0, TRANSITION = 1 };
#define CQDB_ORDER 0x62445371u

/* A feature as a list refers to it. */
struct feature {
    uint32_t label;
    float weight;
};

struct lcrf {
    trellis_text bytes;
    const char *path;
    trellis_error *error;
    uint32_t label_count, attribute_count;
    uint32_t features_at, labels_at, attributes_at, label_lists_at, attribute_lists_at;
    uint32_t feature_count;
    uint32_t used; // features that lists have referred to: each is used once
    struct tr_intern labels;
    struct tr_attribute_index attributes;
    TR_ARRAY(struct feature) list; // of one label or attribute
    TR_ARRAY(struct tr_gram) grams;
    TR_ARRAY(float) step_weights;
    uint64_t *begin;            // [attribute_count + 1] into outcome
    TR_ARRAY(uint32_t) outcome; // the labels of each attribute
    TR_ARRAY(float) weights;    // [outcome]
};

static trellis_status damaged(const struct lcrf *file, const char *what)
{
    return tr_foreign_damaged(&tr_foreign_crfsuite, file->path, what, file->error);
}

/* The bytes from an offset on; none where it is outside the file. */
static struct tr_cursor cursor_at(const struct lcrf *file, uint64_t offset)
{
    size_t size = file->bytes.size;
    size_t at = offset < size ? (size_t)offset : size;
    return tr_cursor((trellis_text){file->bytes.data + at, size - at});
}

static bool take_tag(struct tr_cursor *cursor, const char tag[4])
{
    const void *bytes = tr_cursor_bytes(cursor, 4);
    return bytes && memcmp(bytes, tag, 4) == 0;
}

static size_t left(const struct tr_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static trellis_status read_header(struct lcrf *file)
{
    struct tr_cursor cursor = cursor_at(file, 0);
    bool ours = take_tag(&cursor, "lCRF");
    uint32_t size = tr_foreign_u32(&cursor);
    ours = take_tag(&cursor, "FOMC") && ours;
    uint32_t version = tr_foreign_u32(&cursor);
    tr_foreign_u32(&cursor); // the number of features, always written as 0
    file->label_count = tr_foreign_u32(&cursor);
    file->attribute_count = tr_foreign_u32(&cursor);
    file->features_at = tr_foreign_u32(&cursor);
    file->labels_at = tr_foreign_u32(&cursor);
    file->attributes_at = tr_foreign_u32(&cursor);
    file->label_lists_at = tr_foreign_u32(&cursor);
    file->attribute_lists_at = tr_foreign_u32(&cursor);
    if (cursor.failed || size > file->bytes.size) {
        return damaged(file, "it is truncated");
    }
    if (size != file->bytes.size) {
        return damaged(file, "its size is not that in its header");
    }
    if (!ours || version != VERSION) {
        return damaged(file, "it is not a first-order model of version 100");
    }
    if (file->label_count == 0) {
        return damaged(file, "it has no labels");
    }
    if (file->label_count > TR_MAX_LABELS) {
        return tr_fail(file->error, TRELLIS_MODEL, "%s: %u labels are more than the %d allowed",
                       file->path ? file->path : "model", file->label_count, TR_MAX_LABELS);
    }
    cursor = cursor_at(file, file->features_at);
    bool fits = take_tag(&cursor, "FEAT");
    tr_foreign_u32(&cursor);
    file->feature_count = tr_foreign_u32(&cursor);
    fits = fits && !cursor.failed && file->feature_count <= left(&cursor) / FEATURE;
    return fits ? TRELLIS_OK : damaged(file, "its features do not fit");
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Takes the name with the next number. */
typedef trellis_status (*take_name)(struct lcrf *file, uint32_t number, trellis_text name);

/* The names of a CQDB in the order of their numbers, of which there must be `count`. */
static trellis_status read_names(struct lcrf *file, uint32_t at, uint32_t count, take_name take)
{
    struct tr_cursor cursor = cursor_at(file, at);
    bool fits = take_tag(&cursor, "CQDB");
    uint32_t size = tr_foreign_u32(&cursor);
    tr_foreign_u32(&cursor); // flags: names and numbers are looked up in both directions
    fits = fits && tr_foreign_u32(&cursor) == CQDB_ORDER && tr_foreign_u32(&cursor) == count;
    uint32_t numbers_at = tr_foreign_u32(&cursor);
    fits = fits && !cursor.failed && size <= CQDB_HEADER + left(&cursor) && numbers_at <= size &&
           count <= (size - numbers_at) / sizeof(uint32_t);
    cursor = cursor_at(file, (uint64_t)at + numbers_at);
    trellis_status status = TRELLIS_OK;
    for (uint32_t i = 0; fits && !status && i < count; i++) {
        struct tr_cursor record = cursor_at(file, (uint64_t)at + tr_foreign_u32(&cursor));
        uint32_t number = tr_foreign_u32(&record), length = tr_foreign_u32(&record);
        const char *name = tr_cursor_bytes(&record, length);
        fits = !cursor.failed && name && number == i && length > 0 &&
               memchr(name, 0, length) == name + length - 1;
        if (fits) {
            status = take(file, i, (trellis_text){name, length - 1});
        }
    }
    return fits ? status : damaged(file, "a name does not fit");
}

static trellis_status take_label(struct lcrf *file, uint32_t number, trellis_text name)
{
    uint32_t found = tr_intern_add(&file->labels, name);
    return found == TR_NONE  ? tr_fail_memory(file->error)
           : found == number ? TRELLIS_OK
                             : damaged(file, "two labels have the same name");
}

static trellis_status take_attribute(struct lcrf *file, uint32_t number, trellis_text name)
{
    bool is_new, clash = false;
    uint32_t found = tr_attribute_index_add(&file->attributes, tr_hash(name), &is_new, &clash);
    if (found == TR_NONE) {
        return tr_fail_memory(file->error);
    }
    if (!is_new) {
        return damaged(file, "two attributes have the same name");
    }
    return tr_attribute_index_name(&file->attributes, number, name) ? TRELLIS_OK
                                                                    : tr_fail_memory(file->error);
}

/* ---- features -------------------------------------------------------------------------------- */

/* The feature with a number; false where it is not one of the given source. */
static bool read_feature(const struct lcrf *file, uint32_t number, uint32_t type, uint32_t source,
                         struct feature *feature, double *weight)
{
    if (number >= file->feature_count) {
        return false;
    }
    struct tr_cursor cursor = cursor_at(file, (uint64_t)file->features_at + CHUNK +
                                                  (uint64_t)number * FEATURE);
    bool fits = tr_foreign_u32(&cursor) == type && tr_foreign_u32(&cursor) == source;
    feature->label = tr_foreign_u32(&cursor);
    uint64_t bits = tr_foreign_u64(&cursor);
    memcpy(weight, &bits, sizeof bits);
    feature->weight = (float)*weight;
    return fits && !cursor.failed && feature->label < file->label_count;
}

static int by_label(const void *a, const void *b)
{
    const struct feature *x = a, *y = b;
    return (x->label > y->label) - (x->label < y->label);
}

/* CRFsuite writes lists in the order of their labels. */
static trellis_status sort_list(struct lcrf *file)
{
    bool sorted = true;
    for (size_t i = 1; i < file->list.size; i++) {
        sorted = sorted && file->list.at[i - 1].label < file->list.at[i].label;
    }
    if (sorted) {
        return TRELLIS_OK;
    }
    qsort(file->list.at, file->list.size, sizeof *file->list.at, by_label);
    for (size_t i = 1; i < file->list.size; i++) {
        if (file->list.at[i - 1].label == file->list.at[i].label) {
            return damaged(file, "a feature has two weights");
        }
    }
    return TRELLIS_OK;
}

/* The list of a label (TRANSITION) or an attribute (STATE) at an offset. All lists together have at
 * most as many entries as there are features, so that lists which overlap cost nothing. */
static trellis_status read_list(struct lcrf *file, uint32_t at, uint32_t type, uint32_t source)
{
    struct tr_cursor cursor = cursor_at(file, at);
    uint32_t count = tr_foreign_u32(&cursor);
    file->list.size = 0;
    if (cursor.failed || count > file->feature_count - file->used ||
        count > left(&cursor) / sizeof(uint32_t)) {
        return damaged(file, "a list of features does not fit");
    }
    file->used += count;
    if (!tr_reserve(&file->list, count)) {
        return tr_fail_memory(file->error);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct feature feature;
        double weight;
        if (!read_feature(file, tr_foreign_u32(&cursor), type, source, &feature, &weight)) {
            return damaged(file, "a feature does not fit");
        }
        if (!isfinite(feature.weight)) {
            return damaged(file, isfinite(weight) ? "a weight is too large"
                                                  : "a weight is not a finite number");
        }
        file->list.at[file->list.size++] = feature;
    }
    return sort_list(file);
}

/* What LFRF and AFRF begin with; then `count` offsets follow. */
static trellis_status begin_lists(const struct lcrf *file, uint32_t at, const char tag[4],
                                  uint32_t count, struct tr_cursor *cursor)
{
    *cursor = cursor_at(file, at);
    bool fits = take_tag(cursor, tag);
    tr_foreign_u32(cursor);
    uint32_t written = tr_foreign_u32(cursor);
    fits = fits && !cursor->failed && written >= count && count <= left(cursor) / sizeof(uint32_t);
    return fits ? TRELLIS_OK : damaged(file, "its lists of features do not fit");
}

static trellis_status read_transitions(struct lcrf *file)
{
    struct tr_cursor cursor;
    trellis_status status = begin_lists(file, file->label_lists_at, "LFRF", file->label_count,
                                        &cursor);
    for (uint32_t from = 0; !status && from < file->label_count; from++) {
        status = read_list(file, tr_foreign_u32(&cursor), TRANSITION, from);
        for (size_t i = 0; !status && i < file->list.size; i++) {
            struct feature feature = file->list.at[i];
            struct tr_gram gram = {2, {(uint16_t)from, (uint16_t)feature.label}};
            if (!tr_push(&file->grams, gram) || !tr_push(&file->step_weights, feature.weight)) {
                status = tr_fail_memory(file->error);
            }
        }
    }
    return status;
}

static trellis_status read_states(struct lcrf *file)
{
    struct tr_cursor cursor;
    trellis_status status = begin_lists(file, file->attribute_lists_at, "AFRF",
                                        file->attribute_count, &cursor);
    if (!status) {
        file->begin = tr_alloc((size_t)file->attribute_count + 1, sizeof *file->begin);
        status = file->begin ? TRELLIS_OK : tr_fail_memory(file->error);
    }
    for (uint32_t a = 0; !status && a < file->attribute_count; a++) {
        status = read_list(file, tr_foreign_u32(&cursor), STATE, a);
        for (size_t i = 0; !status && i < file->list.size; i++) {
            struct feature feature = file->list.at[i];
            if (!tr_push(&file->outcome, feature.label) ||
                !tr_push(&file->weights, feature.weight)) {
                status = tr_fail_memory(file->error);
            }
        }
        file->begin[a + 1] = file->outcome.size;
    }
    return status;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* CRFsuite gives probabilities for every algorithm, and its files do not say which it was. */
static void put_notes(struct tr_buffer *notes)
{
    tr_note_text(notes, "program", tr_foreign_crfsuite.program);
    tr_note_format(notes, "version", "lCRF %d", VERSION);
    tr_note_text(notes, "type", "crf");
    tr_note_text(notes, "features", "none");
    tr_note_text(notes, "order", "1");
}

static trellis_status build(struct lcrf *file, trellis_model **ret_model)
{
    struct tr_graph_plan plan = {.labels = file->label_count,
                                 .order = 1,
                                 .grams = file->grams.at,
                                 .gram_count = file->grams.size};
    struct tr_buffer notes = {0};
    struct tr_attribute_index no_index = {0};
    struct tr_rows *rows = NULL, *no_rows = NULL;
    trellis_features *features = NULL;
    uint32_t labels = file->label_count;
    uint64_t *begin = file->begin, *no_begin = tr_alloc(1, sizeof *no_begin);
    uint32_t *outcome = file->outcome.at;
    file->begin = NULL; // both are taken over
    file->outcome.at = NULL;
    put_notes(&notes);
    trellis_status status = tr_rows_create(labels, file->attribute_count, 0, begin, outcome, &rows,
                                           file->error);
    if (!status) {
        status = no_begin && !notes.failed ? TRELLIS_OK : tr_fail_memory(file->error);
    }
    if (!status) {
        status = tr_rows_create((labels - 1) * tr_row_width(labels) + labels, 0, 0, no_begin, NULL,
                                &no_rows, file->error);
    } else {
        free(no_begin);
    }
    if (!status) {
        status = tr_features_none(&features, file->error);
    }
    if (!status) {
        struct tr_model_parts parts = {.labels = &file->labels,
                                       .plan = &plan,
                                       .step_weights = file->step_weights.at,
                                       .features = features,
                                       .node = {&file->attributes, rows, file->weights.at, NULL},
                                       .edge = {&no_index, no_rows, NULL, NULL},
                                       .notes = &notes};
        status = tr_model_build(&parts, ret_model, file->error);
    }
    tr_rows_destroy(rows);
    tr_rows_destroy(no_rows);
    trellis_features_destroy(features);
    tr_buffer_free(&notes);
    return status;
}

static trellis_status read_model(trellis_text bytes, const char *path, trellis_model **ret_model,
                                 trellis_error *error)
{
    *ret_model = NULL;
    struct lcrf file = {.bytes = bytes, .path = path, .error = error};
    trellis_status status = read_header(&file);
    if (!status) {
        status = read_names(&file, file.labels_at, file.label_count, take_label);
    }
    if (!status) {
        status = read_names(&file, file.attributes_at, file.attribute_count, take_attribute);
    }
    if (!status) {
        status = read_transitions(&file);
    }
    if (!status) {
        status = read_states(&file);
    }
    if (!status) {
        tr_attribute_index_close(&file.attributes);
        status = build(&file, ret_model);
    }
    tr_intern_free(&file.labels);
    tr_attribute_index_free(&file.attributes);
    free(file.list.at);
    free(file.grams.at);
    free(file.step_weights.at);
    free(file.begin);
    free(file.outcome.at);
    free(file.weights.at);
    return status;
}

static bool recognises(trellis_text bytes)
{
    return bytes.size >= 4 && memcmp(bytes.data, "lCRF", 4) == 0;
}

const struct tr_foreign_format tr_foreign_crfsuite = {"CRFsuite", recognises, read_model};
