/* sequence.c - checks a sequence that a caller built, before anything reads it. */
#include <math.h>

#include "base/structs.h"
#include "base/text.h"
#include "corpus/corpus.h"

trellis_status tr_sequence_take(const trellis_sequence *theirs, trellis_sequence *ret_sequence,
                                trellis_error *error)
{
    return tr_struct_take(ret_sequence, sizeof *ret_sequence, theirs)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
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
