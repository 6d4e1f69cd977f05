/* test_writer.c - writing: round trips, new labels, conversions, what a format cannot represent,
 * the sink. */
#include "corpus/corpus_test.h"

static const char treebank[] = "# text = du lait\n"
                               "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
                               "1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n"
                               "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n"
                               "2.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_\n"
                               "3\tlait\tlait\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
                               "\n"
                               "# text = oui\n"
                               "1\toui\toui\tINTJ\t_\t_\t0\troot\t_\t_\n"
                               "\n";

/* Canonical input is reproduced to the byte. */
static void round_trips_are_exact(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"", "a X P\n b\t Y  Q \n\nc Z R\n\n"},
        {"separator=tab", "New York\t\tX\n\n"},
        {"format=conllu", treebank},
        {"format=crfsuite",
         "B\tw=a\tlen:2.50\tt=12\\:30:1\tp=\\\\\n\n@weight:2.0\nI\tx:1\t\ty:1.0\n\n"},
        {"format=wordtag", "The/DT 1\\/2/CD and/or/CC\na/X\n"},
        {"format=jsonl", "{\"tokens\": [\"a\"], \"labels\": [\"X\"], \"id\": 1.50}\n"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check_rewrite(cases[i][1], cases[i][0], NULL, cases[i][1]);
    }
}

static void columns_get_a_label_column(void **state)
{
    (void)state;
    check_rewrite("a X\nb\tY\n\n", "", "L", "a X L\nb\tY\tL\n\n");
    check_rewrite("a \t X\n", "", "L", "a \t X L\n\n");
    check_rewrite("a X \n", "", "L", "a X L\n\n");
    check_rewrite("a\nb\r\n", "", "L", "a L\nb L\n\n");
    check_rewrite("New York\tX\n", "separator=tab", "L", "New York\tX\tL\n\n");
    check_rewrite("one\n", "separator=tab", "a b", "one\ta b\n\n");
}

static void conllu_gets_its_label_replaced(void **state)
{
    (void)state;
    check_rewrite("# c\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tP\t_\t3\tcase\t_\t_\n",
                  "format=conllu", "L",
                  "# c\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tL\tP\t_\t3\tcase\t_\t_\n\n");
    check_rewrite("1\tde\tde\tADP\tP\t_\t3\tcase\t_\tM\n", "format=conllu label=xpos", "L",
                  "1\tde\tde\tADP\tL\t_\t3\tcase\t_\tM\n\n");
    check_rewrite("1\tde\tde\tADP\tP\t_\t3\tcase\t_\tM\n", "format=conllu label=MISC", "L",
                  "1\tde\tde\tADP\tP\t_\t3\tcase\t_\tL\n\n");
}

static void crfsuite_gets_its_label_replaced(void **state)
{
    (void)state;
    check_rewrite("@weight:2.0\nB\tw=a:1.0\tx\nI\n", "format=crfsuite", ":",
                  "@weight:2.0\n\\:\tw=a:1.0\tx\n\\:\n\n");
    check_rewrite("@weight:3\tB\ta\n", "format=crfsuite", "L", "@weight:3\tL\ta\n\n");
    check_rewrite("\ta\n", "format=crfsuite label=none", "L", "L\ta\n\n");
}

static void lines_get_their_labels_replaced(void **state)
{
    (void)state;
    check_rewrite("a/X 1\\/2/Y\n", "format=wordtag", "L/M", "a/L\\/M 1\\/2/L\\/M\n");
    check_rewrite("plain words\n", "format=wordtag label=none", "L", "plain/L words/L\n");
    check_rewrite(
        "{\"id\":[1,{\"k\":null}],\"labels\":[\"X\"],\"tokens\":[\"a\\n\"],\"p\":0.1}\n",
        "format=jsonl", "L",
        "{\"id\":[1,{\"k\":null}],\"labels\":[\"L\"],\"tokens\":[\"a\\u000a\"],\"p\":0.1}\n");
    check_rewrite("{\"tokens\":[\"a\"]}\n", "format=jsonl", "L",
                  "{\"tokens\":[\"a\"],\"labels\":[\"L\"]}\n");
    check_rewrite("some words\n", "format=text", "L", "some\tL\nwords\tL\n\n");
}

static void converts_to_columns(void **state)
{
    (void)state;
    check_rewrite("1\tde\tde\tADP\tP\t_\t3\tcase\t_\tM\n", "format=conllu output-format=columns",
                  NULL, "1\tde\tde\tADP\tP\t_\t3\tcase\t_\tM\n\n");
    check_rewrite("a/X b/Y\n", "format=wordtag output-format=columns", NULL, "a\tX\nb\tY\n\n");
    check_rewrite("a/X b/Y\n", "format=wordtag output-format=columns", "L", "a\tX\tL\nb\tY\tL\n\n");
    check_rewrite("{\"tokens\":[\"a b\"],\"p\":[\"\"],\"labels\":[\"X\"]}\n",
                  "format=jsonl output-format=columns", NULL, "a b\t\tX\n\n");
    check_rewrite("B\tw\nI\tv\n", "format=crfsuite output-format=columns", "L", "B\tL\nI\tL\n\n");
}

