/* spans.c - the spans encoded by a sequence of labels.
 *
 * A sequence is first cut into spans by the lenient rules of conlleval, which read any sequence of
 * letters: I-X after O begins a span just as B-X does. A strict reading then keeps those spans
 * whose letters the scheme allows:
 *
 *     IOB1    I I*    and    B I*  directly after a span of the same type
 *     IOB2    B I*
 *     IOBES   S       and    B I* E        (BILOU is the same, with L for E and U for S)
 */
#include "eval/spans.h"

#include "corpus/corpus.h"
#include "model/model.h"

bool tr_span_label_read(trellis_text label, char *letter, trellis_text *type)
{
    char first = label.size == 1 ? label.data[0] : '\0';
    if (first == 'B' || first == 'I' || first == 'E' || first == 'S') {
        *letter = first;
        *type = (trellis_text){"", 0};
        return true;
    }
    bool in_spans = tr_label_split(label, letter, type) || tr_text_is(label, "O");
    if (*letter == 'O') {
        *type = (trellis_text){"", 0};
    }
    return in_spans;
}

/* The two cuts depend on whether the types agree, not on their texts. */
static trellis_text type_text(uint32_t type, uint32_t other)
{
    return type == other ? TR_TEXT("same") : TR_TEXT("other");
}

static bool ends(struct tr_span_label before, struct tr_span_label after)
{
    return tr_span_ends(before.letter, TR_TEXT("same"), after.letter,
                        type_text(after.type, before.type));
}

static bool begins(struct tr_span_label before, struct tr_span_label after)
{
    return tr_span_begins(before.letter, TR_TEXT("same"), after.letter,
                          type_text(after.type, before.type));
}

bool tr_span_cut(struct tr_span_label before, struct tr_span_label after)
{
    return ends(before, after) || begins(before, after);
}

static bool all_inside(const struct tr_span_label *readings, const uint32_t *labels, size_t from,
                       size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (readings[labels[i]].letter != 'I') {
            return false;
        }
    }
    return true;
}

static bool legal(trellis_scheme scheme, const struct tr_span_label *readings,
                  const uint32_t *labels, struct tr_span span)
{
    char first = readings[labels[span.begin]].letter;
    char last = readings[labels[span.end - 1]].letter;
    switch (scheme) {
    case TRELLIS_IOB1: {
        bool adjacent = span.begin > 0 && readings[labels[span.begin - 1]].letter != 'O' &&
                        readings[labels[span.begin - 1]].type == span.type;
        return (first == 'I' || (first == 'B' && adjacent)) &&
               all_inside(readings, labels, span.begin + 1, span.end);
    }
    case TRELLIS_IOB2:
        return first == 'B' && all_inside(readings, labels, span.begin + 1, span.end);
    case TRELLIS_IOBES:
    case TRELLIS_BILOU:
        if (span.end - span.begin == 1) {
            return first == 'S';
        }
        return first == 'B' && last == 'E' &&
               all_inside(readings, labels, span.begin + 1, span.end - 1);
    case TRELLIS_NO_SCHEME:
        break;
    }
    return true;
}

bool tr_spans_find(struct tr_spans *spans, const uint32_t *labels, size_t length,
                   const struct tr_span_label *readings, trellis_scheme strict)
{
    const struct tr_span_label outside = {'O', true, UINT32_MAX};
    struct tr_span_label before = outside;
    struct tr_span open = {0};
    bool is_open = false;
    spans->list.size = 0;
    for (size_t i = 0; i <= length; i++) {
        struct tr_span_label here = i < length ? readings[labels[i]] : outside;
        bool starts = begins(before, here);
        if (is_open && (starts || ends(before, here))) {
            open.end = i;
            is_open = false;
            if (legal(strict, readings, labels, open) && !tr_push(&spans->list, open)) {
                return false;
            }
        }
        if (starts) {
            open = (struct tr_span){i, i, here.type};
            is_open = true;
        }
        before = here;
    }
    return true;
}

/* ---- of texts -------------------------------------------------------------------------------- */

/* Types are compared with those of the neighbours only, so that a new number for each change of
 * the type will do. */
size_t trellis_spans_find(const trellis_text *labels, size_t length, trellis_span *ret_spans)
{
    if (!labels || !ret_spans) {
        return 0;
    }
    struct tr_span_label before = {'O', true, 0};
    trellis_text before_type = {"", 0};
    size_t count = 0;
    bool is_open = false;
    for (size_t i = 0; i <= length; i++) {
        struct tr_span_label here = {'O', true, 0};
        trellis_text type = {"", 0};
        if (i < length && !tr_span_label_read(labels[i], &here.letter, &type)) {
            here.letter = 'O';
            type = (trellis_text){"", 0};
        }
        here.type = before.type + !tr_text_equal(type, before_type);
        if (is_open && tr_span_cut(before, here)) {
            ret_spans[count++].end = i;
            is_open = false;
        }
        if (begins(before, here)) {
            ret_spans[count] = (trellis_span){type, i, i};
            is_open = true;
        }
        before = here;
        before_type = type;
    }
    return count;
}

bool trellis_model_has_spans(const trellis_model *model)
{
    if (!model) {
        return false;
    }
    bool all = true, any = false;
    for (size_t i = 0; all && i < trellis_model_label_count(model); i++) {
        char letter;
        trellis_text type;
        all = tr_span_label_read(trellis_model_label(model, i), &letter, &type);
        any = any || letter != 'O';
    }
    return all && any;
}
