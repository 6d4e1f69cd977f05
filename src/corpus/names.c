/* names.c - finds columns by name, among them the label.
 *
 * A column has the name that --columns gives it, else that of the format, else that in the file.
 * Options name a column by its name, ignoring case, or by its number from 1.
 */
#include "corpus/reader.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool tr_same_name(trellis_text a, const char *b)
{
    size_t i = 0;
    while (i < a.size && b[i] && lower(a.data[i]) == lower(b[i])) {
        i++;
    }
    return i == a.size && b[i] == '\0';
}

bool tr_names_parse(struct tr_names *names, const char *option)
{
    names->text = tr_copy_text(option, strlen(option));
    if (!names->text) {
        return false;
    }
    char *at = names->text;
    while (*at) {
        char *end = at + strcspn(at, ",");
        bool last = *end == '\0';
        *end = '\0';
        if (!tr_push(&names->given, at)) {
            return false;
        }
        at = last ? end : end + 1;
    }
    return true;
}

void tr_names_free(struct tr_names *names)
{
    for (size_t i = 0; i < names->found.size; i++) {
        free(names->found.at[i]);
    }
    free(names->found.at);
    free(names->given.at);
    free(names->text);
}

const char *tr_names_at(const struct tr_names *names, const struct tr_format *format, size_t column)
{
    if (column < names->given.size && names->given.at[column][0]) {
        return names->given.at[column];
    }
    if (column < format->name_count) {
        return format->names[column];
    }
    return column < names->found.size ? names->found.at[column] : NULL;
}

size_t tr_names_find(const struct tr_names *names, const struct tr_format *format,
                     trellis_text name)
{
    size_t count = names->given.size > names->found.size ? names->given.size : names->found.size;
    count = count > format->name_count ? count : format->name_count;
    for (size_t i = 0; i < count; i++) {
        const char *at = tr_names_at(names, format, i);
        if (at && tr_same_name(name, at)) {
            return i;
        }
    }
    return TR_NO_COLUMN;
}

size_t tr_reader_column(const trellis_reader *reader, trellis_text name)
{
    int64_t number;
    size_t column = reader ? tr_names_find(&reader->names, reader->format, name) : TR_NO_COLUMN;
    if (column == TR_NO_COLUMN && tr_text_integer(name, &number) && number > 0) {
        column = (size_t)number - 1;
    }
    return column;
}

size_t tr_names_word(const struct tr_names *names, const struct tr_format *format, size_t except)
{
    static const char *const words[] = {"word", "form", "token", "tokens"};
    for (size_t i = 0; i < TR_COUNT(words); i++) {
        size_t column = tr_names_find(names, format, tr_text(words[i]));
        if (column != TR_NO_COLUMN && column != except) {
            return column;
        }
    }
    return TR_NO_COLUMN;
}

size_t tr_reader_word_column(const trellis_reader *reader, size_t label_column)
{
    size_t column = reader ? tr_names_word(&reader->names, reader->format, label_column)
                           : TR_NO_COLUMN;
    return column != TR_NO_COLUMN ? column : label_column == 0 ? SIZE_MAX : 0;
}

bool tr_without_label(const trellis_reader *reader)
{
    return strcmp(reader->label, "none") == 0;
}

trellis_status tr_find_label(trellis_reader *reader, size_t last, struct tr_place place,
                             trellis_error *error)
{
    reader->label_column = TR_NO_COLUMN;
    if (tr_without_label(reader)) {
        return TRELLIS_OK;
    }
    if (strcmp(reader->label, "last") == 0) {
        reader->label_column = last;
        return TRELLIS_OK;
    }
    size_t column = tr_reader_column(reader, tr_text(reader->label));
    const char *plural = reader->columns == 1 ? "" : "s";
    if (column == TR_NO_COLUMN) {
        return tr_fail_at(
            error, TRELLIS_FORMAT, place,
            "there is no label column '%s': %zu column%s found; --columns names them, "
            "and --label also takes a number from 1",
            reader->label, reader->columns, plural);
    }
    if (column >= reader->columns) {
        return tr_fail_at(error, TRELLIS_FORMAT, place,
                          "the label column '%s' is column %zu, but %zu column%s found; --label "
                          "takes another one",
                          reader->label, column + 1, reader->columns, plural);
    }
    reader->label_column = column;
    return TRELLIS_OK;
}
