/* build.c - builds a model from the result of a training. */
#include "model/model.h"

static void write_graph(struct tr_buffer *bytes, const struct tr_graph_plan *plan)
{
    tr_put_u32(bytes, plan->order);
    tr_put_u32(bytes, plan->count_cap);
    tr_put_u32(bytes, plan->observed_states);
    tr_put_u32(bytes, (uint32_t)plan->gram_count);
    tr_put_u32(bytes, (uint32_t)plan->forbidden_count);
    for (size_t i = 0; i < plan->gram_count; i++) {
        tr_put_u16(bytes, plan->grams[i].length);
        for (int k = 0; k < plan->grams[i].length; k++) {
            tr_put_u16(bytes, plan->grams[i].label[k]);
        }
    }
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        tr_put_u16(bytes, plan->forbidden[i][0]);
        tr_put_u16(bytes, plan->forbidden[i][1]);
    }
}

trellis_status tr_model_finish(struct tr_image_writer *writer, struct tr_graph **graph,
                               trellis_model **ret_model, trellis_error *error)
{
    trellis_status status = tr_image_finish(writer, error);
    if (status) {
        return status;
    }
    struct tr_image image;
    tr_image_adopt(&image, &writer->bytes);
    return tr_model_read(&image, NULL, true, graph, ret_model, error);
}

/* What every model has: notes, labels, graph, weights of transitions, templates, attributes. */
static trellis_status write_required(struct tr_image_writer *writer,
                                     const struct tr_model_parts *parts, trellis_error *error)
{
    struct tr_buffer *bytes = &writer->bytes;
    tr_image_section(writer, "META");
    if (parts->notes) {
        tr_buffer_add(bytes, parts->notes->data, parts->notes->size);
    }
    tr_image_section(writer, "LABL");
    for (uint32_t i = 0; i < parts->plan->labels; i++) {
        tr_buffer_text(bytes, tr_intern_text(parts->labels, i));
        tr_buffer_char(bytes, 0);
    }
    tr_image_section(writer, "GRPH");
    write_graph(bytes, parts->plan);
    tr_image_section(writer, "STEP");
    tr_buffer_add(bytes, (const char *)parts->step_weights,
                  parts->plan->gram_count * sizeof(float));
    tr_image_section(writer, "FEAT");
    trellis_status status = tr_features_write(parts->features, bytes, error);
    if (!status) { // an HMM keeps weights of 0 too: a word emitted with probability 1
        status = tr_table_write(writer, 'N', parts->node.index, parts->node.rows,
                                parts->node.weights, parts->step_residuals != NULL, error);
    }
    if (!status) {
        status = tr_table_write(writer, 'E', parts->edge.index, parts->edge.rows,
                                parts->edge.weights, false, error);
    }
    return status;
}

static bool has_tag_dictionary(const struct tr_model_parts *parts)
{
    return parts->tag_dictionary && parts->tag_dictionary->size > 0;
}

static bool has_words(const struct tr_model_parts *parts)
{
    return parts->words && parts->words->count > 0;
}

static bool has_gaussian(const struct tr_model_parts *parts)
{
    return parts->gaussian && parts->gaussian->columns > 0;
}

static uint32_t section_count(const struct tr_model_parts *parts)
{
    return 11u + 2 * (parts->step_residuals != NULL) + (parts->unknown != NULL) +
           has_tag_dictionary(parts) + has_words(parts) + has_gaussian(parts) +
           (parts->plan->segments != NULL);
}

static trellis_status write_optional(struct tr_image_writer *writer,
                                     const struct tr_model_parts *parts, trellis_error *error)
{
    struct tr_buffer *bytes = &writer->bytes;
    if (parts->step_residuals) {
        tr_table_write_residuals(writer, 'N', parts->node.rows, parts->node.weights,
                                 parts->node.residuals);
        tr_image_section(writer, "SLOW");
        tr_buffer_add(bytes, (const char *)parts->step_residuals,
                      parts->plan->gram_count * sizeof(float));
    }
    if (parts->unknown) {
        tr_image_section(writer, "UNKN");
        tr_buffer_add(bytes, (const char *)parts->unknown,
                      (1 + (size_t)parts->plan->labels) * sizeof(double));
    }
    const struct tr_segments *segments = parts->plan->segments;
    if (segments) {
        tr_image_section(writer, "SEGM");
    }
    for (uint32_t t = 0; segments && t < segments->types; t++) {
        tr_put_u32(bytes, segments->type[t].max_length);
    }
    if (has_tag_dictionary(parts)) {
        tr_image_section(writer, "DICT");
        tr_buffer_add(bytes, parts->tag_dictionary->data, parts->tag_dictionary->size);
    }
    trellis_status status = TRELLIS_OK;
    if (has_words(parts)) {
        tr_image_section(writer, "WORD");
        status = tr_words_write(parts->words, bytes) ? TRELLIS_OK : tr_fail_memory(error);
    }
    if (!status && has_gaussian(parts)) {
        tr_image_section(writer, "GAUS");
        tr_gaussian_write(parts->gaussian, bytes);
    }
    return status;
}

trellis_status tr_model_build(const struct tr_model_parts *parts, trellis_model **ret_model,
                              trellis_error *error)
{
    *ret_model = NULL;
    struct tr_image_writer writer;
    tr_image_begin(&writer, section_count(parts));
    trellis_status status = write_required(&writer, parts, error);
    if (!status) {
        status = write_optional(&writer, parts, error);
    }
    if (status) {
        tr_buffer_free(&writer.bytes);
        return status;
    }
    return tr_model_finish(&writer, parts->graph, ret_model, error);
}
