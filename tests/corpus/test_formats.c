/* test_formats.c - reading CoNLL-U, CRFsuite's attributes, word/TAG, JSON lines and running text;
 * and the formats given by file names. */
#include "corpus/corpus_test.h"

static const char treebank[] = "# newdoc\n"
                               "\n"
                               "# text = du lait\n"
                               "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
                               "1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n"
                               "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n"
                               "2.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_\n"
                               "3\tlait cru\tlait\tNOUN\t_\t_\t0\troot\t_\t_\n"
                               "\n"
                               "1\toui\toui\tINTJ\t_\t_\t0\troot\t_\t_\n"
                               "\n"
                               "# the end\n";

static void reads_conllu(void **state)
{
    (void)state;
    check_read(BYTES(treebank), "format=conllu",
               "1: 1|de|de|ADP|_|_|3|case|_|_>ADP 2|le|le|DET|_|_|3|det|_|_>DET"
               " 3|lait cru|lait|NOUN|_|_|0|root|_|_>NOUN\n"
               "10: 1|oui|oui|INTJ|_|_|0|root|_|_>INTJ\n");
    check_read(BYTES("1\ta\tb\tC\td\te\tf\tg\th\ti\n"), "format=conllu label=deprel",
               "1: 1|a|b|C|d|e|f|g|h|i>g\n");
    check_read(BYTES("1\ta\tb\tC\td\te\tf\tg\th\ti\r\n"), "format=conllu label=10",
               "1: 1|a|b|C|d|e|f|g|h|i>i\n");
}

static void conllu_keeps_other_rows(void **state)
{
    (void)state;
    char *path = make_file(BYTES(treebank), ".conllu");
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    assert_string_equal(trellis_reader_column_name(reader, 3), "UPOS");
    assert_null(trellis_reader_column_name(reader, 10));
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_label_column(reader), 3);
    const size_t tokens[] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, 0, 1, SIZE_MAX, 2};
    assert_int_equal(s->row_count, TR_COUNT(tokens));
    assert_memory_equal(s->row_token, tokens, sizeof tokens);
    assert_true(tr_text_is(s->rows[0], "# newdoc"));
    assert_int_equal(s->rows[1].size, 0);
    assert_true(tr_text_is(s->rows[2], "# text = du lait"));
    trellis_reader_close(reader);
    drop_file(path);
}

static void reads_crfsuite(void **state)
{
    (void)state;
    check_read(BYTES("B\tw=a\tlen:2.5\tt=12\\:30:-1e3\tp=\\\\\tq=\\n\nI\n\nO\tx:\t\ty\n"),
               "format=crfsuite",
               "1: >B{w=a:1}{len:2.5}{t=12:30:-1000}{p=\\:1}{q=\\n:1} >I\n4: >O{x:1}{y:1}\n");
    check_read(BYTES("\\:\ta\n:\tb\n@\tc\n"), "format=crfsuite", "1: >:{a:1} >:{b:1} >@{c:1}\n");
    check_read(BYTES("X\ta\n\n\tb\n"), "format=crfsuite label=none", "1:{a:1}\n3:{b:1}\n");
}

static void crfsuite_weighs_sequences(void **state)
{
    (void)state;
    check_read(BYTES("@weight:2.5\nB\ta\n\n@weight:0\tB\ta\t@weight:3\n\nB\ta\n"),
               "format=crfsuite", "1: >B{a:1}*2.5\n4: >B{a:1}{@weight:3}*0\n6: >B{a:1}\n");
    check_read(BYTES("@weight:2\n\nB\ta\n"), "format=crfsuite", "3: >B{a:1}\n");
}

static void reads_wordtag(void **state)
{
    (void)state;
    check_read(BYTES("The/DT  1\\/2/CD and/or/CC\n\n a\\\\/X\\/Y \\b/Z c\\ d/W\n"),
               "format=wordtag", "1: The>DT 1/2>CD and/or>CC\n3: a\\>X/Y \\b>Z c d>W\n");
    check_read(BYTES("and/or plain \\/\n"), "format=wordtag label=none", "1: and/or plain /\n");
}

static void reads_text(void **state)
{
    (void)state;
    check_read(BYTES("The cat\tsat .\n\n  \nEnd"), "format=text", "1: The cat sat .\n4: End\n");
}

