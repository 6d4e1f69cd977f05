/* online_state.c - the whole state of an online learner as bytes, and back.
 *
 *     ONLN   sequences and tokens learned from, fingerprint, attributes of nodes and edges,
 *            whether it has seen labels, schemes of labels, numbers of the learner
 *     OPTS   the options that were set: name, zero byte, value, zero byte, ...
 *     FEAT   templates, as in a model      LABL   the labels: size, bytes
 *     NATR   node attributes: both halves of the key, size of the text, its bytes
 *     EATR   edge attributes               WORD   hashes of the words seen
 *     WGHT   weights                       AVER   what is kept for their average
 *     VARI   variances (arow)
 *
 * The last three have an element for each weight: rows of the node attributes, rows of the edge
 * attributes, transitions, without the room that is not in use. The bytes are not trusted: nothing
 * is allocated that they do not account for.
 */
#include <math.h>

#include "model/image.h"
#include "train/online_learner.h"

#define HEADER "ONLN"

struct header {
    uint64_t sequences, tokens, fingerprint;
    uint64_t nodes, edges;                     // attributes
    uint64_t has_layout;                       // 0 or 1
    uint64_t inside, outside;                  // schemes
    double seen, before;                       // of a rule
    double scale, fraction, divisor, averaged; // of stochastic steps
};

/* ---- arrays with an element for each weight -------------------------------------------------- */

/* The parts of such an array that are in use. */
struct array_part {
    size_t begin, count;
};

static void find_parts(const struct tr_training *t, struct array_part parts[3])
{
    const struct tr_rows *node = t->data.vocabulary.node.rows, *edge = t->data.vocabulary.edge.rows;
    parts[0] = (struct array_part){0, (size_t)node->attributes * node->width};
    parts[1] = (struct array_part){t->layout.node_size, (size_t)edge->attributes * edge->width};
    parts[2] = (struct array_part){t->layout.step_begin, t->layout.step_size};
}

static void put_array(struct tr_image_writer *writer, const char *name, const struct tr_training *t,
                      const void *array, size_t element)
{
    struct array_part parts[3];
    find_parts(t, parts);
    tr_image_section(writer, name);
    for (size_t i = 0; i < 3; i++) {
        tr_buffer_add(&writer->bytes, (const char *)array + parts[i].begin * element,
                      parts[i].count * element);
    }
}

static trellis_status damaged(const char *how, trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "the state of the online learner is damaged: %s", how);
}

static bool are_finite(const void *values, size_t count, bool doubles, double lowest)
{
    const float *f = values;
    const double *d = values;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        double x = doubles ? d[i] : (double)f[i];
        ok = isfinite(x) && x >= lowest;
    }
    return ok;
}

static trellis_status take_array(const struct tr_image *image, const char *name,
                                 const struct tr_training *t, void *array, size_t element,
                                 double lowest, trellis_error *error)
{
    struct array_part parts[3];
    trellis_text content;
    find_parts(t, parts);
    if (!tr_image_find(image, name, &content) ||
        content.size != (parts[0].count + parts[1].count + parts[2].count) * element) {
        return damaged("its weights do not fit", error);
    }
    const char *from = content.data;
    for (size_t i = 0; i < 3; i++) {
        char *to = (char *)array + parts[i].begin * element;
        if (parts[i].count) {
            memcpy(to, from, parts[i].count * element);
        }
        if (!are_finite(to, parts[i].count, element == sizeof(double), lowest)) {
            return damaged("a weight is not valid", error);
        }
        from += parts[i].count * element;
    }
    return TRELLIS_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct header header_of(const trellis_online *online)
{
    const struct tr_growing *growing = &online->growing;
    const struct tr_training_data *data = &growing->training.data;
    struct header header = {.sequences = growing->sequences,
                            .tokens = growing->tokens,
                            .fingerprint = data->train.fingerprint,
                            .nodes = data->vocabulary.node.index.entries.size,
                            .edges = data->vocabulary.edge.index.entries.size,
                            .has_layout = growing->has_layout,
                            .inside = data->inside,
                            .outside = data->outside,
                            .scale = 1,
                            .divisor = 1};
    if (online->online) {
        header.seen = online->online->seen;
        header.before = online->online->before;
    } else {
        header.scale = online->sgd->scale;
        header.fraction = online->sgd->fraction;
        header.divisor = online->sgd->divisor;
        header.averaged = online->sgd->averaged;
    }
    return header;
}

static void put_options(struct tr_buffer *bytes, const trellis_options *options)
{
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const char *name = trellis_option_at(i)->name;
        if (trellis_options_given(options, name)) {
            const char *value = trellis_options_get(options, name);
            tr_buffer_add(bytes, name, strlen(name) + 1);
            tr_buffer_add(bytes, value, strlen(value) + 1);
        }
    }
}

