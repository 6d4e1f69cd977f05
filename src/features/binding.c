/* binding.c - binds the columns of the templates to those of the input.
 *
 * A named column is searched among the names of the input, first by its own name, then by synonyms
 * ("word" is CoNLL-U's FORM). Where the input has no names, the position in the templates' own
 * `columns` line is used. The label is never an observation.
 */
#include "features/binding.h"

#include "corpus/corpus.h"

enum { MAX_INPUT_COLUMNS = 256 };

/* Synonyms; each group ends with NULL. */
static const char *const synonyms[] = {
    "word", "form",      "token", "text", NULL, //
    "pos",  "upos",      "xpos",  "tag",  NULL, //
    "char", "character", "word",  "form", NULL,
};

static size_t find_name(const trellis_reader *reader, const char *name)
{
    for (size_t i = 0; i < MAX_INPUT_COLUMNS; i++) {
        const char *column = trellis_reader_column_name(reader, i);
        if (column && tr_same_name(tr_text(column), name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Finds a column by a synonym: tries all groups that contain the name. */
static size_t find_synonym(const trellis_reader *reader, const char *name)
{
    for (size_t begin = 0, end; begin < TR_COUNT(synonyms); begin = end + 1) {
        bool ours = false;
        for (end = begin; synonyms[end]; end++) {
            ours |= tr_same_name(tr_text(synonyms[end]), name);
        }
        for (size_t i = begin; ours && i < end; i++) {
            size_t found = find_name(reader, synonyms[i]);
            if (found != SIZE_MAX) {
                return found;
            }
        }
    }
    return SIZE_MAX;
}

static size_t find_column(const struct tr_column *column, const trellis_reader *reader)
{
    if (!reader || !column->name[0]) {
        return column->position;
    }
    size_t found = find_name(reader, column->name);
    found = found == SIZE_MAX ? find_synonym(reader, column->name) : found;
    if (found == SIZE_MAX && column->position != SIZE_MAX &&
        !trellis_reader_column_name(reader, column->position)) {
        found = column->position; // the input has no name for it
    }
    return found;
}

/* The names of the input's columns, for a message. */
static void list_names(const trellis_reader *reader, struct tr_buffer *buffer)
{
    for (size_t i = 0; reader && i < MAX_INPUT_COLUMNS; i++) {
        const char *name = trellis_reader_column_name(reader, i);
        if (name && buffer->size < 300) {
            tr_buffer_format(buffer, "%s%s", buffer->size ? " " : "", name);
        }
    }
    tr_buffer_add(buffer, "", 1);
}

static trellis_status fail_missing(const struct tr_column *column, const trellis_reader *reader,
                                   trellis_error *error)
{
    struct tr_buffer names = {0};
    list_names(reader, &names);
    bool any = !names.failed && names.size > 1;
    tr_fail(error, TRELLIS_TEMPLATE,
            "the templates need a column '%s', but the input has %s%s; a line 'columns' in the "
            "templates, or the option --columns, names columns by position",
            column->name, any ? "only " : "no names for its columns", any ? names.data : "");
    tr_buffer_free(&names);
    return TRELLIS_TEMPLATE;
}

static trellis_status fail_label(const struct tr_column *column, trellis_error *error)
{
    if (column->name[0]) {
        return tr_fail(error, TRELLIS_TEMPLATE,
                       "the templates use the column '%s', which is the label", column->name);
    }
    return tr_fail(error, TRELLIS_TEMPLATE, "the templates use column %zu, which is the label",
                   column->position + 1);
}

bool tr_binding_create(struct tr_binding *binding, const trellis_features *features)
{
    binding->at = tr_alloc(features->columns.size, sizeof *binding->at);
    return binding->at != NULL;
}

void tr_binding_free(struct tr_binding *binding)
{
    free(binding->at);
}

/* Whether some view uses a column; a column that no template uses may be missing. */
static bool is_used(const trellis_features *features, uint32_t column)
{
    for (size_t i = 0; i < features->views.size; i++) {
        if (features->views.at[i].column == column) {
            return true;
        }
    }
    return false;
}

trellis_status tr_binding_make(struct tr_binding *binding, const trellis_features *features,
                               const trellis_reader *reader, size_t label_column,
                               trellis_error *error)
{
    binding->made = false;
    for (uint32_t i = 0; i < features->columns.size; i++) {
        const struct tr_column *column = &features->columns.at[i];
        size_t found = find_column(column, reader);
        bool label = found != SIZE_MAX && found == label_column;
        if (is_used(features, i) && !column->optional && (label || found == SIZE_MAX)) {
            return label ? fail_label(column, error) : fail_missing(column, reader, error);
        }
        binding->at[i] = label ? SIZE_MAX : found;
    }
    binding->made = true;
    return TRELLIS_OK;
}