static void reads_jsonl(void **state)
{
    (void)state;
    check_read(
        BYTES(
            "{\"id\":1,\"pos\":[\"D\",\"N\"],\"tokens\":[\"a\",\"b \\u00e9\"],\"labels\":[\"X\",\"Y\"],"
            "\"n\":[1,2.5],\"spans\":[[0,1]]}\n\n"
            "{\"tokens\":[],\"pos\":[],\"n\":[],\"labels\":[]}\n"
            "{\"labels\":[\"Z\"],\"n\":[1.0],\"pos\":[\"V\"],\"tokens\":[7],\"weight\":3}\n"),
        "format=jsonl", "1: a|D|1>X b \xC3\xA9|N|2.5>Y\n4: 7|V|1.0>Z*3\n");
    check_read(BYTES("{\"tokens\":[\"a\"],\"pos\":[\"D\"]}\n"), "format=jsonl label=POS",
               "1: a|D>D\n");
    check_read(BYTES("{\"tokens\":[\"a\"],\"labels\":[\"D\"]}\n"), "format=jsonl label=none",
               "1: a\n");
    check_read(BYTES("{\"tokens\":[\"a\"]}\n"), "format=jsonl", "1: a\n");
}

static void reads_json_attributes(void **state)
{
    (void)state;
    check_read(
        BYTES(
            "{\"attributes\":[[[\"w\",0.5],\"x\"],{\"y\":2,\"z\":true},[]],\"labels\":[1,2,3]}\n"),
        "format=jsonl", "1: >1{w:0.5}{x:1} >2{y:2}{z:1} >3\n");
    check_read(BYTES("{\"tokens\":[\"a\"],\"attributes\":[[\"x\"]]}\n"), "format=jsonl",
               "1: a{x:1}\n");
}

static void json_columns_are_named_by_the_first_object(void **state)
{
    (void)state;
    char *path = make_file(BYTES("{\"tokens\":[\"a\"],\"pos\":[\"D\"],\"lemma\":[\"l\"]}\n"),
                           ".jsonl");
    trellis_reader *reader;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    assert_string_equal(trellis_reader_column_name(reader, 0), "word");
    assert_string_equal(trellis_reader_column_name(reader, 1), "pos");
    assert_string_equal(trellis_reader_column_name(reader, 2), "lemma");
    assert_null(trellis_reader_column_name(reader, 3));
    trellis_reader_close(reader);
    drop_file(path);
}

static void file_names_give_formats(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {".conllu", "conllu"},   {".CoNLL-U", "conllu"}, {".conllu.gz", "conllu"},
        {".jsonl.zst", "jsonl"}, {".ndjson", "jsonl"},   {".txt", "columns"},
        {".conll", "columns"},   {"", "columns"},        {".json", "columns"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char *path = make_file("", 0, cases[i][0]);
        trellis_reader *reader;
        const trellis_sequence *s;
        assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
        assert_string_equal(trellis_format_by_name(path), cases[i][1]);
        assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_END);
        trellis_reader_close(reader);
        drop_file(path);
    }
    trellis_reader_close(NULL);
}

static void empty_files_end_at_once(void **state)
{
    (void)state;
    const char *const formats[] = {"columns", "conllu", "crfsuite", "wordtag", "jsonl", "text"};
    for (size_t i = 0; i < TR_COUNT(formats); i++) {
        char options[40];
        snprintf(options, sizeof options, "format=%s", formats[i]);
        check_read("", 0, options, "");
        check_read(BYTES("\xEF\xBB\xBF\r\n\r\n"), options, "");
    }
}

/* A line of 100 MB of running text. */
static void reads_very_long_lines(void **state)
{
    (void)state;
    enum { SIZE = 100 << 20 };
    char *data = malloc(SIZE);
    memset(data, 'x', SIZE);
    for (size_t i = 99; i < SIZE; i += 100) {
        data[i] = ' ';
    }
    char *path = make_file(data, SIZE, "");
    free(data);
    trellis_options *options = make_options("format=text max-length=2000000");
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open(path, options, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(s->length, SIZE / 100);
    assert_int_equal(s->cells[s->length - 1].size, 99);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    drop_file(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_conllu),
        cmocka_unit_test(conllu_keeps_other_rows),
        cmocka_unit_test(reads_crfsuite),
        cmocka_unit_test(crfsuite_weighs_sequences),
        cmocka_unit_test(reads_wordtag),
        cmocka_unit_test(reads_text),
        cmocka_unit_test(reads_jsonl),
        cmocka_unit_test(reads_json_attributes),
        cmocka_unit_test(json_columns_are_named_by_the_first_object),
        cmocka_unit_test(file_names_give_formats),
        cmocka_unit_test(empty_files_end_at_once),
        cmocka_unit_test(reads_very_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
