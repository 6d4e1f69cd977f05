/* test_bad_input.c - malformed input is an error with its position and a helpful message. */
#include "corpus/corpus_test.h"

struct bad {
    const char *data;
    size_t size;
    const char *options;
    uint64_t line;
    uint32_t column;
    const char *says; // part of the message
};

#define ROW "1\ta\tb\tC\td\te\tf\tg\th\ti\n"

/* clang-format off */
static const struct bad cases[] = {
    /* columns */
    {BYTES("a b c\nd e f\n\nx y\n"), "", 4, 0, "expected 3 columns as in line 1, found 2"},
    {BYTES("\n\na b\nc d\n\ne f g\n"), "", 6, 0, "expected 2 columns as in line 3, found 3"},
    {BYTES("a\tb\nc\td\te\n"), "separator=tab", 2, 0, "expected 2 columns as in line 1, found 3"},
    {BYTES("a\nb c\n"), "", 2, 0, "expected 1 column as in line 1, found 2"},
    {BYTES("a b\nc\0d\n"), "", 2, 2, "zero byte"},
    {BYTES("a b\n\xC3\xA9 c\xC3\x28\n"), "", 2, 4, "invalid UTF-8: byte 0xC3"},
    {BYTES("a b\n\xED\xA0\x80 c\n"), "", 2, 1, "invalid UTF-8: byte 0xED"},
    {BYTES("a b\r\nc \xC3\r\n\r\n"), "", 2, 3, "invalid UTF-8: byte 0xC3"},
    {BYTES("a b\n\n\nc \xFF"), "", 4, 3, "--invalid-utf8 keep"},
    {BYTES("\na b\n"), "label=POS", 2, 0, "'POS': 2 columns found"},
    {BYTES("a b\n"), "label=3", 1, 0, "the label column '3' is column 3, but 2 columns found"},
    {BYTES("a\n"), "label=2", 1, 0, "column 2, but 1 column found"},
    {BYTES("a b\n"), "label=0", 1, 0, "from 1"},
    {BYTES("a b\n"), "label=-1", 1, 0, "from 1"},
    {BYTES("a b\n"), "columns=w,x,tag label=tag", 1, 0, "'tag' is column 3, but 2 columns found"},
    /* CoNLL-U */
    {BYTES("# c\n" ROW "2\tx\ty\n"), "format=conllu", 3, 0, "the 10 columns of CoNLL-U, separated by tabs, found 3"},
    {BYTES(ROW "\nx\ta\tb\tC\td\te\tf\tg\th\ti\n"), "format=conllu", 3, 0, "'x' is not a CoNLL-U ID"},
    {BYTES("1-\ta\tb\tC\td\te\tf\tg\th\ti\n"), "format=conllu", 1, 0, "'1-' is not a CoNLL-U ID"},
    {BYTES("\ta\tb\tC\td\te\tf\tg\th\ti\n"), "format=conllu", 1, 0, "'' is not a CoNLL-U ID"},
    {BYTES(ROW), "format=conllu label=PART", 1, 0, "'PART'"},
    {BYTES(ROW), "format=conllu label=11", 1, 0, "column 11, but 10"},
    /* CRFsuite */
    {BYTES("B\ta:1\nI\tb\tw=http://x\n"), "format=crfsuite", 2, 12, "'//x'"},
    {BYTES("B\ta:1:2\n"), "format=crfsuite", 1, 5, "expected a finite number, not '1:2', in 'a:1:2'"},
    {BYTES("B\ta:nan\n"), "format=crfsuite", 1, 5, "expected a finite number"},
    {BYTES("B\ta\n\nI\ta:-inf\n"), "format=crfsuite", 3, 5, "expected a finite number"},
    {BYTES("B\ta:1e999\n"), "format=crfsuite", 1, 5, "expected a finite number"},
    {BYTES("B\ta\n\tb\n"), "format=crfsuite", 2, 0, "the label is missing"},
    {BYTES("@weight:x\nB\ta\n"), "format=crfsuite", 1, 9, "expected a weight of at least 0, not 'x'"},
    {BYTES("@weight:-1\nB\ta\n"), "format=crfsuite", 1, 9, "at least 0"},
    /* word/TAG */
    {BYTES("a/X\n\xC3\xA9/Y plain\n"), "format=wordtag", 2, 5, "'plain' has no tag"},
    {BYTES("a\\/X\n"), "format=wordtag", 1, 1, "has no tag"},
    {BYTES("a/X b/\n"), "format=wordtag", 1, 5, "the tag of 'b/' is missing"},
    {BYTES("/X\n"), "format=wordtag", 1, 1, "the word of '/X' is missing"},
    {BYTES("a/X \xFF/Y\n"), "format=wordtag", 1, 5, "invalid UTF-8"},
    /* JSON lines */
    {BYTES("{\"tokens\":[\"a\"]}\n{\"tokens\":[\"a\",]}\n"), "format=jsonl", 2, 16, "bad JSON: "},
    {BYTES("{\"tokens\":[\"a\"}\n"), "format=jsonl", 1, 15, "bad JSON: "},
    {BYTES("{\"tokens\":[\"a\"]}\n\n{\"tokens\":[]}\nx\n"), "format=jsonl", 4, 1, "bad JSON: "},
    {BYTES("[1]\n"), "format=jsonl", 1, 0, "expected a JSON object"},
    {BYTES("{}\n"), "format=jsonl", 1, 0, "needs \"tokens\" or \"attributes\""},
    {BYTES("{\"tokens\":3}\n"), "format=jsonl", 1, 0, "\"tokens\" is not an array"},
    {BYTES("{\"tokens\":[\"a\",null]}\n"), "format=jsonl", 1, 0, "element 2 of \"tokens\""},
    {BYTES("{\"tokens\":[\"a\"],\"labels\":[\"X\",\"Y\"]}\n"), "format=jsonl", 1, 0, "\"labels\" has 2 elements, but there are 1 tokens"},
    {BYTES("{\"tokens\":[\"a\"],\"pos\":[]}\n"), "format=jsonl", 1, 0, "\"pos\" has 0 elements"},
    {BYTES("{\"tokens\":[\"a\"],\"pos\":[\"X\"]}\n{\"tokens\":[\"a\"]}\n"), "format=jsonl", 2, 0, "\"pos\" is missing, which is a column in line 1"},
    {BYTES("{\"tokens\":[\"a\"],\"labels\":[\"X\"]}\n{\"tokens\":[\"a\"]}\n"), "format=jsonl", 2, 0, "\"labels\" is missing"},
    {BYTES("{\"tokens\":[\"a\"]}\n"), "format=jsonl label=labels", 1, 0, "\"labels\" is missing"},
    {BYTES("{\"tokens\":[\"a\"]}\n"), "format=jsonl label=pos", 1, 0, "'pos': 1 column found"},
    {BYTES("{\"tokens\":[\"a\"],\"weight\":-2}\n"), "format=jsonl", 1, 0, "\"weight\""},
    {BYTES("{\"tokens\":[\"a\"],\"weight\":1e999}\n"), "format=jsonl", 1, 30, "bad JSON: "},
    {BYTES("{\"tokens\":[\"a\"],\"attributes\":[[[\"x\",\"y\"]]]}\n"), "format=jsonl", 1, 0, "\"x\" is not a number"},
    {BYTES("{\"tokens\":[\"a\"],\"attributes\":[[3]]}\n"), "format=jsonl", 1, 0, "expected an attribute: "},
    {BYTES("{\"tokens\":[\"a\"],\"attributes\":[]}\n"), "format=jsonl", 1, 0, "not an array of 1 elements"},
    {BYTES("{\"tokens\":[\"a\"],\"tokens\":[\"b\"]}\n"), "format=jsonl", 1, 24, "duplicate"},
    {BYTES("{\"tokens\":[\"a\\u0000\"]}\n"), "format=jsonl", 1, 0, "bad JSON: "},
    {BYTES("{\"tokens\":[\"\xFF\"]}\n"), "format=jsonl invalid-utf8=keep", 1, 0, "bad JSON: "},
    /* running text */
    {BYTES("good\nnot \xC0\xAF\n"), "format=text", 2, 5, "invalid UTF-8"},
    {BYTES("x\0y\n"), "format=text", 1, 2, "zero byte"},
};
/* clang-format on */

