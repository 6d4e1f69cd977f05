/* predicted_columns.c - training data in which another model predicts a column (--columns-from).
 *
 *     files -> corpus in K contiguous folds, with the label of the first model
 *           -> each fold labelled by a model of all others (jackknifing)
 *     files, these labels -> corpus of the second model
 *
 * A model that has seen a sentence labels it better than new text, so the second model would learn
 * to trust columns more than they will deserve. The labels take the place of the column that they
 * predict; where that is also the label of the second model, they are one more column, FIRST_PASS.
 * Dev data is labelled by the first model of all folds, as new text will be.
 */
#include "predicted_columns.h"

#include <stdlib.h>
#include <string.h>

#include "columns_from.h"
#include "message.h"

#define FIRST_PASS "first_pass"

/* A copy for data that was read before, with all its names. */
static trellis_status options_in_memory(const trellis_options *options,
                                        trellis_options **ret_options, trellis_error *error)
{
    trellis_status status = trellis_options_copy(options, ret_options, error);
    if (!status) {
        status = trellis_options_set(*ret_options, "part", "", error);
    }
    return status ? status : trellis_options_set(*ret_options, "columns", "", error);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The sequences of some files, one after the other. */
struct files {
    const char *const *paths; // [count]
    size_t count, at;
    const trellis_options *options;
    trellis_reader *reader; // of the file before `at`, or NULL
};

static trellis_status files_next(struct files *files, const trellis_sequence **ret_sequence,
                                 trellis_error *error)
{
    trellis_status status = TRELLIS_END;
    while (status == TRELLIS_END && (files->reader || files->at < files->count)) {
        if (!files->reader) {
            status = trellis_reader_open(files->paths[files->at++], files->options, &files->reader,
                                         error);
            if (status) {
                return status;
            }
        }
        status = trellis_reader_next(files->reader, ret_sequence, error);
        if (status == TRELLIS_END) {
            trellis_reader_close(files->reader);
            files->reader = NULL;
        }
    }
    return status;
}

/* What the files look like. */
struct shape {
    size_t sequences, columns;
    size_t label; // its column, SIZE_MAX: none
    char **names; // [columns + 1] or NULL each; the last one is free for FIRST_PASS
};

static void shape_free(struct shape *shape)
{
    for (size_t i = 0; shape->names && i <= shape->columns; i++) {
        free(shape->names[i]);
    }
    free(shape->names);
}

static trellis_status take_shape(struct shape *shape, const trellis_reader *reader,
                                 const trellis_sequence *sequence, trellis_error *error)
{
    shape->columns = sequence->columns;
    shape->label = trellis_reader_label_column(reader);
    shape->names = calloc(shape->columns + 1, sizeof *shape->names);
    bool ok = shape->names;
    for (size_t i = 0; ok && i < shape->columns; i++) {
        const char *name = trellis_reader_column_name(reader, i);
        shape->names[i] = name ? strdup(name) : NULL;
        ok = shape->names[i] || !name;
    }
    return ok ? TRELLIS_OK : set_error(error, TRELLIS_MEMORY, "out of memory");
}

static trellis_status survey(struct files files, struct shape *shape, trellis_error *error)
{
    const trellis_sequence *sequence;
    trellis_status status = TRELLIS_OK;
    while (!status && !(status = files_next(&files, &sequence, error))) {
        if (shape->sequences++ == 0) {
            status = take_shape(shape, files.reader, sequence, error);
        }
    }
    trellis_reader_close(files.reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* ---- corpora --------------------------------------------------------------------------------- */

/* What is made of the files: sequences in folds, or with labels as a column. */
struct making {
    struct files files;
    const struct shape *shape;
    size_t folds, taken;    // folds: 0 for none
    trellis_reader *labels; // of one column; NULL: none are added
    size_t place;           // where they go: shape->columns is a new column
    trellis_text *cells;    // [capacity]
    size_t capacity;
    trellis_sequence sequence;
};

static trellis_status add_labels(struct making *making, trellis_error *error)
{
    const trellis_sequence *from = &making->sequence, *labels;
    trellis_status status = trellis_reader_next(making->labels, &labels, error);
    if (status == TRELLIS_END || (!status && labels->length != from->length)) {
        return set_error(error, TRELLIS_DATA,
                         "line %llu: the file changed while --columns-from was reading it",
                         (unsigned long long)from->line);
    }
    size_t old = from->columns, columns = old + (making->place == old);
    size_t need = from->length * columns;
    if (!status && need > making->capacity) {
        free(making->cells);
        making->cells = calloc(need, sizeof *making->cells);
        making->capacity = making->cells ? need : 0;
    }
    if (status || need > making->capacity) {
        return status ? status : set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < from->length; i++) {
        memcpy(making->cells + i * columns, from->cells + i * old, old * sizeof *making->cells);
        making->cells[i * columns + making->place] = labels->cells[i];
    }
    making->sequence.cells = making->cells;
    making->sequence.columns = columns;
    return TRELLIS_OK;
}

static trellis_status next_made(void *user, const trellis_sequence **ret_sequence,
                                trellis_error *error)
{
    struct making *making = user;
    const trellis_sequence *sequence;
    trellis_status status = files_next(&making->files, &sequence, error);
    if (status) {
        return status;
    }
    if (sequence->columns != making->shape->columns) {
        return set_error(error, TRELLIS_DATA, "line %llu: %zu columns, those before have %zu",
                         (unsigned long long)sequence->line, sequence->columns,
                         making->shape->columns);
    }
    making->sequence = *sequence;
    making->sequence.rows = NULL;
    making->sequence.row_token = NULL;
    making->sequence.row_count = 0;
    making->sequence.writing = NULL; // the context is found when the corpus is read
    making->sequence.elsewhere = NULL;
    making->sequence.group = (uint32_t)(making->taken++ * making->folds / making->shape->sequences);
    *ret_sequence = &making->sequence;
    return making->labels ? add_labels(making, error) : TRELLIS_OK;
}

static trellis_status make_corpus(struct making *making, trellis_corpus **ret_corpus,
                                  trellis_error *error)
{
    const struct shape *shape = making->shape;
    bool new_column = making->labels && making->place == shape->columns;
    const trellis_source source = {
        .struct_size = sizeof source,
        .next = next_made,
        .user = making,
        .name = making->files.paths[0],
        .column_names = (const char *const *)shape->names,
        .column_count = shape->columns + new_column,
        .label_column = shape->label + 1, // SIZE_MAX + 1 is 0: none
    };
    trellis_status status = trellis_corpus_create(ret_corpus, error);
    if (!status) {
        status = trellis_corpus_read(*ret_corpus, &source, NULL, error);
    }
    trellis_reader_close(making->files.reader);
    free(making->cells);
    return status;
}

/* A pipe has nothing left when it is read again. */
static trellis_status check_count(const trellis_corpus *corpus, size_t wanted, const char *path,
                                  trellis_error *error)
{
    size_t found = trellis_corpus_sequences(corpus);
    return found == wanted
               ? TRELLIS_OK
               : set_error(error, TRELLIS_DATA,
                           "%s: read again, it has %zu sequence%s instead of %zu; --columns-from "
                           "needs files that can be read several times",
                           path, found, plural(found), wanted);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Adds the labels that a model predicts for a source, as sequences of one column. */
static trellis_status predict(const trellis_model *model, const trellis_source *source,
                              trellis_corpus *labels, trellis_error *error)
{
    const char *context = trellis_model_note(model, "input-context");
    trellis_options *options = NULL;
    trellis_reader *reader = NULL;
    trellis_tagger *tagger = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_options_create(&options, error);
    if (!status && context) {
        status = trellis_options_set(options, "context", context, error);
    }
    if (!status) {
        status = trellis_reader_open_source(source, options, &reader, error);
    }
    if (!status) {
        status = trellis_tagger_create(model, NULL, &tagger, error);
    }
    if (!status) {
        status = trellis_tagger_bind(tagger, reader, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        trellis_sequence column = {
            .struct_size = sizeof column, .length = sequence->length, .columns = 1, .weight = 1};
        status = trellis_tagger_tag(tagger, sequence, &column.cells, error);
        if (!status) {
            status = trellis_corpus_add(labels, &column, error);
        }
    }
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* All that the first model is made of and for. */
struct first_model {
    const struct arguments *arguments; // of the command
    const trellis_cancellation *cancellation;
    trellis_options *files, *memory; // reads its files; trains it in memory
    trellis_options *second;         // reads the files of the second model
    struct shape shape;              // of the training files, for the first model,
    struct shape second_shape;       // and for the second
    size_t folds, place;             // place: the column of its labels
    trellis_corpus *data;            // in folds
};

/* Trains on all groups, or on all but one. An interrupted model is none. */
static trellis_status train_first(const struct first_model *first, trellis_group_rule groups,
                                  uint32_t group, trellis_model **ret_model, trellis_error *error)
{
    const trellis_source source = {.struct_size = sizeof source,
                                   .corpus = first->data,
                                   .name = first->arguments->paths[0],
                                   .groups = groups,
                                   .group = group};
    const trellis_training training = {.struct_size = sizeof training,
                                       .train = &source,
                                       .train_count = 1,
                                       .cancellation = first->cancellation};
    trellis_status status = trellis_train(first->memory, &training, ret_model, error);
    if (status == TRELLIS_INTERRUPTED) {
        trellis_model_close(*ret_model);
        *ret_model = NULL;
    }
    return status;
}

/* The labels of the training data, each fold by a model of all others. */
static trellis_status jackknife(const struct first_model *first, trellis_corpus *labels,
                                trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t k = 0; !status && k < first->folds; k++) {
        trellis_model *model = NULL;
        const trellis_source held_out = {.struct_size = sizeof held_out,
                                         .corpus = first->data,
                                         .groups = TRELLIS_ONLY_GROUP,
                                         .group = (uint32_t)k};
        if (!argument_flag(first->arguments, "quiet")) {
            message("first model: fold %zu of %zu", k + 1, first->folds);
        }
        status = train_first(first, TRELLIS_EXCEPT_GROUP, (uint32_t)k, &model, error);
        if (!status) {
            status = predict(model, &held_out, labels, error);
        }
        trellis_model_close(model);
    }
    return status;
}

/* The files of the second model with some labels. */
static trellis_status add_column(const struct first_model *first, struct files files,
                                 const struct shape *shape, const trellis_corpus *labels,
                                 trellis_corpus **ret_corpus, trellis_error *error)
{
    const trellis_source source = {.struct_size = sizeof source, .corpus = labels};
    struct making making = {.files = files, .shape = shape, .place = first->place};
    trellis_status status = trellis_reader_open_source(&source, NULL, &making.labels, error);
    if (!status) {
        status = make_corpus(&making, ret_corpus, error);
    }
    trellis_reader_close(making.labels);
    return status
               ? status
               : check_count(*ret_corpus, trellis_corpus_sequences(labels), files.paths[0], error);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The column FIRST_PASS: that is what the first model calls its label, so that a chain of both
 * finds it by name. */
static trellis_status name_first_pass(struct shape *shape, size_t place, trellis_error *error)
{
    for (size_t i = 0; i < shape->columns; i++) {
        if (!shape->names[i]) {
            return set_error(error, TRELLIS_OPTION,
                             "the labels of a first pass are a column '" FIRST_PASS
                             "', which is found by its name: name all %zu columns with --columns; "
                             "or --columns-from needs --label",
                             shape->columns);
        }
        if (strcasecmp(shape->names[i], FIRST_PASS) == 0) {
            return set_error(error, TRELLIS_OPTION,
                             "there is a column '" FIRST_PASS "', the name for the labels of a "
                             "first pass; give it another name with --columns");
        }
    }
    free(shape->names[place]);
    shape->names[place] = strdup(FIRST_PASS);
    return shape->names[place] ? TRELLIS_OK : set_error(error, TRELLIS_MEMORY, "out of memory");
}

/* Compares the labels of both models and finds the place for those of the first. */
static trellis_status find_place(struct first_model *first, trellis_error *error)
{
    struct shape *shape = &first->shape, *second = &first->second_shape;
    if (shape->sequences < first->folds) {
        return set_error(
            error, TRELLIS_DATA, "%s: %zu sequence%s cannot be split into %zu folds (--folds)",
            first->arguments->paths[0], shape->sequences, plural(shape->sequences), first->folds);
    }
    if (shape->label >= shape->columns) {
        return set_error(error, TRELLIS_OPTION,
                         "--columns-from needs a column of labels (--label)");
    }
    bool two_passes = shape->label == second->label;
    first->place = two_passes ? second->columns : shape->label;
    trellis_status status = two_passes ? name_first_pass(shape, shape->label, error) : TRELLIS_OK;
    return status || !two_passes ? status : name_first_pass(second, second->columns, error);
}

static trellis_status prepare(struct first_model *first, trellis_error *error)
{
    const struct arguments *arguments = first->arguments;
    struct files files = {.paths = (const char *const *)arguments->paths,
                          .count = arguments->path_count,
                          .options = first->files};
    trellis_status status = survey(files, &first->shape, error);
    files.options = first->second;
    if (!status) {
        status = survey(files, &first->second_shape, error);
    }
    if (!status) {
        status = find_place(first, error);
    }
    struct making making = {.files = files, .shape = &first->shape, .folds = first->folds};
    making.files.options = first->files;
    if (!status) {
        status = make_corpus(&making, &first->data, error);
    }
    return status ? status
                  : check_count(first->data, first->shape.sequences, files.paths[0], error);
}

/* ---- data of the second model ---------------------------------------------------------------- */

static trellis_status make_train(const struct first_model *first, trellis_corpus **ret_corpus,
                                 trellis_error *error)
{
    const struct files files = {.paths = (const char *const *)first->arguments->paths,
                                .count = first->arguments->path_count,
                                .options = first->second};
    trellis_corpus *labels = NULL;
    trellis_status status = trellis_corpus_create(&labels, error);
    if (!status) {
        status = jackknife(first, labels, error);
    }
    if (!status) {
        status = add_column(first, files, &first->second_shape, labels, ret_corpus, error);
    }
    trellis_corpus_destroy(labels);
    return status;
}

/* --part does not apply to dev data. */
static trellis_status make_dev(const struct first_model *first, const char *path,
                               const trellis_model *model, trellis_corpus **ret_corpus,
                               trellis_error *error)
{
    trellis_options *options = NULL;
    trellis_corpus *plain = NULL, *labels = NULL;
    struct shape shape = first->second_shape;
    struct files files = {.paths = &path, .count = 1};
    trellis_status status = trellis_options_copy(first->second, &options, error);
    if (!status) {
        status = trellis_options_set(options, "part", "", error);
    }
    files.options = options;
    struct making making = {.files = files, .shape = &shape};
    if (!status) {
        status = make_corpus(&making, &plain, error);
    }
    if (!status) {
        status = trellis_corpus_create(&labels, error);
    }
    const trellis_source source = {.struct_size = sizeof source, .corpus = plain};
    if (!status) {
        status = predict(model, &source, labels, error);
    }
    if (!status) {
        status = add_column(first, files, &shape, labels, ret_corpus, error);
    }
    trellis_corpus_destroy(plain);
    trellis_corpus_destroy(labels);
    trellis_options_destroy(options);
    return status;
}

static trellis_status make_all(struct predicted_columns *columns, struct first_model *first,
                               trellis_error *error)
{
    const char *dev = trellis_options_get(first->arguments->options, "dev");
    trellis_status status = prepare(first, error);
    if (!status) {
        status = make_train(first, &columns->train, error);
    }
    if (!status) {
        status = train_first(first, TRELLIS_ALL_GROUPS, 0, &columns->first, error);
    }
    if (!status && *dev) {
        status = make_dev(first, dev, columns->first, &columns->dev, error);
    }
    return status;
}

trellis_status predicted_columns_make(struct predicted_columns *columns,
                                      const struct arguments *arguments,
                                      const trellis_cancellation *cancellation,
                                      trellis_error *error)
{
    struct first_model first = {.arguments = arguments, .cancellation = cancellation};
    *columns = (struct predicted_columns){0};
    trellis_status status = columns_from_options(arguments, &first.files, &first.folds, error);
    if (!status) {
        status = options_in_memory(first.files, &first.memory, error);
    }
    if (!status) {
        status = trellis_options_copy(arguments->options, &first.second, error);
    }
    if (!status) {
        status = options_in_memory(arguments->options, &columns->options, error);
    }
    if (!status) {
        status = make_all(columns, &first, error);
    }
    trellis_corpus_destroy(first.data);
    shape_free(&first.shape);
    shape_free(&first.second_shape);
    trellis_options_destroy(first.files);
    trellis_options_destroy(first.memory);
    trellis_options_destroy(first.second);
    return status;
}

void predicted_columns_free(struct predicted_columns *columns)
{
    trellis_corpus_destroy(columns->train);
    trellis_corpus_destroy(columns->dev);
    trellis_options_destroy(columns->options);
    trellis_model_close(columns->first);
}
