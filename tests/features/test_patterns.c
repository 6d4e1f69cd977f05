/* The templates of CRF++ and the patterns of Wapiti, against expansions worked out by hand. */
#include "features/helper.h"

#define CAT "The DT\ncat NN\nsat VBD"

static enum tr_dialect dialect_of(const char *text)
{
    trellis_features *features = templates(text);
    enum tr_dialect dialect = features->dialect;
    trellis_features_destroy(features);
    return dialect;
}

static void test_dialects(void **state)
{
    (void)state;
    assert_int_equal(dialect_of("U00:%x[0,0]\nB\n"), TR_CRFPP);
    assert_int_equal(dialect_of("# u\n\nU00:%x[0,0]\nB\n"), TR_CRFPP);
    assert_int_equal(dialect_of("u:%x[0,0]\n"), TR_WAPITI);
    assert_int_equal(dialect_of("U:%x[0,0]\nb\n"), TR_WAPITI);
    assert_int_equal(dialect_of("U:%x[0,0]\n*\n"), TR_WAPITI);
    assert_int_equal(dialect_of("U:%X[0,0]\n"), TR_WAPITI);
    assert_int_equal(dialect_of("U:%t[0,0,\"a\"]\n"), TR_WAPITI);
    assert_int_equal(dialect_of("U:%x[@1,0]\n"), TR_WAPITI);
    assert_int_equal(dialect_of("columns U B\nnode U\n"), TR_NATIVE);
    assert_int_equal(dialect_of("step\n"), TR_NATIVE);
}

static void test_crfpp(void **state)
{
    (void)state;
    check("U05:%x[0,0]", CAT, 1, "U05:cat");
    check("U05:%x[-1,0]/%x[0,1]", CAT, 1, "U05:The/NN");
    check("U%x[0,0]%x[0,1]x", CAT, 1, "UcatNNx");
    check("U1:a b %x[ 0 , 1 ]-%x[1,1] c  \r", CAT, 1, "U1:a b NN-VBD c");
    check("U", CAT, 1, "U");
    check("U:%x[-2,0]/%x[-1,0]/%x[2,0]/%x[4,0]", CAT, 0, "U:_B-2/_B-1/sat/_B+2");
    check("U:%x[+1,0]", CAT, 2, "U:_B+1");
    check("U:%x[-9,0]", CAT, 0, "U:_B-9");
}

static void test_crfpp_edges(void **state)
{
    (void)state;
    trellis_features *features = templates("U:%x[0,0]\nB\n");
    assert_true(tr_features_steps(features).between);
    assert_false(tr_features_steps(features).start || tr_features_steps(features).end);
    assert_false(tr_features_has_edges(features));
    trellis_features_destroy(features);
    check_edge("B05:%x[0,0]", CAT, 0, "");
    check_edge("B05:%x[0,0]/%x[-1,1]", CAT, 1, "B05:cat/DT");
    features = templates("B05:%x[0,0]\n");
    assert_false(tr_features_steps(features).between);
    trellis_features_destroy(features);
}

/* Templates whose lines expand to the same pieces share their attributes, as in those tools. */
static void test_shared_attributes(void **state)
{
    (void)state;
    trellis_features *features = templates("U:%x[-1,0]\nU:%x[1,0]\nU7:%x[1,0]\n");
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table;
    table_read(&table, "a\nb\na");
    const struct tr_observation *seen = run(extractor, &table.sequence);
    size_t at = seen->node.begin[1];
    assert_int_equal(seen->node.begin[2] - at, 3);
    assert_true(seen->node.low[at] == seen->node.low[at + 1]);
    assert_true(seen->node.high[at] == seen->node.high[at + 1]);
    assert_true(seen->node.low[at] != seen->node.low[at + 2]);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
    features = templates("U:%x[0,0]\nU:%x[0,0]\nB:%x[0,0]\n");
    assert_int_equal(tr_features_template_count(features), 2);
    trellis_features_destroy(features);
}

