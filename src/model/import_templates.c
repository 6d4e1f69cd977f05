/* import_templates.c - the templates of a model in text form, as lines or as a block with their
 * word lists. */
#include "model/import.h"

/* The compiled templates point into `block` and `source`, which must not move afterwards. */
static trellis_status refuse_late_templates(struct tr_import *import, const struct tr_buffer *other)
{
    return import->features ? TR_REFUSE(import, "templates must come before the first 'word'")
           : other->size    ? TR_REFUSE(import, "use 'template' lines or 'block' lines, not both")
                            : TRELLIS_OK;
}

trellis_status tr_import_template(struct tr_import *import)
{
    trellis_text text = {0};
    trellis_status status = refuse_late_templates(import, &import->block);
    if (!status) {
        status = tr_import_text(import, 1, &text);
    }
    if (!status) {
        tr_buffer_text(&import->source, text);
        tr_buffer_char(&import->source, '\n');
        if (!tr_push(&import->template_lines, tr_input_place(import->input).line)) {
            return tr_fail_memory(import->error);
        }
    }
    return status;
}

trellis_status tr_import_block(struct tr_import *import)
{
    trellis_text hex = import->fields[1];
    trellis_status status = refuse_late_templates(import, &import->source);
    if (status) {
        return status;
    }
    import->block_line = tr_input_place(import->input).line;
    for (size_t i = 0; i < hex.size; i += 2) {
        int high = tr_import_hex(hex.data[i]),
            low = i + 1 < hex.size ? tr_import_hex(hex.data[i + 1]) : -1;
        if (high < 0 || low < 0) {
            return TR_REFUSE(import, "expected pairs of hexadecimal digits");
        }
        tr_buffer_char(&import->block, (char)(high * 16 + low));
    }
    return TRELLIS_OK;
}

/* Replaces the position in the templates' text by that in this file. */
static trellis_status blame_template(struct tr_import *import, trellis_status status,
                                     const trellis_error *cause)
{
    struct tr_place place = tr_input_place(import->input);
    const char *sentence = cause->message;
    place.line = import->block.size ? import->block_line : 0;
    if (cause->line > 0 && cause->line <= import->template_lines.size) {
        place.line = import->template_lines.at[cause->line - 1];
        const char *colon = strstr(sentence, ": ");
        sentence = colon ? colon + 2 : sentence;
    }
    return status == TRELLIS_MEMORY
               ? tr_fail_memory(import->error)
               : tr_fail_at(import->error, status == TRELLIS_MODEL ? TRELLIS_FORMAT : status, place,
                            "%s", sentence);
}

trellis_status tr_import_features(struct tr_import *import)
{
    trellis_error cause = {0};
    trellis_status status = TRELLIS_OK;
    if (import->source.failed || import->block.failed) {
        return tr_fail_memory(import->error);
    }
    if (import->features) {
        return TRELLIS_OK;
    }
    if (import->block.size) {
        status = tr_features_read(import->block.data, import->block.size, &import->features,
                                  &cause);
    } else if (import->source.size) {
        status = tr_features_parse((trellis_text){import->source.data, import->source.size},
                                   "imported", &import->features, &cause);
    } else {
        status = tr_features_none(&import->features, &cause);
    }
    return status ? blame_template(import, status, &cause) : TRELLIS_OK;
}
