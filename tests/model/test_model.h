/* test_model.h - helpers of the tests of models: small files, small models, and their text form. */
#ifndef TRELLIS_TESTS_TEST_MODEL_H
#define TRELLIS_TESTS_TEST_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "corpus/corpus.h"
#include "support/settings.h"

/* Fails the test with the library's message unless the status is TRELLIS_OK. */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        trellis_status status_ = (call);                                                           \
        if (status_) {                                                                             \
            fail_msg("%s: %s: %s", #call, trellis_status_name(status_), (error).message);          \
        }                                                                                          \
    } while (0)

/* ---- files ----------------------------------------------------------------------------------- */

/* The folder of this test; made by group_setup(), emptied by group_teardown(). */
static char test_folder[400];

static inline int group_setup(void **state)
{
    (void)state;
    const char *where = getenv("TRELLIS_TMP");
    snprintf(test_folder, sizeof test_folder, "%s/modelXXXXXX", where ? where : "/tmp");
    return mkdtemp(test_folder) ? 0 : -1;
}

static inline int group_teardown(void **state)
{
    (void)state;
    char command[500];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder);
    return system(command);
}

/* A path in the folder; eight live at a time. */
static inline const char *path_of(const char *name)
{
    static char paths[8][600];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder, name);
    return path;
}

static inline const char *put_file(const char *name, const void *data, size_t size)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *put_text(const char *name, const char *text)
{
    return put_file(name, text, strlen(text));
}

/* The bytes of a file, ended by a zero byte; the caller frees them. */
static inline char *get_file(const char *path, size_t *ret_size)
{
    struct tr_buffer bytes = {0};
    char block[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) {
        tr_buffer_add(&bytes, block, n);
    }
    fclose(file);
    *ret_size = bytes.size;
    tr_buffer_char(&bytes, 0);
    assert_false(bytes.failed);
    return bytes.data;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Trains a model on the text of a corpus. */
static inline trellis_model *train_on(const char *corpus, const char *options_text)
{
    trellis_options *options = make_options(options_text);
    trellis_error error = {0};
    trellis_model *model;
    const char *path = put_text("corpus.txt", corpus);
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error), error);
    trellis_options_destroy(options);
    return model;
}

/* Trains a model on a file. */
static inline trellis_model *train_file(const char *path, const char *options_text)
{
    trellis_options *options = make_options(options_text);
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error), error);
    trellis_options_destroy(options);
    return model;
}

static inline trellis_model *open_model(const char *path)
{
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_model_open(path, &model, &error), error);
    return model;
}

static inline trellis_model *import_model(const char *path)
{
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_model_import(path, &model, &error), error);
    return model;
}

static inline trellis_status to_buffer(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

enum what { INFO, INFO_JSON, EXPORT, EXPORT_JSON };

/* The text form of a model; the caller frees it. */
static inline char *say(const trellis_model *model, enum what what)
{
    struct tr_buffer text = {0};
    trellis_error error = {0};
    bool json = what == INFO_JSON || what == EXPORT_JSON;
    assert_ok((what == INFO || what == INFO_JSON ? trellis_model_info : trellis_model_export)(
                  model, json, to_buffer, &text, &error),
              error);
    tr_buffer_char(&text, 0);
    assert_false(text.failed);
    return text.data;
}

/* ---- tagging --------------------------------------------------------------------------------- */

/* "a|DT b|NN" cut into tokens and columns; `text` is written to. The caller frees the cells. */
static inline trellis_sequence cut_sequence(char *text, trellis_text **ret_cells)
{
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence), .weight = 1, .line = 1};
    TR_ARRAY(trellis_text) cells = {0};
    char *rest = text, *token;
    while ((token = strsep(&rest, " "))) {
        char *left = token, *cell;
        size_t columns = 0;
        if (!*token) {
            continue;
        }
        while ((cell = strsep(&left, "|"))) {
            assert_true(tr_push(&cells, tr_text(cell)));
            columns++;
        }
        sequence.columns = columns;
        sequence.length++;
    }
    sequence.cells = *ret_cells = cells.at;
    return sequence;
}

/* The predicted labels, separated by blanks; or "! " and the error message. The caller frees
 * them. */
static inline char *tag_with(trellis_tagger *tagger, const char *tokens, double *ret_score)
{
    trellis_text *cells;
    char *copy = strdup(tokens);
    trellis_sequence sequence = cut_sequence(copy, &cells);
    const trellis_text *labels = &(trellis_text){"", 0}; // a failure must make it NULL
    trellis_error error = {0};
    struct tr_buffer text = {0};
    if (trellis_tagger_tag(tagger, &sequence, &labels, &error)) {
        assert_null(labels);
        tr_buffer_format(&text, "! %s", error.message);
    } else {
        for (size_t i = 0; i < sequence.length; i++) {
            tr_buffer_string(&text, i ? " " : "");
            tr_buffer_text(&text, labels[i]);
        }
    }
    if (ret_score) {
        *ret_score = trellis_tagger_score(tagger);
    }
    tr_buffer_char(&text, 0);
    free(copy);
    free(cells);
    return text.data;
}

static inline char *tag_by(const trellis_model *model, const char *tokens, double *ret_score)
{
    trellis_tagger *tagger;
    trellis_error error = {0};
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    char *labels = tag_with(tagger, tokens, ret_score);
    trellis_tagger_destroy(tagger);
    return labels;
}

static inline void assert_tags(const trellis_model *model, const char *tokens, const char *expected)
{
    char *found = tag_by(model, tokens, NULL);
    assert_string_equal(found, expected);
    free(found);
}

/* Scores the predictions of a model against the gold labels of a file. */
static inline trellis_evaluation *evaluate_by(const trellis_model *model, const char *path,
                                              const char *settings)
{
    trellis_options *options = make_options(settings);
    trellis_tagger *tagger;
    trellis_reader *reader;
    trellis_evaluation *evaluation;
    const trellis_sequence *sequence;
    const trellis_text *labels;
    trellis_error error = {0};
    assert_ok(trellis_tagger_create(model, options, &tagger, &error), error);
    assert_ok(trellis_reader_open(path, options, &reader, &error), error);
    assert_ok(trellis_evaluation_create(options, &evaluation, &error), error);
    while (trellis_reader_next(reader, &sequence, &error) == TRELLIS_OK) {
        assert_ok(trellis_tagger_tag(tagger, sequence, &labels, &error), error);
        assert_ok(
            trellis_evaluation_add(evaluation, sequence->labels, labels, sequence->length, &error),
            error);
    }
    trellis_reader_close(reader);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(options);
    return evaluation;
}

/* The accuracy of a model on a file with gold labels in the second column. */
static inline double accuracy_of(const trellis_model *model, const char *path)
{
    trellis_evaluation *evaluation = evaluate_by(model, path, "label=2");
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_evaluation_scores(evaluation, &scores);
    double accuracy = scores.accuracy;
    trellis_evaluation_destroy(evaluation);
    return accuracy;
}

static inline trellis_tagger *make_tagger(const trellis_model *model, const char *settings)
{
    trellis_tagger *tagger;
    trellis_error error = {0};
    trellis_options *options = make_options(settings);
    assert_ok(trellis_tagger_create(model, options, &tagger, &error), error);
    trellis_options_destroy(options);
    return tagger;
}

#endif
