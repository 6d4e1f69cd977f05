/* test_columns.c - reading columns: separators, line ends, labels, names, long input, streams. */
#include "corpus/corpus_test.h"

#include <pthread.h>
#include <sys/stat.h>

static void reads_sequences(void **state)
{
    (void)state;
    check_read(BYTES("The DT B-NP\ncat\tNN \t I-NP\n\nruns VB O\n\n"), "",
               "1: The|DT|B-NP>B-NP cat|NN|I-NP>I-NP\n4: runs|VB|O>O\n");
}

static void blank_lines_make_no_sequences(void **state)
{
    (void)state;
    check_read(BYTES("\n \n\t\na X\n\n\n  \n\nb Y\n\n\n"), "", "4: a|X>X\n9: b|Y>Y\n");
    check_read(BYTES(""), "", "");
    check_read(BYTES("\n\n"), "", "");
}

static void line_ends_and_marks(void **state)
{
    (void)state;
    const char *expected = "1: a|X>X b|Y>Y\n4: c|Z>Z\n";
    check_read(BYTES("a X\r\nb Y\r\n\r\nc Z\r\n"), "", expected);
    check_read(BYTES("a X\nb Y\n\nc Z"), "", expected);
    check_read(BYTES("\xEF\xBB\xBF"
                     "a X\nb Y\n\nc Z\n"),
               "", expected);
    check_read(BYTES("\xEF\xBB\xBF"), "", "");
    check_read(BYTES(" a  X \nb\t\tY\t\n\nc Z\n"), "", expected);
}

static void document_starts_are_sequences(void **state)
{
    (void)state;
    check_read(BYTES("-DOCSTART- -X- O\n\na B O\n"), "", "1: -DOCSTART-|-X-|O>O\n3: a|B|O>O\n");
}

static void tabs_keep_blanks_and_empty_cells(void **state)
{
    (void)state;
    check_read(BYTES("New York\tNNP\t\n a\t\tX\n"), "separator=tab", "1: New York|NNP|>  a||X>X\n");
}

static void labels_by_place_and_name(void **state)
{
    (void)state;
    const char *data = "a X P\n";
    check_read(data, 6, "label=2", "1: a|X|P>X\n");
    check_read(data, 6, "label=none", "1: a|X|P\n");
    check_read(data, 6, "columns=word,pos,chunk label=POS", "1: a|X|P>X\n");
    check_read(data, 6, "columns=word,pos label=last", "1: a|X|P>P\n");
    check_read(BYTES("alone\nwords\n"), "", "1: alone words\n");
}

static void columns_have_names(void **state)
{
    (void)state;
    char *path = make_file(BYTES("a X P\n"), ".txt");
    trellis_options *options = make_options("columns=word,,chunk");
    trellis_reader *reader;
    const trellis_sequence *sequence;
    assert_int_equal(trellis_reader_open(path, options, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_label_column(reader), SIZE_MAX);
    assert_int_equal(trellis_reader_next(reader, &sequence, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_label_column(reader), 2);
    assert_string_equal(trellis_reader_column_name(reader, 0), "word");
    assert_null(trellis_reader_column_name(reader, 1));
    assert_string_equal(trellis_reader_column_name(reader, 2), "chunk");
    assert_null(trellis_reader_column_name(reader, 3));
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    drop_file(path);
}

static void rows_are_verbatim(void **state)
{
    (void)state;
    char *path = make_file(BYTES(" a \t X\r\nb Y\n"), "");
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(s->row_count, 2);
    assert_true(tr_text_is(s->rows[0], " a \t X"));
    assert_true(tr_text_is(s->rows[1], "b Y"));
    assert_int_equal(s->row_token[1], 1);
    trellis_reader_close(reader);
    drop_file(path);
}

static void invalid_bytes_can_be_kept(void **state)
{
    (void)state;
    check_read(BYTES("caf\xE9 N\n"), "invalid-utf8=keep", "1: caf\xE9|N>N\n");
}

/* Cells of every length around the sixteen bytes that are examined together, at every offset. */
static void cells_of_every_length(void **state)
{
    (void)state;
    struct tr_buffer data = {0}, expected = {0};
    tr_buffer_string(&expected, "1:");
    for (int n = 1; n < 70; n++) {
        char cell[80];
        memset(cell, 'a' + n % 26, (size_t)n);
        cell[n] = '\0';
        tr_buffer_format(&data, "%s%*s%s %.*s\n", cell, n % 3 + 1, "", "x", 70 - n, cell);
        tr_buffer_format(&expected, " %s|x|%.*s>%.*s", cell, 70 - n, cell, 70 - n, cell);
    }
    tr_buffer_add(&expected, "\n", 2);
    check_read(data.data, data.size, "", expected.data);
    tr_buffer_free(&data);
    tr_buffer_free(&expected);
}

static void long_lines_and_sequences(void **state)
{
    (void)state;
    enum { LONG = 20 << 20, MANY = 1000000 };
    struct tr_buffer data = {0};
    tr_buffer_string(&data, "a X\n\n");
    char *word = malloc(LONG);
    memset(word, 'w', LONG);
    tr_buffer_add(&data, word, LONG);
    tr_buffer_string(&data, " Y\n\n");
    for (int i = 0; i < MANY; i++) {
        tr_buffer_format(&data, "t%d Z\n", i);
    }
    char *path = make_file(data.data, data.size, "");
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(s->cells[0].size, LONG);
    assert_memory_equal(s->cells[0].data, word, LONG);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(s->length, MANY);
    assert_int_equal(s->line, 5);
    assert_true(tr_text_is(s->cells[0], "t0"));
    assert_true(tr_text_is(s->cells[2 * (MANY - 1)], "t999999"));
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_END);
    trellis_reader_close(reader);
    free(word);
    tr_buffer_free(&data);
    drop_file(path);
}

enum { PIPED = 100000 };

static void *feed(void *user)
{
    FILE *out = fdopen(*(int *)user, "w");
    for (int i = 0; i < PIPED; i++) {
        fprintf(out, "w%d X%d\n%s", i, i % 7, i % 3 == 2 ? "\n" : "");
    }
    fclose(out);
    return NULL;
}

static void reads_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, feed, &ends[1]), 0);
    char path[40];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    size_t token = 0;
    while (trellis_reader_next(reader, &s, NULL) == TRELLIS_OK) {
        for (size_t i = 0; i < s->length; i++, token++) {
            char expected[20];
            snprintf(expected, sizeof expected, "w%zu", token);
            assert_true(tr_text_is(s->cells[2 * i], expected));
        }
    }
    assert_int_equal(token, PIPED);
    pthread_join(thread, NULL);
    trellis_reader_close(reader);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sequences),
        cmocka_unit_test(blank_lines_make_no_sequences),
        cmocka_unit_test(line_ends_and_marks),
        cmocka_unit_test(document_starts_are_sequences),
        cmocka_unit_test(tabs_keep_blanks_and_empty_cells),
        cmocka_unit_test(labels_by_place_and_name),
        cmocka_unit_test(columns_have_names),
        cmocka_unit_test(rows_are_verbatim),
        cmocka_unit_test(invalid_bytes_can_be_kept),
        cmocka_unit_test(cells_of_every_length),
        cmocka_unit_test(long_lines_and_sequences),
        cmocka_unit_test(reads_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
