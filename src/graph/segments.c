/* segments.c - which labels begin, continue and end a segment of each type. */
#include "graph/segments.h"

#include "base/memory.h"
#include "base/text.h"
#include "corpus/corpus.h"

/* The type with this name among the first `types`, or a new one. `named` [types] is a label of each
 * type. */
static uint16_t find_type(struct tr_segments *segments, const trellis_text *labels, uint16_t *named,
                          trellis_text type, uint16_t label)
{
    for (uint32_t t = 0; t < segments->types; t++) {
        char letter;
        trellis_text name;
        tr_label_split(labels[named[t]], &letter, &name);
        if (tr_text_equal(name, type)) {
            return (uint16_t)t;
        }
    }
    named[segments->types] = label;
    segments->type[segments->types] = (struct tr_segment_type){
        TR_NO_LABEL, TR_NO_LABEL, TR_NO_LABEL, TR_NO_LABEL, TR_NO_LABEL, 1};
    return (uint16_t)segments->types++;
}

/* Notes the place of a label in the segments of its type. */
static void place_label(struct tr_segment_type *type, char letter, bool closed, uint16_t label)
{
    switch (letter) {
    case 'B':
        type->first = label;
        type->single = closed ? type->single : label;
        break;
    case 'I':
        type->inside = label;
        type->last = closed ? type->last : label;
        break;
    case 'E':
        type->last = label;
        break;
    default:
        type->single = label;
    }
}

static void find_types(struct tr_segments *segments, const trellis_text *labels, uint16_t *named)
{
    trellis_scheme scheme = tr_scheme_guess(labels, segments->labels);
    bool closed = scheme == TRELLIS_IOBES || scheme == TRELLIS_BILOU; // ends have a letter
    for (uint32_t c = 0; c < segments->labels; c++) {
        char letter;
        trellis_text name;
        segments->type_of[c] = TR_NO_LABEL;
        segments->begins[c] = true;
        tr_label_split(labels[c], &letter, &name);
        if (scheme != TRELLIS_NO_SCHEME && letter != 'O') {
            uint16_t t = find_type(segments, labels, named, name, (uint16_t)c);
            place_label(&segments->type[t], letter, closed, (uint16_t)c);
            segments->type_of[c] = t;
            segments->begins[c] = letter == 'B' || letter == 'S';
        }
    }
    for (uint32_t t = 0; t < segments->types; t++) {
        struct tr_segment_type *type = &segments->type[t];
        type->head = type->first != TR_NO_LABEL ? type->first : type->single;
    }
}

trellis_status tr_segments_create(const trellis_text *labels, uint32_t count,
                                  struct tr_segments **ret_segments, trellis_error *error)
{
    *ret_segments = NULL;
    if (count > TR_MAX_SEGMENT_LABELS) {
        return tr_fail(error, TRELLIS_LIMIT, "--segments takes at most %d labels, not %u",
                       TR_MAX_SEGMENT_LABELS, count);
    }
    struct tr_segments *segments = *ret_segments = tr_alloc(1, sizeof *segments);
    uint16_t *named = tr_alloc(count, sizeof *named);
    if (segments) {
        segments->labels = count;
        segments->max_length = 1;
        segments->type = tr_alloc(count, sizeof *segments->type);
        segments->type_of = tr_alloc(count, sizeof *segments->type_of);
        segments->begins = tr_alloc(count, sizeof *segments->begins);
    }
    if (!segments || !named || !segments->type || !segments->type_of || !segments->begins) {
        free(named);
        tr_segments_destroy(segments);
        *ret_segments = NULL;
        return tr_fail_memory(error);
    }
    find_types(segments, labels, named);
    free(named);
    return TRELLIS_OK;
}

void tr_segments_destroy(struct tr_segments *segments)
{
    if (segments) {
        free(segments->type);
        free(segments->type_of);
        free(segments->begins);
        free(segments);
    }
}

bool tr_segments_set_lengths(struct tr_segments *segments, const uint32_t *lengths)
{
    segments->max_length = 1;
    for (uint32_t t = 0; t < segments->types; t++) {
        if (lengths[t] < 1 || lengths[t] > TR_MAX_SEGMENT) {
            return false;
        }
        segments->type[t].max_length = lengths[t];
        segments->max_length = lengths[t] > segments->max_length ? lengths[t]
                                                                 : segments->max_length;
    }
    return true;
}

struct tr_segment tr_segment_at(const struct tr_segments *segments, const uint16_t *labels,
                                size_t length, size_t begin)
{
    struct tr_segment alone = {begin, begin + 1, TR_NO_LABEL};
    uint16_t c = labels[begin], t = c < segments->labels ? segments->type_of[c] : TR_NO_LABEL;
    if (t == TR_NO_LABEL || !segments->begins[c]) {
        return alone;
    }
    const struct tr_segment_type *type = &segments->type[t];
    bool closed = type->inside != type->last; // an end has a label of its own
    size_t end = begin + 1;
    while (c == type->first && type->inside != TR_NO_LABEL && end < length &&
           labels[end] == type->inside) {
        end++;
    }
    bool complete = !closed || (c == type->single && end == begin + 1);
    if (!complete && end < length && labels[end] == type->last) {
        complete = type->last != TR_NO_LABEL;
        end++;
    }
    bool goes_on = !closed && end < length && labels[end] == TR_NO_LABEL; // perhaps
    return complete && !goes_on ? (struct tr_segment){begin, end, t} : alone;
}
