/* chain.c - models that run one after the other: each adds its labels as a column for the next.
 *
 *     file -> reader -> [ tag, add a column -> reader ] -> ... -> reader of the last model
 *
 * Every stage is a source of sequences for the next one, so that what follows reads them as if they
 * came from a file. Columns are bound by name: the new one is the last, has the name that the label
 * had when the model was trained, and an older column of that name loses it. Without a name columns
 * are bound by position: the new one is where the label was in training, and what was there is the
 * last.
 */
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "model_file.h"
#include "model_input.h"

struct chain_stage {
    trellis_reader *input;
    trellis_tagger *tagger;
    const trellis_sequence *first; // read ahead, to know the columns; NULL: it was passed on
    trellis_status first_status;
    trellis_error first_error;
    char **names; // [columns + 1] of what it passes on; NULL for a column without a name
    size_t columns;
    size_t place;        // of the new column; the one that was there is the last
    bool gold;           // pass on the labels of the input
    trellis_text *cells; // [capacity]
    size_t capacity;
    trellis_sequence sequence;
};

/* ---- names ----------------------------------------------------------------------------------- */

/* The nth of some names, from 1, that are separated by commas; to be freed. */
static char *nth_name(const char *names, size_t n)
{
    while (names && --n > 0) {
        names = strchr(names, ',');
        names += names ? 1 : 0;
    }
    size_t size = names ? strcspn(names, ",") : 0;
    return size ? strndup(names, size) : NULL;
}

char *chain_column_name(const trellis_model *model)
{
    const char *label = trellis_model_note(model, "input-label");
    const char *names = trellis_model_note(model, "input-names");
    char *end;
    size_t number = label ? strtoul(label, &end, 10) : 0;
    if (label && number == 0) {
        return strdup(label);
    }
    return number && names ? nth_name(names, number) : NULL;
}

/* The column, from 0, that was the label in training; SIZE_MAX if it is known by name or not at
 * all. */
static size_t label_position(const trellis_model *model)
{
    const char *label = trellis_model_note(model, "input-label");
    return label ? strtoul(label, NULL, 10) - 1 : SIZE_MAX;
}

/* The names of the columns that are passed on, and the place of the new one; false on allocation
 * failure. */
static bool name_columns(struct chain_stage *stage, const trellis_model *model, size_t columns)
{
    stage->columns = columns;
    stage->names = calloc(columns + 1, sizeof *stage->names);
    char *added = chain_column_name(model);
    size_t position = label_position(model);
    stage->place = !added && position < columns ? position : columns;
    bool ok = stage->names != NULL;
    for (size_t i = 0; ok && i < columns; i++) {
        const char *name = trellis_reader_column_name(stage->input, i);
        bool replaced = name && added && strcasecmp(name, added) == 0;
        stage->names[i] = name && !replaced ? strdup(name) : NULL;
        ok = !name || replaced || stage->names[i];
    }
    if (ok && stage->place < columns) {
        stage->names[columns] = stage->names[stage->place];
        stage->names[stage->place] = NULL;
    } else if (ok) {
        stage->names[columns] = added;
    } else {
        free(added);
    }
    return ok;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* The sequence with the labels as one more column. Rows of running text stay: they are the text. */
static trellis_status add_column(struct chain_stage *stage, const trellis_sequence *sequence,
                                 const trellis_text *labels, trellis_error *error)
{
    size_t columns = stage->columns, need = sequence->length * (columns + 1);
    if (sequence->columns != columns) {
        return set_error(error, TRELLIS_DATA, "line %llu: %zu columns, those before have %zu",
                         (unsigned long long)sequence->line, sequence->columns, columns);
    }
    if (need > stage->capacity) {
        trellis_text *wider = realloc(stage->cells, need * sizeof *wider);
        if (!wider) {
            return set_error(error, TRELLIS_MEMORY, "out of memory");
        }
        stage->cells = wider;
        stage->capacity = need;
    }
    trellis_text *cell = stage->cells;
    for (size_t i = 0; i < sequence->length; i++) {
        for (size_t c = 0; c < columns; c++) {
            cell[c] = sequence->cells[i * columns + c];
        }
        cell[columns] = cell[stage->place];
        cell[stage->place] = labels[i];
        cell += columns + 1;
    }
    stage->sequence = *sequence;
    stage->sequence.columns = columns + 1;
    stage->sequence.cells = stage->cells;
    stage->sequence.labels = stage->gold ? sequence->labels : NULL;
    stage->sequence.writing = NULL;
    stage->sequence.elsewhere = NULL;
    bool is_text = sequence->row_count == 1 && sequence->length > 0 && sequence->row_token &&
                   sequence->row_token[0] == SIZE_MAX;
    if (!is_text) {
        stage->sequence.rows = NULL;
        stage->sequence.row_token = NULL;
        stage->sequence.row_count = 0;
    }
    return TRELLIS_OK;
}

static trellis_status next_sequence(void *user, const trellis_sequence **ret_sequence,
                                    trellis_error *error)
{
    struct chain_stage *stage = user;
    const trellis_sequence *sequence = stage->first;
    const trellis_text *labels;
    trellis_status status = TRELLIS_OK;
    *ret_sequence = NULL;
    if (stage->first_status) {
        *error = stage->first_error;
        return stage->first_status;
    }
    if (!sequence) {
        status = trellis_reader_next(stage->input, &sequence, error);
    }
    stage->first = NULL;
    if (!status) {
        status = trellis_tagger_tag(stage->tagger, sequence, &labels, error);
    }
    if (!status) {
        status = add_column(stage, sequence, labels, error);
        *ret_sequence = &stage->sequence;
    }
    return status;
}

/* ---- opening --------------------------------------------------------------------------------- */

trellis_status chain_open_models(struct chain *chain, const struct arguments *arguments,
                                 trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    const char *path;
    for (size_t i = 0; !status && (path = argument_nth(arguments, "model", i)); i++) {
        trellis_model *model = NULL;
        status = i > MAX_CHAIN
                     ? set_error(error, TRELLIS_LIMIT, "more than %d models", MAX_CHAIN + 1)
                     : open_model(path, arguments, &model, error);
        if (!status && chain->last) {
            chain->models[chain->count++] = chain->last;
        }
        chain->last = status ? chain->last : model;
    }
    return status;
}

void chain_close_models(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        trellis_model_close(chain->models[i]);
    }
    trellis_model_close(chain->last);
    *chain = (struct chain){0};
}