static void converts_to_conllu(void **state)
{
    (void)state;
    check_rewrite("the DT\ncat NN\n", "output-format=conllu", NULL,
                  "1\tthe\t_\tDT\t_\t_\t_\t_\t_\t_\n2\tcat\t_\tNN\t_\t_\t_\t_\t_\t_\n\n");
    check_rewrite("DT the l O\n", "columns=xpos,word,lemma,ne label=none output-format=conllu", "L",
                  "1\tthe\tl\tL\tDT\t_\t_\t_\t_\t_\n\n");
    check_rewrite("a/X\n", "format=wordtag output-format=conllu label=XPOS", NULL,
                  "1\ta\t_\t_\tX\t_\t_\t_\t_\t_\n\n");
}

static void converts_to_lines(void **state)
{
    (void)state;
    check_rewrite("1\tdix mille\t_\tNUM\t_\t_\t_\t_\t_\t_\n", "format=conllu output-format=wordtag",
                  NULL, "dix\\ mille/NUM\n");
    check_rewrite("a\\b X\n1/2 Y\n", "output-format=wordtag", NULL, "a\\\\b/X 1\\/2/Y\n");
    check_rewrite(
        "a D X\nb \"E Y\n", "columns=word,pos output-format=jsonl", NULL,
        "{\"tokens\":[\"a\",\"b\"],\"pos\":[\"D\",\"\\\"E\"],\"labels\":[\"X\",\"Y\"]}\n");
    check_rewrite(
        "a D X\n", "columns=word,labels output-format=jsonl", "L",
        "{\"tokens\":[\"a\"],\"column2\":[\"D\"],\"column3\":[\"X\"],\"labels\":[\"L\"]}\n");
    check_rewrite("@weight:2\nB\tw=1\\:2\tv:0.5\n", "format=crfsuite output-format=jsonl", NULL,
                  "{\"attributes\":[[\"w=1:2\",[\"v\",0.5]]],\"labels\":[\"B\"],\"weight\":2}\n");
}

static void converts_to_crfsuite(void **state)
{
    (void)state;
    check_rewrite("a:b D X\n", "columns=word output-format=crfsuite", NULL,
                  "X\tword=a\\:b\tcolumn2=D\n\n");
    check_rewrite("a\n", "output-format=crfsuite", NULL, "_\tcolumn1=a\n\n");
    check_rewrite("{\"attributes\":[[[\"w:\",2],\"x\"]],\"weight\":0.5,\"labels\":[\"L\"]}\n",
                  "format=jsonl output-format=crfsuite", NULL, "@weight:0.5\nL\tw\\::2\tx\n\n");
}

static void writes_labels_alone(void **state)
{
    (void)state;
    check_rewrite("the DT\nend NN\n\na DT\n", "output-format=labels", NULL, "DT\nNN\n\nDT\n\n");
    check_rewrite("the DT\nend NN\n", "output-format=labels", "X", "X\nX\n\n");
    check_rewrite("@weight:2\nA\tw=1\nB\tw=2\n", "format=crfsuite output-format=labels", "N O",
                  "N O\nN O\n\n");
}

static void writes_inline_spans(void **state)
{
    (void)state;
    check_rewrite("the B-NP\nchicken I-NP\ncrossed B-VP\nthe O\nroad I-NP\n",
                  "output-format=inline", NULL, "[NP the chicken] [VP crossed] the [NP road]\n");
    check_rewrite("a S-X\nb S-X\nc O\n", "output-format=inline", NULL, "[X a] [X b] c\n");
    check_rewrite("a O\nb O\n", "output-format=inline", NULL, "a b\n");
    check_rewrite("a DT\nb NN\n", "output-format=inline", NULL, "a/DT b/NN\n");
    check_rewrite("a\nb\n", "output-format=inline", NULL, "a b\n");
    check_rewrite("a\nb\n", "output-format=inline", "I-P", "[P a b]\n");
}

/* Reading the output gives the input again. */
static void conversions_can_be_read_back(void **state)
{
    (void)state;
    const char *data = "{\"tokens\":[\"a/b\\\\\",\"c d\"],\"labels\":[\"X:\",\"Y/Z\"]}\n";
    const char *const formats[] = {"columns", "wordtag", "jsonl", "conllu"};
    for (size_t i = 0; i < TR_COUNT(formats); i++) {
        char there[80], back[80];
        snprintf(there, sizeof there, "format=jsonl output-format=%s", formats[i]);
        snprintf(back, sizeof back, "format=%s output-format=wordtag separator=tab", formats[i]);
        char *written = rewrite(data, strlen(data), there, NULL);
        check_rewrite(written, back, NULL, "a\\/b\\\\/X: c\\ d/Y\\/Z\n");
        free(written);
    }
}

