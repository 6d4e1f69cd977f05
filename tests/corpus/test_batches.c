/* test_batches.c - sequences read in batches are those that one reader reads: the same cells, rows
 * and line numbers, and the same error behind them. */
#include "base/random.h"
#include "corpus/corpus_test.h"

static void show(struct tr_buffer *to, const trellis_sequence *sequence)
{
    show_sequence(to, sequence);
    for (size_t i = 0; i < sequence->row_count; i++) {
        tr_buffer_format(to, "[%zd]", (ssize_t)sequence->row_token[i]);
        tr_buffer_text(to, sequence->rows[i]);
        tr_buffer_char(to, '\n');
    }
}

static trellis_status show_rest(struct tr_buffer *to, trellis_reader *reader, trellis_error *error)
{
    const trellis_sequence *sequence;
    trellis_status status;
    while (!(status = trellis_reader_next(reader, &sequence, error))) {
        show(to, sequence);
    }
    return status;
}

/* Everything, and the error; with `bytes`, in batches of about so many. */
static char *read_all(const void *data, size_t size, const char *settings, size_t bytes)
{
    trellis_options *options = make_options(settings);
    trellis_source source = {.struct_size = sizeof source, .data = data, .data_size = size};
    trellis_reader *reader = NULL, *batch = NULL;
    trellis_error error = {0};
    const trellis_sequence *sequence;
    struct tr_buffer shown = {0};
    trellis_status status = trellis_reader_open_source(&source, options, &reader, &error);
    if (!status) {
        status = trellis_reader_next(reader, &sequence, &error);
    }
    if (!status) {
        show(&shown, sequence);
        assert_int_equal(trellis_reader_open_batch(reader, &batch, &error), TRELLIS_OK);
    }
    while (!status && bytes) {
        status = trellis_reader_take_batch(reader, bytes, batch, &error);
        if (!status) {
            status = show_rest(&shown, batch, &error);
            status = status == TRELLIS_END ? TRELLIS_OK : status;
        }
    }
    if (!status) {
        status = show_rest(&shown, reader, &error);
    }
    tr_buffer_format(&shown, "%s %s", trellis_status_name(status),
                     status == TRELLIS_END ? "" : error.message);
    tr_buffer_char(&shown, '\0');
    assert_false(shown.failed);
    trellis_reader_close(batch);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return shown.data;
}

static void compare(const void *data, size_t size, const char *settings)
{
    static const size_t sizes[] = {1, 2, 3, 5, 17, 64, 257, 4096, SIZE_MAX};
    char *expected = read_all(data, size, settings, 0);
    for (size_t i = 0; i < TR_COUNT(sizes); i++) {
        char *found = read_all(data, size, settings, sizes[i]);
        assert_string_equal(found, expected);
        free(found);
    }
    free(expected);
}

#define ROW "1\ta\tb\tC\td\te\tf\tg\th\ti"
#define CARRIAGE_ROW "2\ta\tb\tC\td\te\tf\tg\th\ti\r"

static void test_random_lines(void **state)
{
    (void)state;
    /* The lines of each format that matter, some of them malformed. */
    static const struct {
        const char *settings;
        const char *lines[12];
    } formats[] = {
        {"", {"a b", "c  d ", " e\tf", "", "", " ", "\t \r", "g h\r", "\xEF\xBB\xBFi j"}},
        {"separator=tab", {"a\tb", "\tb", "c d\te", "", "", " ", "\r"}},
        {"format=conllu", {ROW, ROW, "# c", "", "", "", " ", "#", CARRIAGE_ROW, "\r"}},
        {"format=crfsuite",
         {"A\tx\ty:2", "B\tz\\:", "@weight:3", "", "", "C", " ", "\r", "D\t\tq"}},
    };
    static const char *const malformed[] = {"a b c", "\xFF b", "x", "\tx", "A\tb:c"};
    struct tr_random random;
    tr_random_seed(&random, 22);
    for (size_t round = 0; round < 300; round++) {
        size_t f = tr_random_below(&random, TR_COUNT(formats)), kinds = 0;
        while (formats[f].lines[kinds]) {
            kinds++;
        }
        struct tr_buffer text = {0};
        size_t count = tr_random_below(&random, 40);
        for (size_t i = 0; i < count; i++) {
            const char *line = tr_random_below(&random, 150) == 0
                                   ? malformed[tr_random_below(&random, TR_COUNT(malformed))]
                                   : formats[f].lines[tr_random_below(&random, kinds)];
            tr_buffer_string(&text, line);
            tr_buffer_string(&text, i + 1 < count || round % 3 ? "\n" : "");
        }
        assert_false(text.failed);
        compare(text.data ? text.data : "", text.size, formats[f].settings);
        tr_buffer_free(&text);
    }
}

/* Longer than any buffer: blocks are refilled while lines are taken. */
static void test_long_input(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    for (int i = 0; i < 200000; i++) {
        tr_buffer_format(&text, "word%d tag%d\n%s", i, i % 7, i % 23 == 5 ? "\n" : "");
    }
    tr_buffer_string(&text, "\nbad\n\nx y\n");
    static const size_t sizes[] = {1000, 65536, 1 << 20};
    char *expected = read_all(text.data, text.size, "", 0);
    assert_non_null(strstr(expected, "FORMAT memory:208698: expected 2 columns"));
    for (size_t i = 0; i < TR_COUNT(sizes); i++) {
        char *found = read_all(text.data, text.size, "", sizes[i]);
        assert_string_equal(found, expected);
        free(found);
    }
    free(expected);
    tr_buffer_free(&text);
}

/* Compressed data that breaks off: what was complete before is there, and the error's line. */
static void test_corrupt_input(void **state)
{
    (void)state;
    /* printf 'a b\nc d\n\ne f\n\ng h\n' | gzip, without its last eight bytes */
    static const unsigned char gzip[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x4b, 0x54, 0x48, 0xe2, 0x4a,
        0x56, 0x48, 0xe1, 0xe2, 0x4a, 0x55, 0x48, 0xe3, 0xe2, 0x4a, 0x57, 0xc8, 0xe0, 0x02, 0x00};
    for (size_t size = 11; size <= sizeof gzip; size++) {
        compare(gzip, size, "");
    }
    char *all = read_all(gzip, sizeof gzip, "", 8);
    assert_non_null(strstr(all, "4: e|f>f"));
    assert_non_null(strstr(all, "FORMAT memory:6: the gzip data is corrupt"));
    free(all);
}

static void check_refused(const char *data, const char *settings)
{
    trellis_options *options = make_options(settings);
    trellis_source source = {.struct_size = sizeof source, .data = data, .data_size = strlen(data)};
    trellis_reader *reader, *batch;
    assert_int_equal(trellis_reader_open_source(&source, options, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_open_batch(reader, &batch, NULL), TRELLIS_OPTION);
    assert_null(batch);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("{\"tokens\":[\"a\"]}\n", "format=jsonl");
    check_refused("a/b\n", "format=wordtag");
    check_refused("a b\n", "part=1/2");
    check_refused("a b\n", "context=3");
    /* Nothing is known of the columns before the first sequence. */
    trellis_source source = {.struct_size = sizeof source, .data = "a b\n", .data_size = 4};
    trellis_reader *reader, *batch;
    assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_open_batch(reader, &batch, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_take_batch(reader, 10, batch, NULL), TRELLIS_OPTION);
    trellis_reader_close(batch);
    trellis_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_lines),
        cmocka_unit_test(test_long_input),
        cmocka_unit_test(test_corrupt_input),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
