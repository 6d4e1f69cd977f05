/* foreign_crfsuite_write.c - writes a model as CRFsuite does (lCRF; see foreign_crfsuite.c).
 *
 * Features are sorted by type, source and label, so that those of one attribute or label have
 * consecutive numbers. Names are in a constant database (CQDB), offsets counted from its start:
 *
 *     "CQDB", u32 size, u32 0, u32 0x62445371, u32 names N, u32 offset of the array below
 *     256 tables: u32 offset, u32 slots
 *     names: u32 number, u32 length with its zero, bytes, zero
 *     slots of each table, twice as many as it has names: u32 hash, u32 offset of the name; 0: empty
 *     [N] u32 offset of each name
 *
 * A name is in table hash % 256, at slot (hash >> 8) % slots or the next empty one.
 */
#include <math.h>

#include "model/foreign.h"
#include "model/model.h"

enum { TABLES = 256, CQDB_HEADER = 24, HEADER = 48, VERSION = 100 };
#define CQDB_ORDER 0x62445371u

struct transition {
    uint16_t from, to;
    double weight;
};

struct writer {
    const trellis_model *model;
    trellis_error *error;
    struct tr_buffer out;
    TR_ARRAY(struct transition) transitions; // by from, to
    uint32_t *first;                         // [attributes + 1] the number of its first feature
    uint32_t *first_transition;              // [labels + 1] the same
};

/* ---- what the format can hold ---------------------------------------------------------------- */

/* A reason why a model cannot be written, NULL where it can be. */
static const char *obstacle(const trellis_model *model)
{
    const struct tr_graph_plan *plan = &model->plan;
    if (plan->order > 1) {
        return "its order is above 1";
    }
    if (plan->count_cap > 1) {
        return "it counts repeated labels";
    }
    if (model->local) {
        return "its scores are normalised locally";
    }
    if (model->segments) {
        return "it is a model of segments";
    }
    if (plan->forbidden_count) {
        return "it forbids transitions";
    }
    if (model->edge.record_count) {
        return "it has attributes of transitions (edge templates)";
    }
    if (model->tag_dictionary.words) {
        return "it has a tag dictionary";
    }
    if (model->gaussian.columns) {
        return "it has normal distributions of real-valued columns";
    }
    if (model->unknown) {
        return "it computes the probability of unknown words";
    }
    if (model->inside != model->outside) {
        return "its labels are converted to another scheme";
    }
    return NULL;
}

static trellis_status refuse(const struct writer *w, const char *why)
{
    return tr_fail(w->error, TRELLIS_LIMIT, "CRFsuite cannot hold this model: %s", why);
}

/* Collects the transitions; a gram without a weight counts for nothing. */
static trellis_status collect_transitions(struct writer *w)
{
    const trellis_model *model = w->model;
    uint32_t labels = model->label_count;
    for (size_t i = 0; i < model->plan.gram_count; i++) {
        const struct tr_gram *gram = &model->grams[i];
        double weight = tr_model_exact_step(model, i);
        if (weight == 0) {
            continue;
        }
        if (gram->length != 2) {
            return refuse(w,
                          "labels have weights of their own; give every token the same attribute "
                          "instead");
        }
        if (gram->label[0] >= labels || gram->label[1] >= labels) {
            return refuse(w,
                          "the first or the last label of a sequence has weights (step start end); "
                          "give the first and the last token an attribute instead");
        }
        if (!isfinite(weight)) {
            return refuse(w, "a transition has an infinite weight");
        }
        struct transition transition = {gram->label[0], gram->label[1], weight};
        if (!tr_push(&w->transitions, transition)) {
            return tr_fail_memory(w->error);
        }
    }
    return TRELLIS_OK;
}