static void test_crfpp_refused(void **state)
{
    (void)state;
    check_refused("U:%x[0,0]\nfoo\n", 2, 1, "begins with U or B");
    check_refused("U:%y[0,0]", 1, 4, "expected x");
    check_refused("U:%", 1, 4, "expected x");
    check_refused("U:%x", 1, 5, "expected '['");
    check_refused("U:%x[", 1, 6, "expected a row");
    check_refused("U:%x[0", 1, 7, "expected ','");
    check_refused("U:%x[0,", 1, 8, "number of a column");
    check_refused("U:%x[0,-1]", 1, 8, "number of a column");
    check_refused("U:%x[0,256]", 1, 8, "number of a column");
    check_refused("U:%x[0,0", 1, 9, "expected ']'");
    check_refused("U:%x[101,0]", 1, 6, "-100 to 100");
    check_refused("U:%x[*1,0]", 1, 6, "expected a row");
}

static void test_wapiti_values(void **state)
{
    (void)state;
    check("u05:%x[0,0]", CAT, 0, "u05:The");
    check("U05:%X[0,0]", CAT, 0, "u05:the");
    check("u:%x[-1,0]/%X[1,1] # comment", CAT, 1, "u:The/vbd");
    check("u:%x[-1,0]/%x[-4,0]/%x[-5,0]/%x[-9,0]", CAT, 0, "u:_x-1/_x-4/_x-#/_x-#");
    check("u:%x[3,0]/%x[6,0]/%x[7,0]", CAT, 0, "u:_x+1/_x+4/_x+#");
    check("u", CAT, 0, "u");
}

static void test_wapiti_kinds(void **state)
{
    (void)state;
    check("*:%x[0,0]", CAT, 1, "*:cat");
    check_edge("*:%x[0,0]", CAT, 1, "*:cat");
    check_edge("b:%x[0,0]\nu:%x[0,1]", CAT, 1, "b:cat");
    check("b:%x[0,0]\nu:%x[0,1]", CAT, 1, "u:NN");
    trellis_features *features = templates("*\n");
    assert_true(tr_features_steps(features).between);
    assert_int_equal(tr_features_template_count(features), 1); // and "*" at every token
    trellis_features_destroy(features);
}