static void put_attributes(struct tr_buffer *bytes, const struct tr_attribute_index *index)
{
    for (uint32_t a = 0; a < index->entries.size; a++) {
        trellis_text text = tr_attribute_index_text(index, a);
        tr_put_u64(bytes, index->entries.at[a].key);
        tr_put_u64(bytes, index->high.at[a]);
        tr_put_u32(bytes, (uint32_t)text.size);
        tr_buffer_text(bytes, text);
    }
}

static void put_arrays(struct tr_image_writer *writer, const trellis_online *online)
{
    const struct tr_training *t = &online->growing.training;
    const struct tr_online *rule = online->online;
    put_array(writer, "WGHT", t, rule ? rule->now.weights : online->sgd->v.weights, sizeof(float));
    if (!rule) {
        put_array(writer, "AVER", t, online->sgd->a, sizeof(float));
    } else if (rule->u) {
        put_array(writer, "AVER", t, rule->u, sizeof(double));
    }
    if (rule && rule->variance) {
        put_array(writer, "VARI", t, rule->variance, sizeof(float));
    }
}

static trellis_status make_image(const trellis_online *online, struct tr_image_writer *writer,
                                 trellis_error *error)
{
    const struct tr_training_data *data = &online->growing.training.data;
    struct header header = header_of(online);
    struct tr_buffer *bytes = &writer->bytes;
    tr_image_begin(writer, 10);
    tr_image_section(writer, HEADER);
    tr_buffer_add(bytes, (const char *)&header, sizeof header);
    tr_image_section(writer, "OPTS");
    put_options(bytes, online->growing.options);
    tr_image_section(writer, "FEAT");
    tr_buffer_add(bytes, online->growing.templates.data, online->growing.templates.size);
    tr_image_section(writer, "LABL");
    for (uint32_t i = 0; i < data->train.label_count; i++) {
        trellis_text label = tr_intern_text(&data->train.labels, i);
        tr_put_u32(bytes, (uint32_t)label.size);
        tr_buffer_text(bytes, label);
    }
    tr_image_section(writer, "NATR");
    put_attributes(bytes, &data->vocabulary.node.index);
    tr_image_section(writer, "EATR");
    put_attributes(bytes, &data->vocabulary.edge.index);
    tr_image_section(writer, "WORD");
    bool ok = tr_words_write(&data->seen, bytes);
    if (online->growing.has_layout) {
        put_arrays(writer, online);
    }
    bytes->failed = bytes->failed || !ok;
    return tr_image_finish(writer, error);
}