static int by_labels(const void *a, const void *b)
{
    const struct transition *x = a, *y = b;
    uint32_t left = (uint32_t)x->from << 16 | x->to, right = (uint32_t)y->from << 16 | y->to;
    return (left > right) - (left < right);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* `size` bytes, at most four, as a little-endian number. */
static uint32_t word_at(const unsigned char *bytes, size_t size)
{
    uint32_t word = 0;
    for (size_t i = 0; i < size && i < 4; i++) {
        word |= (uint32_t)bytes[i] << (8 * i);
    }
    return word;
}

/* Bob Jenkins' lookup3 (hashlittle, started with 0), by which CRFsuite finds names. */
static uint32_t lookup3(const unsigned char *bytes, size_t size)
{
    static const unsigned mix[6] = {4, 6, 8, 16, 19, 4}, last[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t start = 0xdeadbeefu + (uint32_t)size, x[3] = {start, start, start};
    for (; size > 12; bytes += 12, size -= 12) {
        for (size_t i = 0; i < 3; i++) {
            x[i] += word_at(bytes + 4 * i, 4);
        }
        for (size_t i = 0; i < 6; i++) { // a from c, b from a, c from b, twice
            uint32_t *here = &x[i % 3], *before = &x[(i + 2) % 3], *after = &x[(i + 1) % 3];
            *here = (*here - *before) ^ rotate(*before, mix[i]);
            *before += *after;
        }
    }
    if (size == 0) {
        return x[2];
    }
    for (size_t i = 0; 4 * i < size; i++) {
        x[i] += word_at(bytes + 4 * i, size - 4 * i);
    }
    for (size_t i = 0; i < 7; i++) { // c from b, a from c, b from a, ...
        uint32_t *here = &x[(i + 2) % 3], *before = &x[(i + 1) % 3];
        *here = (*here ^ *before) - rotate(*before, last[i]);
    }
    return x[2];
}

struct slot {
    uint32_t hash, offset;
};

/* The names while they are written: all by number. */
struct names {
    uint32_t count;
    struct slot *at;                      // [count] of each name
    struct slot *slots;                   // [2 * count] of all tables, one after the other
    uint32_t first[TABLES], size[TABLES]; // of each table, in slots
};

/* Puts the names into the tables in the order of their numbers. */
static void fill_tables(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        names->size[names->at[i].hash % TABLES] += 2;
    }
    for (size_t t = 1; t < TABLES; t++) {
        names->first[t] = names->first[t - 1] + names->size[t - 1];
    }
    for (uint32_t i = 0; i < names->count; i++) {
        struct slot name = names->at[i];
        uint32_t size = names->size[name.hash % TABLES], k = (name.hash >> 8) % size;
        struct slot *table = names->slots + names->first[name.hash % TABLES];
        while (table[k].offset) {
            k = (k + 1) % size;
        }
        table[k] = name;
    }
}

static void set_u32(struct tr_buffer *buffer, size_t at, uint32_t value)
{
    if (!buffer->failed) {
        value = htole32(value);
        memcpy(buffer->data + at, &value, sizeof value);
    }
}

static void put_tables(struct tr_buffer *out, size_t start, const struct names *names)
{
    size_t slots_at = out->size - start;
    for (size_t t = 0; t < TABLES; t++) {
        size_t entry = start + CQDB_HEADER + 8 * t;
        size_t offset = slots_at + sizeof(struct slot) * names->first[t];
        set_u32(out, entry, names->size[t] ? (uint32_t)offset : 0);
        set_u32(out, entry + 4, names->size[t]);
    }
    for (size_t i = 0; i < 2 * (size_t)names->count; i++) {
        tr_foreign_put_u32(out, names->slots[i].hash);
        tr_foreign_put_u32(out, names->slots[i].offset);
    }
    size_t numbers_at = names->count ? out->size - start : 0;
    for (uint32_t i = 0; i < names->count; i++) {
        tr_foreign_put_u32(out, names->at[i].offset);
    }
    set_u32(out, start + 4, (uint32_t)(out->size - start));
    set_u32(out, start + 16, names->count);
    set_u32(out, start + 20, (uint32_t)numbers_at);
}

static trellis_text name_of(const trellis_model *model, bool label, uint32_t number)
{
    return label ? model->labels[number]
                 : tr_table_text(&model->node, &model->node.records[number]);
}

/* Different attributes of templates could have one name, which lCRF could not tell apart. */
static trellis_status check_name(struct writer *w, struct tr_intern *seen, uint32_t number,
                                 trellis_text name)
{
    if (memchr(name.data, 0, name.size)) {
        return refuse(w, "a name contains a zero byte");
    }
    uint32_t found = tr_intern_add(seen, name);
    if (found == TR_NONE) {
        return tr_fail_memory(w->error);
    }
    return found == number ? TRELLIS_OK
                           : tr_fail(w->error, TRELLIS_LIMIT,
                                     "CRFsuite cannot hold this model: two attributes are both "
                                     "called '%.*s'",
                                     TR_SHOW(name));
}

static trellis_status put_names(struct writer *w, bool label)
{
    struct tr_buffer *out = &w->out;
    struct names names = {.count = label ? w->model->label_count
                                         : (uint32_t)w->model->node.record_count};
    struct tr_intern seen = {0};
    size_t start = out->size;
    names.at = tr_alloc(names.count, sizeof *names.at);
    names.slots = tr_alloc(2 * (size_t)names.count, sizeof *names.slots);
    trellis_status status = names.at && names.slots ? TRELLIS_OK : tr_fail_memory(w->error);
    tr_buffer_add(out, "CQDB", 4);
    tr_foreign_put_u32(out, 0);
    tr_foreign_put_u32(out, 0);
    tr_foreign_put_u32(out, CQDB_ORDER);
    for (size_t i = 16; i < CQDB_HEADER + 8 * TABLES; i += 4) {
        tr_foreign_put_u32(out, 0);
    }
    for (uint32_t i = 0; !status && i < names.count; i++) {
        trellis_text name = name_of(w->model, label, i);
        status = check_name(w, &seen, i, name);
        size_t at = out->size;
        tr_foreign_put_u32(out, i);
        tr_foreign_put_u32(out, (uint32_t)name.size + 1);
        tr_buffer_text(out, name);
        tr_buffer_char(out, 0);
        if (!status && !out->failed) {
            const unsigned char *bytes = (const unsigned char *)out->data + at + 8;
            names.at[i] = (struct slot){lookup3(bytes, name.size + 1), (uint32_t)(at - start)};
        }
    }
    if (!status && !out->failed) {
        fill_tables(&names);
        put_tables(out, start, &names);
    }
    free(names.at);
    free(names.slots);
    tr_intern_free(&seen);
    return status;
}

/* ---- features -------------------------------------------------------------------------------- */

static void put_feature(struct writer *w, uint32_t type, uint32_t source, uint32_t label,
                        double weight)
{
    tr_foreign_put_u32(&w->out, type);
    tr_foreign_put_u32(&w->out, source);
    tr_foreign_put_u32(&w->out, label);
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    tr_foreign_put_u64(&w->out, bits);
}

/* The features of the attributes; the numbers are counted in *count. */
static trellis_status put_states(struct writer *w, uint64_t *count)
{
    const struct tr_table *table = &w->model->node;
    for (uint32_t a = 0; a < table->record_count; a++) {
        const struct tr_text_record *record = &table->records[a];
        uint64_t place = 0;
        uint32_t label;
        float weight;
        w->first[a] = (uint32_t)*count;
        while (tr_table_next(table, record, &place, &label, &weight)) {
            if (!isfinite(weight)) {
                return refuse(w, "an attribute has an infinite weight");
            }
            if (w->out.failed || w->out.size > UINT32_MAX) {
                return w->out.failed ? tr_fail_memory(w->error)
                                     : refuse(w, "it would have more than 4 GB");
            }
            put_feature(w, 0, a, label,
                        table->residuals ? tr_table_exact(table, record->row, label)
                                         : (double)weight);
            ++*count;
        }
    }
    w->first[table->record_count] = (uint32_t)*count;
    return TRELLIS_OK;
}

static trellis_status put_features(struct writer *w)
{
    size_t start = w->out.size, next = 0;
    uint64_t count = 0;
    tr_buffer_add(&w->out, "FEAT", 4);
    tr_foreign_put_u32(&w->out, 0);
    tr_foreign_put_u32(&w->out, 0);
    trellis_status status = put_states(w, &count);
    for (uint32_t from = 0; !status && from < w->model->label_count; from++) {
        w->first_transition[from] = (uint32_t)count;
        for (; next < w->transitions.size && w->transitions.at[next].from == from; next++) {
            put_feature(w, 1, from, w->transitions.at[next].to, w->transitions.at[next].weight);
            count++;
        }
        w->first_transition[from + 1] = (uint32_t)count;
    }
    set_u32(&w->out, start + 4, (uint32_t)(w->out.size - start));
    set_u32(&w->out, start + 8, (uint32_t)count);
    return status;
}

/* LFRF or AFRF: the numbers of the features of each source, of which `first` [sources + 1] has the
 * first. `more` lists have the offset 0. */
static void put_lists(struct writer *w, const char tag[4], const uint32_t *first, uint32_t sources,
                      uint32_t more)
{
    struct tr_buffer *out = &w->out;
    size_t start = out->size, lists = start + 12 + 4 * ((size_t)sources + more);
    tr_buffer_add(out, tag, 4);
    tr_foreign_put_u32(out, 0);
    tr_foreign_put_u32(out, sources + more);
    for (uint32_t s = 0; s < sources; s++) {
        tr_foreign_put_u32(out, (uint32_t)(lists + 4 * ((size_t)s + first[s] - first[0])));
    }
    for (uint32_t s = 0; s < more; s++) {
        tr_foreign_put_u32(out, 0);
    }
    for (uint32_t s = 0; s < sources; s++) {
        tr_foreign_put_u32(out, first[s + 1] - first[s]);
        for (uint32_t i = first[s]; i < first[s + 1]; i++) {
            tr_foreign_put_u32(out, i);
        }
    }
    set_u32(out, start + 4, (uint32_t)(out->size - start));
}

/* ---- the file -------------------------------------------------------------------------------- */

static trellis_status put_model(struct writer *w)
{
    struct tr_buffer *out = &w->out;
    uint32_t labels = w->model->label_count, attributes = (uint32_t)w->model->node.record_count;
    size_t at[5];
    tr_buffer_add(out, "lCRF", 4);
    tr_foreign_put_u32(out, 0);
    tr_buffer_add(out, "FOMC", 4);
    tr_foreign_put_u32(out, VERSION);
    for (size_t i = 16; i < HEADER; i += 4) {
        tr_foreign_put_u32(out, 0);
    }
    at[0] = out->size;
    trellis_status status = put_features(w);
    at[1] = out->size;
    if (!status) {
        status = put_names(w, true);
    }
    at[2] = out->size;
    if (!status) {
        status = put_names(w, false);
    }
    tr_put_align(out, 4);
    at[3] = out->size;
    if (!status) {
        put_lists(w, "LFRF", w->first_transition, labels, 2);
        at[4] = out->size;
        put_lists(w, "AFRF", w->first, attributes, 0);
        set_u32(out, 4, (uint32_t)out->size);
        set_u32(out, 20, labels);
        set_u32(out, 24, attributes);
        for (size_t i = 0; i < TR_COUNT(at); i++) {
            set_u32(out, 28 + 4 * i, (uint32_t)at[i]);
        }
    }
    if (!status && out->failed) {
        status = tr_fail_memory(w->error);
    }
    return status || out->size <= UINT32_MAX ? status : refuse(w, "it would have more than 4 GB");
}

trellis_status trellis_model_write_crfsuite(const trellis_model *model, trellis_sink sink,
                                            void *user, trellis_error *error)
{
    if (!model || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct writer w = {.model = model, .error = error};
    const char *why = model->node.record_count >= UINT32_MAX ? "it has too many attributes"
                                                             : obstacle(model);
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (!status) {
        status = why ? refuse(&w, why) : collect_transitions(&w);
    }
    if (!status) {
        w.first = tr_alloc((size_t)model->node.record_count + 1, sizeof *w.first);
        w.first_transition = tr_alloc((size_t)model->label_count + 1, sizeof *w.first_transition);
        status = w.first && w.first_transition ? TRELLIS_OK : tr_fail_memory(error);
    }
    if (!status && w.transitions.size) {
        qsort(w.transitions.at, w.transitions.size, sizeof *w.transitions.at, by_labels);
    }
    if (!status) {
        status = put_model(&w);
    }
    if (!status) {
        status = tr_buffer_flush(&w.out, sink, user, error);
    }
    tr_buffer_free(&w.out);
    free(w.transitions.at);
    free(w.first);
    free(w.first_transition);
    return status;
}
