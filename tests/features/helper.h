/* helper.h - small tables and the attributes that templates extract from them, as text. */
#ifndef TESTS_FEATURES_HELPER_H
#define TESTS_FEATURES_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "features/compiled.h"

/* A sequence written as text: cells separated by blanks, tokens by line ends. */
struct table {
    trellis_text cells[1000];
    trellis_sequence sequence;
};

static inline void table_read(struct table *table, const char *text)
{
    *table = (struct table){.sequence = {.weight = 1, .line = 1, .cells = table->cells}};
    size_t count = 0, columns = 0;
    while (*text) {
        size_t size = strcspn(text, " \n");
        assert_true(count < TR_COUNT(table->cells));
        table->cells[count++] = (trellis_text){text, size};
        columns++;
        text += size;
        if (*text == '\n' || *text == '\0') {
            assert_true(table->sequence.length == 0 || table->sequence.columns == columns);
            table->sequence.columns = columns;
            table->sequence.length++;
            columns = 0;
        }
        text += *text != '\0';
    }
}

static inline trellis_status try_templates(const char *text, trellis_features **ret_features,
                                           trellis_error *error)
{
    struct tr_resource_supply supply = {.from = TR_FILES, .folder = ""};
    return tr_features_compile("t", tr_copy_text(text, strlen(text)), strlen(text), &supply,
                               ret_features, error);
}

static inline trellis_features *templates(const char *text)
{
    trellis_features *features;
    trellis_error error = {0};
    if (try_templates(text, &features, &error)) {
        fail_msg("%s", error.message);
    }
    return features;
}

static inline struct tr_extractor *extractor_for(const trellis_features *features, bool whole)
{
    struct tr_extractor *extractor;
    trellis_error error = {0};
    if (tr_extractor_create(features, whole, &extractor, &error)) {
        fail_msg("%s", error.message);
    }
    return extractor;
}

static inline const struct tr_observation *run(struct tr_extractor *extractor,
                                               const trellis_sequence *sequence)
{
    const struct tr_observation *observation;
    trellis_error error = {0};
    if (tr_extractor_run(extractor, sequence, &observation, &error)) {
        fail_msg("%s", error.message);
    }
    return observation;
}

/* The attributes of a token, as texts separated by " ; ", with ":value" where it is not 1. */
static inline void describe(struct tr_extractor *extractor, const trellis_sequence *sequence,
                            bool edge, size_t token, struct tr_buffer *buffer)
{
    const struct tr_observation *observation = run(extractor, sequence);
    const struct tr_seen *seen = edge ? &observation->edge : &observation->node;
    for (size_t k = seen->begin[token]; k < seen->begin[token + 1]; k++) {
        tr_buffer_string(buffer, k > seen->begin[token] ? " ; " : "");
        tr_extractor_text(extractor, sequence, edge, token, k, buffer);
        if (seen->value && seen->value[k] != 1) {
            tr_buffer_format(buffer, ":%g", (double)seen->value[k]);
        }
    }
    tr_buffer_add(buffer, "", 1);
    assert_false(buffer->failed);
}

static inline void check_features(const trellis_features *features, const char *rows, bool edge,
                                  size_t token, const char *expected)
{
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table;
    table_read(&table, rows);
    struct tr_buffer buffer = {0};
    describe(extractor, &table.sequence, edge, token, &buffer);
    assert_string_equal(buffer.data, expected);
    tr_buffer_free(&buffer);
    tr_extractor_destroy(extractor);
}

/* The node (or edge) attributes of a token. */
static inline void check(const char *text, const char *rows, size_t token, const char *expected)
{
    trellis_features *features = templates(text);
    check_features(features, rows, false, token, expected);
    trellis_features_destroy(features);
}

static inline void check_edge(const char *text, const char *rows, size_t token,
                              const char *expected)
{
    trellis_features *features = templates(text);
    check_features(features, rows, true, token, expected);
    trellis_features_destroy(features);
}

/* What `node expression` gives for a sequence of one word. */
static inline void check_word(const char *expression, const char *word, const char *expected)
{
    char text[1000];
    snprintf(text, sizeof text, "columns word\nnode %s\n", expression);
    check(text, word, 0, expected);
}

/* A template that must be an error at line:column with a message that contains `part`. */
static inline void check_refused(const char *text, uint64_t line, uint32_t column, const char *part)
{
    trellis_features *features;
    trellis_error error = {0};
    assert_int_equal(try_templates(text, &features, &error), TRELLIS_TEMPLATE);
    assert_null(features);
    if (error.line != line || error.column != column || !strstr(error.message, part)) {
        fail_msg("%s, where %d:%d and '%s' were expected", error.message, (int)line, (int)column,
                 part);
    }
}

/* A file in the test's own directory. */
static inline const char *temporary(const char *name)
{
    static char path[500];
    const char *folder = getenv("TRELLIS_TMP");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/tmp", name);
    return path;
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

#endif
