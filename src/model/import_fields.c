/* import_fields.c - fields of a line of a model in text form: texts, labels, weights and
 * numbers. */
#include <float.h>
#include <math.h>

#include "model/import.h"

static const struct {
    char written, meant;
} escapes[] = {{'\\', '\\'}, {'t', '\t'}, {'n', '\n'}, {'r', '\r'}};

bool tr_textform_unescape(struct tr_buffer *buffer, trellis_text field)
{
    for (size_t i = 0; i < field.size; i++) {
        char c = field.data[i];
        if (c == '\\') {
            size_t k = 0;
            i++;
            while (k < TR_COUNT(escapes) &&
                   (i >= field.size || escapes[k].written != field.data[i])) {
                k++;
            }
            if (k == TR_COUNT(escapes)) {
                return false;
            }
            c = escapes[k].meant;
        }
        tr_buffer_char(buffer, c);
    }
    return true;
}

trellis_status tr_import_text(struct tr_import *import, size_t i, trellis_text *ret_text)
{
    *ret_text = (trellis_text){"", 0};
    import->scratch.size = 0;
    if (!tr_textform_unescape(&import->scratch, import->fields[i])) {
        return TR_REFUSE(import, "unknown escape in '%.*s'", TR_SHOW(import->fields[i]));
    }
    tr_buffer_char(&import->scratch, 0);
    if (import->scratch.failed) {
        return tr_fail_memory(import->error);
    }
    *ret_text = (trellis_text){import->scratch.data, import->scratch.size - 1};
    return memchr(ret_text->data, 0, ret_text->size)
               ? TR_REFUSE(import, "the text contains a zero byte")
               : TRELLIS_OK;
}

trellis_status tr_import_label(struct tr_import *import, size_t i, bool ends, uint16_t *ret_label)
{
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    if (ends && tr_text_is(import->fields[i], "\\start")) {
        *ret_label = (uint16_t)labels;
        return TRELLIS_OK;
    }
    if (ends && tr_text_is(import->fields[i], "\\end")) {
        *ret_label = (uint16_t)(labels + 1);
        return TRELLIS_OK;
    }
    trellis_text text = {0};
    trellis_status status = tr_import_text(import, i, &text);
    if (status) {
        return status;
    }
    uint32_t label = tr_intern_find(&import->labels, text);
    if (label == TR_NONE) {
        return TR_REFUSE(import, "no label '%.*s'; labels must be listed before they are used",
                         TR_SHOW(text));
    }
    *ret_label = (uint16_t)label;
    return TRELLIS_OK;
}

trellis_status tr_import_weight(struct tr_import *import, size_t i, double *ret_weight)
{
    trellis_text text = import->fields[i];
    bool logarithm = tr_text_begins(text, "log(") && text.data[text.size - 1] == ')';
    if (logarithm) {
        text = (trellis_text){text.data + 4, text.size - 5};
    }
    double value;
    if (!tr_text_real(text, &value) || !(value <= FLT_MAX) ||
        (logarithm && (value < 0 || value > 1))) {
        return TR_REFUSE(
            import, "a weight must be a number, -inf, or log(p) with p from 0 to 1, not '%.*s'",
            TR_SHOW(import->fields[i]));
    }
    *ret_weight = logarithm ? log(value) : value;
    return TRELLIS_OK;
}

trellis_status tr_import_integer(struct tr_import *import, size_t i, int64_t max,
                                 uint32_t *ret_value)
{
    int64_t value;
    if (!tr_text_integer(import->fields[i], &value) || value < 0 || value > max) {
        return TR_REFUSE(import, "expected an integer from 0 to %lld, not '%.*s'", (long long)max,
                         TR_SHOW(import->fields[i]));
    }
    *ret_value = (uint32_t)value;
    return TRELLIS_OK;
}

int tr_import_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
