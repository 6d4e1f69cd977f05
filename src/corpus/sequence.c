/* sequence.c - checks a sequence that a caller built, before anything reads it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/structs.h"
#include "base/text.h"
#include "corpus/corpus.h"

trellis_status tr_sequence_take(const trellis_sequence *theirs, trellis_sequence *ret_sequence,
                                trellis_error *error)
{
    const trellis_sequence *s = ret_sequence;
    if (!tr_struct_take(ret_sequence, sizeof *ret_sequence, theirs)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    const char *wrong = s->columns && s->length && !s->cells ? "has columns but no cells"
                        : !s->attribute_begin && s->attributes
                            ? "has only one of attributes and attribute_begin"
                        : s->rows && !s->row_token ? "has rows but no row_token"
                                                   : NULL;
    for (size_t i = 0; !wrong && s->attribute_begin && i < s->length; i++) {
        wrong = s->attribute_begin[i] > s->attribute_begin[i + 1]
                    ? "has a descending attribute_begin"
                    : NULL;
    }
    if (!wrong && s->attribute_begin && !s->attributes &&
        s->attribute_begin[s->length] > s->attribute_begin[0]) {
        wrong = "has only one of attributes and attribute_begin";
    }
    return wrong ? tr_fail(error, TRELLIS_DATA, "the sequence %s", wrong) : TRELLIS_OK;
}

trellis_status tr_fail_token(trellis_error *error, trellis_status status,
                             const trellis_sequence *sequence, size_t token, const char *format,
                             ...)
{
    char what[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    struct tr_place place = {.line = sequence->line ? tr_token_line(sequence, token) : 0};
    return place.line ? tr_fail_at(error, status, place, "line %llu: %s",
                                   (unsigned long long)place.line, what)
                      : tr_fail(error, status, "token %zu: %s", token + 1, what);
}

static trellis_status check_attributes(const trellis_sequence *s, size_t number,
                                       trellis_error *error)
{
    for (size_t i = 0; i < s->length; i++) {
        if (s->attribute_begin[i] > s->attribute_begin[i + 1]) {
            return tr_fail(error, TRELLIS_DATA,
                           "sequence %zu: attribute_begin descends at token %zu", number, i + 1);
        }
        for (size_t k = s->attribute_begin[i]; k < s->attribute_begin[i + 1]; k++) {
            const trellis_attribute *attribute = &s->attributes[k];
            if (!isfinite((float)attribute->value)) {
                return tr_fail(error, TRELLIS_DATA,
                               "sequence %zu, token %zu: the value of attribute '%.*s' is not a "
                               "finite number",
                               number, i + 1, TR_SHOW(attribute->name));
            }
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_sequence_check(const trellis_sequence *s, size_t number, trellis_error *error)
{
    const char *wrong = !s->columns && !s->attribute_begin ? "has neither columns nor attributes"
                        : s->columns && !s->cells          ? "has columns but no cells"
                        : !s->attribute_begin != !s->attributes
                            ? "has only one of attributes and attribute_begin"
                        : !(s->weight >= 0) || isinf((float)s->weight)
                            ? "has a weight that is not a finite number from 0 up"
                            : NULL;
    if (wrong) {
        return tr_fail(error, TRELLIS_DATA, "sequence %zu %s", number, wrong);
    }
    return s->attribute_begin ? check_attributes(s, number, error) : TRELLIS_OK;
}
