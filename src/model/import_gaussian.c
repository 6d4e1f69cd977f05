/* import_gaussian.c - the normal distributions of a model in text form, a label and a column a
 * line. */
#include "model/import_gaussian.h"

void tr_normal_lines_free(struct tr_normal_lines *lines)
{
    tr_intern_free(&lines->columns);
    free(lines->lines.at);
    free(lines->both);
    tr_buffer_free(&lines->names);
}

static bool write_names(struct tr_normal_lines *lines)
{
    for (uint32_t d = 0; d < tr_intern_count(&lines->columns); d++) {
        tr_buffer_string(&lines->names, d ? "," : "");
        tr_buffer_text(&lines->names, tr_intern_text(&lines->columns, d));
    }
    tr_buffer_char(&lines->names, 0);
    return !lines->names.failed;
}

trellis_status tr_normal_lines_make(struct tr_normal_lines *lines, const struct tr_intern *labels,
                                    struct tr_gaussian *ret_gaussian, trellis_error *error)
{
    size_t columns = tr_intern_count(&lines->columns), count = tr_intern_count(labels);
    size_t cells = columns * count;
    *ret_gaussian = (struct tr_gaussian){0};
    if (columns == 0) {
        return TRELLIS_OK;
    }
    lines->both = tr_alloc(2 * cells, sizeof *lines->both);
    if (!lines->both || !write_names(lines)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < lines->lines.size; i++) {
        struct tr_normal_line line = lines->lines.at[i];
        size_t at = line.label * columns + line.column;
        if (lines->both[cells + at] != 0) { // no variance is 0
            return tr_fail(error, TRELLIS_FORMAT,
                           "the label '%.*s' has two distributions for the column '%.*s'",
                           TR_SHOW(tr_intern_text(labels, line.label)),
                           TR_SHOW(tr_intern_text(&lines->columns, line.column)));
        }
        lines->both[at] = line.mean;
        lines->both[cells + at] = line.variance;
    }
    for (size_t at = 0; at < cells; at++) {
        if (lines->both[cells + at] == 0) {
            return tr_fail(error, TRELLIS_FORMAT,
                           "the label '%.*s' has no distribution for the column '%.*s'",
                           TR_SHOW(tr_intern_text(labels, (uint32_t)(at / columns))),
                           TR_SHOW(tr_intern_text(&lines->columns, (uint32_t)(at % columns))));
        }
    }
    *ret_gaussian = (struct tr_gaussian){(uint32_t)count, (uint32_t)columns, lines->both,
                                         lines->both + cells, lines->names.data};
    return TRELLIS_OK;
}