trellis_status trellis_online_save(const trellis_online *online, trellis_sink sink, void *user,
                                   trellis_error *error)
{
    if (!online || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct tr_image_writer writer;
    trellis_status status = make_image(online, &writer, error);
    if (status) {
        return status;
    }
    status = tr_buffer_flush(&writer.bytes, sink, user, error);
    tr_buffer_free(&writer.bytes);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool header_fits(const struct header *header)
{
    const double numbers[] = {header->seen,     header->before,  header->scale,
                              header->fraction, header->divisor, header->averaged};
    return are_finite(numbers, TR_COUNT(numbers), true, 0) && header->scale > 0 &&
           header->divisor > 0 && header->has_layout <= 1 && header->inside <= TRELLIS_NO_SCHEME &&
           header->outside <= TRELLIS_NO_SCHEME;
}

static trellis_status read_options(const struct tr_image *image, trellis_options *options,
                                   trellis_error *error)
{
    trellis_text content;
    if (!tr_image_find(image, "OPTS", &content)) {
        return damaged("it has no options", error);
    }
    struct tr_cursor cursor = tr_cursor(content);
    trellis_status status = TRELLIS_OK;
    while (!status && cursor.at < cursor.end) {
        const char *name = tr_cursor_string(&cursor), *value = tr_cursor_string(&cursor);
        status = name && value ? trellis_options_set(options, name, value, error)
                               : damaged("its options do not fit", error);
    }
    return status;
}

static trellis_status read_labels(const struct tr_image *image, struct tr_dataset *train,
                                  trellis_error *error)
{
    trellis_text content;
    if (!tr_image_find(image, "LABL", &content)) {
        return damaged("it has no labels", error);
    }
    struct tr_cursor cursor = tr_cursor(content);
    while (cursor.at < cursor.end) {
        uint32_t size = tr_cursor_u32(&cursor);
        const char *label = tr_cursor_bytes(&cursor, size);
        uint32_t number = tr_intern_count(&train->labels);
        if (cursor.failed || number >= TR_MAX_LABELS) {
            return damaged("its labels do not fit", error);
        }
        uint32_t here = tr_intern_add(&train->labels, (trellis_text){label, size});
        if (here != number) {
            return here == TR_NONE ? tr_fail_memory(error) : damaged("a label twice", error);
        }
    }
    train->label_count = (uint32_t)tr_intern_count(&train->labels);
    return TRELLIS_OK;
}

static trellis_status read_attributes(const struct tr_image *image, const char *name,
                                      struct tr_attribute_index *index, uint64_t count,
                                      trellis_error *error)
{
    trellis_text content;
    if (!tr_image_find(image, name, &content)) {
        return damaged("it has no attributes", error);
    }
    struct tr_cursor cursor = tr_cursor(content);
    while (cursor.at < cursor.end) {
        struct tr_key key;
        key.low = tr_cursor_u64(&cursor);
        key.high = tr_cursor_u64(&cursor);
        uint32_t size = tr_cursor_u32(&cursor);
        const char *text = tr_cursor_bytes(&cursor, size);
        bool is_new = false, clash = false;
        uint32_t number = cursor.failed ? 0 : tr_attribute_index_add(index, key, &is_new, &clash);
        if (number == TR_NONE) {
            return tr_fail_memory(error);
        }
        if (!is_new) {
            return damaged("its attributes do not fit", error);
        }
        if (!tr_attribute_index_name(index, number, (trellis_text){text, size})) {
            return tr_fail_memory(error);
        }
    }
    return index->entries.size == count ? TRELLIS_OK : damaged("its attributes do not fit", error);
}

static trellis_status read_words(const struct tr_image *image, struct trellis_words *words,
                                 trellis_error *error)
{
    trellis_text content = {"", 0};
    if (!tr_image_find(image, "WORD", &content) || content.size % 8) {
        return damaged("its words do not fit", error);
    }
    struct tr_cursor cursor = tr_cursor(content);
    while (cursor.at < cursor.end) {
        uint64_t hash = tr_cursor_u64(&cursor);
        if (hash == 0) {
            return damaged("its words do not fit", error);
        }
        if (!tr_words_add_hash(words, hash)) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

/* Whether the bytes account for the layout that would be made for their labels and attributes. */
static bool layout_fits(const struct tr_image *image, const struct tr_training *t)
{
    trellis_text content;
    double labels = t->data.train.label_count, width = tr_row_width(t->data.train.label_count);
    bool steps = t->settings.order > 0 && tr_features_steps(t->data.features).between;
    double least = width * (double)t->data.vocabulary.node.index.entries.size +
                   width * (labels - 1) * (double)t->data.vocabulary.edge.index.entries.size +
                   (steps ? labels * labels : 0);
    return labels > 0 && tr_image_find(image, "WGHT", &content) &&
           least * sizeof(float) <= (double)content.size;
}

static trellis_status read_arrays(const struct tr_image *image, trellis_online *online,
                                  trellis_error *error)
{
    const struct tr_training *t = &online->growing.training;
    struct tr_online *rule = online->online;
    if (!layout_fits(image, t)) {
        return damaged("its weights do not fit", error);
    }
    trellis_status status = tr_growing_fit(&online->growing, tr_online_learner_relayout, online,
                                           error);
    if (!status) {
        status = take_array(image, "WGHT", t, rule ? rule->now.weights : online->sgd->v.weights,
                            sizeof(float), -INFINITY, error);
    }
    if (!status && !rule) {
        status = take_array(image, "AVER", t, online->sgd->a, sizeof(float), -INFINITY, error);
    } else if (!status && rule->u) {
        status = take_array(image, "AVER", t, rule->u, sizeof(double), -INFINITY, error);
    }
    if (!status && rule && rule->variance) {
        status = take_array(image, "VARI", t, rule->variance, sizeof(float), 0, error);
    }
    if (!status) {
        tr_online_learner_set_steps(online);
    }
    return status;
}

static trellis_status read_learner(const struct tr_image *image, const struct header *header,
                                   trellis_online *online, trellis_error *error)
{
    struct tr_growing *growing = &online->growing;
    struct tr_training_data *data = &growing->training.data;
    trellis_status status = read_labels(image, &data->train, error);
    if (!status) {
        status = read_attributes(image, "NATR", &data->vocabulary.node.index, header->nodes, error);
    }
    if (!status) {
        status = read_attributes(image, "EATR", &data->vocabulary.edge.index, header->edges, error);
    }
    if (!status) {
        status = read_words(image, &data->seen, error);
    }
    data->inside = (trellis_scheme)header->inside;
    data->outside = (trellis_scheme)header->outside;
    if (!status && header->has_layout) {
        status = read_arrays(image, online, error);
    }
    growing->sequences = header->sequences;
    growing->tokens = header->tokens;
    data->train.fingerprint = header->fingerprint;
    if (online->online) {
        online->online->seen = header->seen;
        online->online->before = header->before;
    } else if (online->sgd) {
        online->sgd->scale = header->scale;
        online->sgd->fraction = header->fraction;
        online->sgd->divisor = header->divisor;
        online->sgd->averaged = header->averaged;
    }
    return status;
}

static trellis_status read_image(const struct tr_image *image, trellis_online *online,
                                 trellis_error *error)
{
    trellis_options *options = NULL;
    trellis_text content, templates = {0};
    struct header header;
    trellis_status status = tr_image_check(image, NULL, "state of an online learner", error);
    if (!status) {
        status = tr_image_verify(image, NULL, "state of an online learner", error);
    }
    if (!status && (!tr_image_find(image, HEADER, &content) || content.size != sizeof header ||
                    !tr_image_find(image, "FEAT", &templates))) {
        status = damaged("a section is missing", error);
    }
    if (!status) {
        memcpy(&header, content.data, sizeof header);
        status = header_fits(&header) ? trellis_options_create(&options, error)
                                      : damaged("its header does not fit", error);
    }
    if (!status) {
        status = read_options(image, options, error);
    }
    if (!status) {
        status = tr_growing_create_from_block(&online->growing, options, templates, error);
    }
    if (!status) {
        status = tr_online_learner_begin(online, error);
    }
    if (!status) {
        status = read_learner(image, &header, online, error);
    }
    trellis_options_destroy(options);
    return status;
}

trellis_status trellis_online_restore(const void *data, size_t size, trellis_online **ret_online,
                                      trellis_error *error)
{
    if (!TR_CLEAR(ret_online) || (!data && size > 0)) {
        return tr_fail_null(error, __func__);
    }
    struct tr_image image = {.data = data, .size = size};
    trellis_online *online = tr_alloc(1, sizeof *online);
    if (!online) {
        return tr_fail_memory(error);
    }
    trellis_status status = read_image(&image, online, error);
    if (status) {
        trellis_online_destroy(online);
    } else {
        *ret_online = online;
    }
    return status;
}