/* Opens the reader of what a stage passes on, with the context that the next model asks for. */
static trellis_status open_next(const trellis_source *source, const trellis_model *next,
                                trellis_reader **ret_reader, trellis_error *error)
{
    const char *context = trellis_model_note(next, "input-context");
    trellis_options *options = NULL;
    trellis_status status = trellis_options_create(&options, error);
    if (!status && context) {
        status = trellis_options_set(options, "context", context, error);
    }
    if (!status) {
        status = trellis_reader_open_source(source, options, ret_reader, error);
    }
    trellis_options_destroy(options);
    return status;
}

/* Makes a stage of a reader, which it then owns, and opens the reader of what it passes on to the
 * next model. */
static trellis_status open_stage(struct chain_stage *stage, const trellis_model *model,
                                 const trellis_model *next, const char *path, trellis_reader *input,
                                 trellis_reader **ret_reader, trellis_error *error)
{
    stage->input = input;
    stage->first_status = trellis_reader_next(input, &stage->first, &stage->first_error);
    trellis_status status = trellis_tagger_create(model, NULL, &stage->tagger, error);
    if (!status) {
        status = trellis_tagger_bind(stage->tagger, input, error);
    }
    if (!status && !name_columns(stage, model, stage->first ? stage->first->columns : 1)) {
        status = set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    const trellis_source source = {
        .struct_size = sizeof source,
        .next = next_sequence,
        .user = stage,
        .name = path,
        .column_names = (const char *const *)stage->names,
        .column_count = stage->columns + 1,
    };
    return status ? status : open_next(&source, next, ret_reader, error);
}

trellis_status chain_open(struct chain *chain, const char *path, const trellis_options *options,
                          trellis_reader **ret_reader, trellis_error *error)
{
    trellis_status status = trellis_reader_open(path, options, ret_reader, error);
    if (chain->count == 0 || status) {
        return status;
    }
    chain->stages = calloc(chain->count, sizeof *chain->stages);
    if (!chain->stages) {
        status = set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (size_t i = 0; !status && i < chain->count; i++) {
        trellis_reader *input = *ret_reader;
        *ret_reader = NULL;
        struct chain_stage *stage = &chain->stages[i];
        stage->gold = chain->gold;
        const trellis_model *next = i + 1 < chain->count ? chain->models[i + 1] : chain->last;
        status = open_stage(stage, chain->models[i], next, path, input, ret_reader, error);
        if (!status && i == 0 && stage->first) {
            status = check_input(chain->models[0], options, path, stage->first, error);
        }
    }
    return status;
}

void chain_close(struct chain *chain)
{
    for (size_t i = chain->count; chain->stages && i-- > 0;) {
        struct chain_stage *stage = &chain->stages[i];
        trellis_tagger_destroy(stage->tagger);
        trellis_reader_close(stage->input);
        for (size_t c = 0; stage->names && c <= stage->columns; c++) {
            free(stage->names[c]);
        }
        free(stage->names);
        free(stage->cells);
    }
    free(chain->stages);
    chain->stages = NULL;
}