static void check_bad(const struct bad *bad)
{
    char *path = make_file(bad->data, bad->size, "");
    trellis_options *options = make_options(bad->options);
    trellis_reader *reader;
    const trellis_sequence *s;
    trellis_error error = {0};
    assert_int_equal(trellis_reader_open(path, options, &reader, &error), TRELLIS_OK);
    trellis_status status;
    while ((status = trellis_reader_next(reader, &s, &error)) == TRELLIS_OK) {}
    char begin[300];
    snprintf(begin, sizeof begin, bad->column ? "%s:%d:%d: " : "%s:%d: ", path, (int)bad->line,
             (int)bad->column);
    if (status != TRELLIS_FORMAT || error.status != TRELLIS_FORMAT || error.line != bad->line ||
        (bad->column && error.column != bad->column) || !strstr(error.message, bad->says) ||
        (bad->column && strncmp(error.message, begin, strlen(begin)) != 0)) {
        fail_msg("'%.60s' with '%s' gave %s at %d:%d: %s", bad->data, bad->options,
                 trellis_status_name(status), (int)error.line, (int)error.column, error.message);
    }
    assert_null(s);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    drop_file(path);
}

static void bad_input_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check_bad(&cases[i]);
    }
}

static void earlier_sequences_are_read(void **state)
{
    (void)state;
    char *path = make_file(BYTES("a X\n\nb\n\nc Y\n"), "");
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_FORMAT);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(s->line, 5);
    trellis_reader_close(reader);
    drop_file(path);
}

static void missing_files_and_folders(void **state)
{
    (void)state;
    trellis_reader *reader;
    trellis_error error = {0};
    assert_int_equal(trellis_reader_open("/nonexistent/x", NULL, &reader, &error), TRELLIS_IO);
    assert_null(reader);
    assert_non_null(strstr(error.message, "/nonexistent/x"));
    assert_int_equal(trellis_reader_open("/tmp", NULL, &reader, &error), TRELLIS_IO);
    assert_non_null(strstr(error.message, "directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input_is_an_error),
        cmocka_unit_test(earlier_sequences_are_read),
        cmocka_unit_test(missing_files_and_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