static void test_wapiti_absolute(void **state)
{
    (void)state;
    for (size_t token = 0; token < 3; token++) {
        check("u:%x[@1,0]/%x[@-1,0]/%x[@2,1]/%x[@-3,0]", CAT, token, "u:The/sat/NN/The");
        check("u:%x[@4,0]/%x[@7,0]/%x[@8,0]/%x[@999,0]", CAT, token, "u:_x+1/_x+4/_x+#/_x+#");
        check("u:%x[@-4,0]/%x[@-999,0]", CAT, token, "u:_x-1/_x-#");
    }
    /* The plan changes with the length. */
    trellis_features *features = templates("u:%x[@-1,0]");
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table;
    static const char *const rows[] = {"a\nb\nc", "a\nb"};
    static const char *const expected[] = {"u:c", "u:b"};
    for (size_t i = 0; i < 4; i++) {
        struct tr_buffer buffer = {0};
        table_read(&table, rows[i % 2]);
        describe(extractor, &table.sequence, false, 0, &buffer);
        assert_string_equal(buffer.data, expected[i % 2]);
        assert_true(extractor != NULL);
        tr_buffer_free(&buffer);
    }
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_wapiti_tests(void **state)
{
    (void)state;
    check("u:%t[0,0,\"^\\u\"]", CAT, 0, "u:true");
    check("u:%t[0,0,\"^\\u\"]", CAT, 1, "u:false");
    check("u:%T[0,0,\"^\\u\"]", CAT, 0, "u:true");
    check("u:%t[-1,0,\"_x\"]", CAT, 0, "u:true"); // it includes the padding
    check("u:%t[0,0,\"a\"]%t[0,1,\"^N*$\"]", CAT, 1, "u:truetrue");
}

static void test_wapiti_matches(void **state)
{
    (void)state;
    check("u:%m[0,0,\"^.?.?\"]", "Ab-9", 0, "u:Ab");
    check("u:%M[0,0,\"^.?.?\"]", "Ab-9", 0, "u:ab");
    check("u:%m[0,0,\"\\d\"]", "Ab-9", 0, "u:9");
    check("u:%m[0,0,\"\\D*$\"]", "9ab", 0, "u:ab");
    check("u:%m[0,0,\"a*\"]", "aaa", 0, "u:"); // * is not greedy
    check("u:%m[0,0,\"a*b\"]", "xaaab", 0, "u:aaab");
    check("u:%m[0,0,\"ab?\"]", "abb", 0, "u:ab");
    check("u:%m[0,0,\"q\"]", "abb", 0, "u:"); // no match: nothing between the literals
    check("u:%m[0,0,\"\\p\"]", "a.b", 0, "u:.");
    check("u:%m[0,0,\"\\P\\p\\w\"]", "a.b", 0, "u:a.b");
    check("u:%m[0,0,\"\\.\\b\"]", "a.b", 0, "u:.b"); // \b is the letter b
    check("u:%m[0,0,\"$.^\"]", "a$b^", 0, "u:$b^");  // anchors only at the ends
    check("u:%m[0,0,\"[a]\"]", "[a]", 0, "u:[a]");
    check("u:%m[0,0,\"\\\"\\L\"]", "x\"Y", 0, "u:\"Y");
    check("u:%m[0,0,\".?$\"]", "dé", 0, "u:é"); // characters, where Wapiti has bytes
    check("u:%m[0,0,\"\\a\"]", "é", 0, "u:");   // classes are ASCII's, as there
}

static void test_wapiti_refused(void **state)
{
    (void)state;
    check_refused("u:%x[0,0]\nnothing", 2, 1, "u, b or *");
    check_refused("u:%z[0,0]", 1, 4, "x, X, t, T, m or M");
    check_refused("u:%x[*1,0]", 1, 6, "not supported");
    check_refused("u:%x[@0,0]", 1, 8, "without 0");
    size_t at;
    assert_true(tr_wapiti_regex_check(tr_text("^a*"), &at));
    assert_false(tr_wapiti_regex_check(tr_text("*a"), &at)); // nothing to repeat
    assert_false(tr_wapiti_regex_check(tr_text("^?a"), &at));
    assert_false(tr_wapiti_regex_check(tr_text("\\"), &at));
    check_refused("u:%t[0,0]", 1, 9, "expected ','");
    check_refused("u:%t[0,0,a]", 1, 10, "in quotes");
    check_refused("u:%t[0,0,\"a]", 1, 10, "not closed");
    check_refused("u:%t[0,0,\"a**\"]", 1, 13, "before * or ?");
    check_refused("u:%t[0,0,\"*\"]", 1, 11, "before * or ?");
    check_refused("u:%t[0,0,\"a\"", 1, 13, "expected ']'");
}

/* The two chunking examples extract the same, except beyond the ends of a sentence. */
static void test_examples(void **state)
{
    (void)state;
    trellis_features *features;
    trellis_error error = {0};
    if (trellis_features_open("examples/templates/crfpp-chunking.txt", &features, &error)) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(tr_features_template_count(features), 19);
    assert_int_equal(features->dialect, TR_CRFPP);
    trellis_features_destroy(features);
    if (trellis_features_open("examples/templates/crfsuite-chunking.txt", &features, &error)) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(tr_features_template_count(features), 21);
    struct tr_step_choice steps = tr_features_steps(features);
    assert_true(steps.between && !steps.start && !steps.end);
    trellis_features_destroy(features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialects),       cmocka_unit_test(test_crfpp),
        cmocka_unit_test(test_crfpp_edges),    cmocka_unit_test(test_shared_attributes),
        cmocka_unit_test(test_crfpp_refused),  cmocka_unit_test(test_wapiti_values),
        cmocka_unit_test(test_wapiti_kinds),   cmocka_unit_test(test_wapiti_absolute),
        cmocka_unit_test(test_wapiti_tests),   cmocka_unit_test(test_wapiti_matches),
        cmocka_unit_test(test_wapiti_refused), cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
