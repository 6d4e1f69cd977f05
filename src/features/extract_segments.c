/* extract_segments.c - the keys of attributes of whole segments.
 *
 * The key of a template mixes the values of its parts (segment_values.c), as those of tokens do. A
 * template with any() gives one attribute for each n-gram within the segment.
 */
#include "features/extractor.h"

/* One attribute, where all parts have a value; the segment is s .. e, any() begins at `at`. */
static bool see_template(const struct tr_extractor *extractor, const struct tr_planned *planned,
                         size_t s, size_t e, size_t at, struct tr_key *ret_key, float *ret_value)
{
    const struct tr_segment_values *values = &extractor->segments;
    uint32_t part = planned->source, end = part + planned->mixed;
    struct tr_key key = planned->key, value;
    float real;
    for (; part < end; part++) {
        if (!tr_segment_value(values, part, s, e, at, &value, &real)) {
            return false;
        }
        key = tr_mix(key, value);
    }
    for (end += planned->conditions; part < end; part++) {
        bool holds = tr_segment_value(values, part, s, e, at, &value, &real);
        if (holds == extractor->features->parts.at[part].negated) {
            return false;
        }
    }
    *ret_value = 1;
    for (end += planned->factors; part < end; part++) {
        if (!tr_segment_value(values, part, s, e, at, &value, &real)) {
            return false;
        }
        *ret_value *= real;
    }
    *ret_key = key;
    return true;
}

/* Whether a template has any(): it gives as many attributes as there are places. */
static bool has_any(const struct tr_extractor *extractor, const struct tr_planned *planned)
{
    for (uint32_t k = 0; k < planned->mixed; k++) {
        if (extractor->features->parts.at[planned->source + k].span == TR_SPAN_ANY) {
            return true;
        }
    }
    return false;
}

/* The attributes of the segment s .. e, written from `to` on; returns where they end. */
static size_t see_segment(struct tr_extractor *extractor, size_t s, size_t e, size_t to)
{
    struct tr_seen *seen = &extractor->observation.segment;
    const struct tr_plan *plan = &extractor->segment_plan;
    for (size_t t = 0; t < plan->count; t++) {
        size_t last = has_any(extractor, &plan->at[t]) ? e : s;
        for (size_t at = s; at <= last; at++) {
            struct tr_key key;
            if (see_template(extractor, &plan->at[t], s, e, at, &key, &seen->value[to])) {
                seen->low[to] = key.low;
                if (extractor->whole) {
                    seen->high[to] = key.high;
                    seen->template[to] = plan->at[t].number;
                }
                to++;
            }
        }
    }
    return to;
}

/* The most attributes that the templates can give to a segment. */
static size_t max_attributes(const struct tr_extractor *extractor)
{
    size_t count = 0;
    for (size_t t = 0; t < extractor->segment_plan.count; t++) {
        count += has_any(extractor, &extractor->segment_plan.at[t])
                     ? extractor->observation.max_segment
                     : 1;
    }
    return count;
}

trellis_status tr_extractor_see_segments(struct tr_extractor *extractor,
                                         const trellis_sequence *sequence, trellis_error *error)
{
    struct tr_observation *observation = &extractor->observation;
    struct tr_seen *seen = &observation->segment;
    size_t n = sequence->length, rows = observation->max_segment, segments = 0, attributes = 0;
    extractor->segments.max_segment = rows;
    trellis_status status = tr_segment_values_fill(&extractor->segments, sequence, error);
    if (!status && (__builtin_mul_overflow(n, rows, &segments) || segments > SIZE_MAX / 16 ||
                    __builtin_mul_overflow(segments, max_attributes(extractor), &attributes) ||
                    attributes > SIZE_MAX / 16)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        status = tr_reserve_seen(extractor, seen, &extractor->segment_room, segments, attributes,
                                 error);
    }
    if (status) {
        return status;
    }
    size_t at = 0, number = 0;
    seen->value = extractor->segment_room.value;
    for (size_t e = 0; e < n; e++) {
        for (size_t d = 1; d <= rows; d++) {
            seen->begin[number++] = at;
            if (d <= e + 1 && tr_extractor_describes(extractor, e + 1 - d, e)) {
                at = see_segment(extractor, e + 1 - d, e, at);
            }
        }
    }
    seen->begin[number] = at;
    return TRELLIS_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

void tr_extractor_segment_text(struct tr_extractor *extractor, const trellis_sequence *sequence,
                               size_t segment, size_t index, struct tr_buffer *buffer)
{
    const trellis_features *features = extractor->features;
    const struct tr_seen *seen = &extractor->observation.segment;
    size_t rows = extractor->observation.max_segment;
    size_t e = segment / rows, s = e - segment % rows, at = s, nth = 0;
    uint32_t number = seen->template[index];
    const struct tr_template *template = &features->templates.at[number];
    struct tr_planned planned = {template->key,        number,
                                 template->parts,      template->mixed,
                                 template->conditions, template->factors};
    for (size_t k = seen->begin[segment]; k < index; k++) {
        nth += seen->template[k] == number; // of the n-grams of any()
    }
    for (; at < e; at++) {
        struct tr_key key;
        float value;
        if (see_template(extractor, &planned, s, e, at, &key, &value) && nth-- == 0) {
            break;
        }
    }
    trellis_text text = tr_intern_text(&features->texts, template->text);
    tr_buffer_add(buffer, text.data + 1, text.size - 1); // without its kind
    for (uint32_t k = 0; k < template->mixed; k++) {
        tr_buffer_char(buffer, k ? '|' : '=');
        tr_segment_text(&extractor->segments, sequence, template->parts + k, s, e, at, buffer);
    }
}
