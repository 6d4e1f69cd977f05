/* corpus_test.h - helpers of the corpus tests: files made of bytes, and sequences shown as text. */
#ifndef TRELLIS_TESTS_CORPUS_TEST_H
#define TRELLIS_TESTS_CORPUS_TEST_H

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

#define BYTES(literal) (literal), sizeof(literal) - 1

/* A temporary file with these bytes; the name ends with `suffix`. The caller removes and frees
 * it. */
static inline char *make_file(const char *data, size_t size, const char *suffix)
{
    const char *folder = getenv("TRELLIS_TMP") ? getenv("TRELLIS_TMP") : getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/corpusXXXXXX%s", folder ? folder : "/tmp", suffix) > 0);
    int file = mkstemps(path, (int)strlen(suffix));
    assert_true(file >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(file, data + done, size - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    close(file);
    return path;
}

static inline void drop_file(char *path)
{
    unlink(path);
    free(path);
}

static inline void show_token(struct tr_buffer *to, const trellis_sequence *s, size_t i)
{
    for (size_t c = 0; c < s->columns; c++) {
        tr_buffer_string(to, c ? "|" : " ");
        tr_buffer_text(to, s->cells[i * s->columns + c]);
    }
    if (s->labels) {
        tr_buffer_string(to, s->columns ? ">" : " >");
        tr_buffer_text(to, s->labels[i]);
    }
    for (size_t a = s->attribute_begin ? s->attribute_begin[i] : 0;
         s->attribute_begin && a < s->attribute_begin[i + 1]; a++) {
        tr_buffer_char(to, '{');
        tr_buffer_text(to, s->attributes[a].name);
        tr_buffer_char(to, ':');
        tr_buffer_real(to, s->attributes[a].value);
        tr_buffer_char(to, '}');
    }
}

/* "LINE: cell|cell>label{attribute:value} ...", with *WEIGHT where it is not 1. */
static inline void show_sequence(struct tr_buffer *to, const trellis_sequence *s)
{
    tr_buffer_format(to, "%d:", (int)s->line);
    for (size_t i = 0; i < s->length; i++) {
        show_token(to, s, i);
    }
    if (s->weight != 1) {
        tr_buffer_char(to, '*');
        tr_buffer_real(to, s->weight);
    }
    tr_buffer_char(to, '\n');
}

/* All sequences of a file as text; the caller frees it. Reading must succeed. */
static inline char *show_file(const char *path, const char *options_text)
{
    trellis_options *options = make_options(options_text);
    trellis_reader *reader;
    trellis_error error = {0};
    const trellis_sequence *sequence;
    struct tr_buffer shown = {0};
    if (trellis_reader_open(path, options, &reader, &error)) {
        fail_msg("%s", error.message);
    }
    trellis_status status;
    while ((status = trellis_reader_next(reader, &sequence, &error)) == TRELLIS_OK) {
        show_sequence(&shown, sequence);
    }
    if (status != TRELLIS_END) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(trellis_reader_next(reader, &sequence, &error), TRELLIS_END);
    assert_null(sequence);
    tr_buffer_char(&shown, '\0');
    assert_false(shown.failed);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return shown.data;
}

/* Reads `data` and compares what was read. */
static inline void check_read(const char *data, size_t size, const char *options,
                              const char *expected)
{
    char *path = make_file(data, size, "");
    char *shown = show_file(path, options);
    assert_string_equal(shown, expected);
    free(shown);
    drop_file(path);
}

static inline trellis_status to_buffer(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

/* Reads `data` and writes it again, each token with the label `label` unless that is NULL; the
 * caller frees the result. If writing fails, the result is the message. */
static inline char *rewrite(const char *data, size_t size, const char *options_text,
                            const char *label)
{
    char *path = make_file(data, size, "");
    trellis_options *options = make_options(options_text);
    trellis_reader *reader;
    trellis_writer *writer;
    trellis_error error = {0};
    struct tr_buffer written = {0};
    const trellis_sequence *sequence;
    trellis_status status;
    assert_int_equal(trellis_reader_open(path, options, &reader, &error), TRELLIS_OK);
    assert_int_equal(trellis_writer_create(options, to_buffer, &written, &writer, &error),
                     TRELLIS_OK);
    while ((status = trellis_reader_next(reader, &sequence, &error)) == TRELLIS_OK) {
        trellis_text *labels = calloc(sequence->length, sizeof *labels);
        for (size_t i = 0; i < sequence->length; i++) {
            labels[i] = tr_text(label);
        }
        status = trellis_writer_put(writer, sequence, label ? labels : NULL, &error);
        free(labels);
        if (status) {
            break;
        }
    }
    assert_int_equal(trellis_writer_finish(writer, NULL), TRELLIS_OK);
    if (status != TRELLIS_END) {
        written.size = 0;
        tr_buffer_string(&written, error.message);
    }
    tr_buffer_char(&written, '\0');
    trellis_writer_destroy(writer);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    drop_file(path);
    return written.data;
}

static inline void check_rewrite(const char *data, const char *options, const char *label,
                                 const char *expected)
{
    char *written = rewrite(data, strlen(data), options, label);
    assert_string_equal(written, expected);
    free(written);
}

#endif