static void formats_have_limits(void **state)
{
    (void)state;
    const char *const cases[][4] = {
        {"{\"tokens\":[\"a\\tb\"]}\n", "format=jsonl output-format=columns", NULL,
         "cannot represent the text 'a\tb'"},
        {"{\"tokens\":[\"a\\nb\"]}\n", "format=jsonl output-format=wordtag", NULL,
         "cannot represent"},
        {"{\"tokens\":[\"a\\rb\"]}\n", "format=jsonl output-format=conllu", NULL,
         "cannot represent"},
        {"{\"tokens\":[\"a\\nb\"]}\n", "format=jsonl output-format=inline", NULL,
         "cannot represent"},
        {"{\"tokens\":[\"\"]}\n", "format=jsonl output-format=wordtag", NULL, "cannot represent"},
        {"{\"tokens\":[\" \"]}\n", "format=jsonl output-format=columns", NULL, "an empty row"},
        {"{\"attributes\":[[\"a\\tb\"]]}\n", "format=jsonl output-format=crfsuite", NULL,
         "cannot represent"},
        {"a X\n", "", "b c", "cannot represent the text 'b c' of the sequence at line 1"},
        {"a X\n", "", "", "cannot represent"},
        {"a X\n", "output-format=labels", "b\nc", "cannot represent the text 'b\nc'"},
        {"a X\n", "output-format=labels", " ", "cannot represent the text ' '"},
        {"a X\n", "label=none output-format=labels", NULL, "cannot represent the text ''"},
        {"\n\nB\tx\n", "format=crfsuite output-format=wordtag", NULL,
         "line 3 has attributes but no words"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char *message = rewrite(cases[i][0], strlen(cases[i][0]), cases[i][1], cases[i][2]);
        if (!strstr(message, cases[i][3])) {
            fail_msg("'%s' with '%s' gave: %s", cases[i][0], cases[i][1], message);
        }
        free(message);
    }
}

struct record {
    struct tr_buffer bytes;
    size_t calls;
    trellis_status answer;
};

static trellis_status to_record(void *user, const char *data, size_t size)
{
    struct record *record = user;
    record->calls++;
    assert_true(size >= 2 && data[size - 1] == '\n' && data[size - 2] == '\n');
    tr_buffer_add(&record->bytes, data, size);
    return record->answer;
}

static void the_sink_sees_whole_sequences(void **state)
{
    (void)state;
    trellis_text cells[] = {TR_TEXT("word"), TR_TEXT("X"), TR_TEXT("other"), TR_TEXT("Y")};
    trellis_sequence s = {.struct_size = sizeof(trellis_sequence),
                          .length = 2,
                          .columns = 2,
                          .cells = cells,
                          .weight = 1,
                          .line = 1};
    trellis_text bad[] = {TR_TEXT("fine"), TR_TEXT("a\nb")};
    struct record record = {{0}, 0, TRELLIS_OK};
    trellis_writer *writer;
    trellis_error error = {0};
    assert_int_equal(trellis_writer_create(NULL, to_record, &record, &writer, NULL), TRELLIS_OK);
    size_t good = 10000, each = strlen("word\tX\nother\tY\n\n");
    for (size_t i = 0; i < good; i++) {
        assert_int_equal(trellis_writer_put(writer, &s, NULL, NULL), TRELLIS_OK);
        assert_int_equal(trellis_writer_put(writer, &s, bad, &error), TRELLIS_DATA);
    }
    assert_int_equal(record.calls, good * each / (1 << 16));
    assert_int_equal(trellis_writer_finish(writer, NULL), TRELLIS_OK);
    assert_int_equal(record.bytes.size, good * each);
    record.answer = TRELLIS_INTERRUPTED;
    assert_int_equal(trellis_writer_put(writer, &s, NULL, NULL), TRELLIS_OK);
    assert_int_equal(trellis_writer_finish(writer, &error), TRELLIS_INTERRUPTED);
    trellis_writer_destroy(writer);
    trellis_writer_destroy(NULL);
    tr_buffer_free(&record.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_are_exact),
        cmocka_unit_test(columns_get_a_label_column),
        cmocka_unit_test(conllu_gets_its_label_replaced),
        cmocka_unit_test(crfsuite_gets_its_label_replaced),
        cmocka_unit_test(lines_get_their_labels_replaced),
        cmocka_unit_test(converts_to_columns),
        cmocka_unit_test(converts_to_conllu),
        cmocka_unit_test(converts_to_lines),
        cmocka_unit_test(converts_to_crfsuite),
        cmocka_unit_test(writes_labels_alone),
        cmocka_unit_test(writes_inline_spans),
        cmocka_unit_test(conversions_can_be_read_back),
        cmocka_unit_test(formats_have_limits),
        cmocka_unit_test(the_sink_sees_whole_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
