/* The native template language: windows, ranges, products, conditions, columns, and what it
 * refuses. */
#include "features/helper.h"

#define CAT "The DT\ncat NN\nsat VBD\n"

static void test_offsets(void **state)
{
    (void)state;
    check("columns word pos\nnode word", CAT, 1, "word[0]=cat");
    check("columns word pos\nnode word[-1]", CAT, 1, "word[-1]=The");
    check("columns word \u0100\u00bf\nnode \u0100\u00bf", CAT, 1,
          "\u0100\u00bf[0]=NN"); // bytes from 0x80 on
    check("columns word pos\nnode word[-1]", CAT, 0, "");
    check("columns word pos\nnode pos[-2..2]", CAT, 1, "pos[-1]=DT ; pos[0]=NN ; pos[1]=VBD");
    check("node $2[0]\nnode $1[+1]", CAT, 1, "$2[0]=NN ; $1[1]=sat");
}

static void test_pad(void **state)
{
    (void)state;
    check("columns word pos\npad\nnode word[-2..2]", CAT, 0,
          "word[-2]=_B-2 ; word[-1]=_B-1 ; word[0]=The ; word[1]=cat ; word[2]=sat");
    check("columns word pos\npad\nnode lower(word[-1]) & pos", CAT, 0,
          "lower(word[-1])&pos[0]=_B-1|DT");
    check("columns word pos\npad\nnode suffix(word[2],3)", CAT, 2, "suffix(word[2],3)=_B+2");
    check("columns word pos\npad\nnode isupper(word[-1])\nnode first[-1]", CAT, 0, "");
    check("columns word pos\nnode lower(word[-1]) & pos", CAT, 0, "");
}

static void test_products(void **state)
{
    (void)state;
    check("columns word pos\nnode pos[-1..0] & word[0..1]", CAT, 1,
          "pos[-1]&word[0]=DT|cat ; pos[-1]&word[1]=DT|sat ; pos[0]&word[0]=NN|cat ; "
          "pos[0]&word[1]=NN|sat");
    check("columns word pos\nnode prefix(word[-1..0],1..2)", CAT, 1,
          "prefix(word[-1],1)=T ; prefix(word[-1],2)=Th ; prefix(word[0],1)=c ; "
          "prefix(word[0],2)=ca");
    check("columns word pos\nnode isupper(word[-1]) & suffix(word,2)", CAT, 1,
          "isupper(word[-1])&suffix(word[0],2)=at");
    check("columns word pos\nnode isupper(word) & suffix(word,2)", CAT, 1, "");
    check("columns word pos\nnode isupper(word[-1]) & first[-1]", CAT, 1,
          "isupper(word[-1])&first[-1]");
}

static void test_ngrams(void **state)
{
    (void)state;
    check("columns word pos\nnode ngram(pos,-1..1,2)", CAT, 1,
          "pos[-1]&pos[0]=DT|NN ; pos[0]&pos[1]=NN|VBD");
    check("columns word pos\nnode ngram(lower(word),0..1,1..2)", CAT, 0,
          "lower(word[0])=the ; lower(word[1])=cat ; lower(word[0])&lower(word[1])=the|cat");
    check("columns word pos\nnode ngram(suffix(word,1..2),0..1,2)", CAT, 0,
          "suffix(word[0],1)&suffix(word[1],1)=e|t ; suffix(word[0],2)&suffix(word[1],2)=he|at");
    check("columns word pos\nnode ngram(pos,0..1,2) & word", CAT, 0,
          "pos[0]&pos[1]&word[0]=DT|NN|The");
}

static void test_duplicates_are_merged(void **state)
{
    (void)state;
    trellis_features *features = templates("columns word pos\n"
                                           "node ngram(pos,-1..0,2)\n"
                                           "node pos[-1] & pos\n"
                                           "edge pos[-1] & pos[0]\n");
    assert_int_equal(tr_features_template_count(features), 2);
    trellis_features_destroy(features);
}

static void test_conditions(void **state)
{
    (void)state;
    const char *head = "columns word pos\nnode suffix(word,2) if ";
    char text[300];
    snprintf(text, sizeof text, "%sisupper(word)", head);
    check(text, CAT, 0, "suffix(word[0],2) if isupper(word[0])=he");
    check(text, CAT, 1, "");
    snprintf(text, sizeof text, "%snot isupper(word) & last", head);
    check(text, CAT, 1, "");
    check(text, CAT, 2, "suffix(word[0],2) if not isupper(word[0])&last=at");
    snprintf(text, sizeof text, "%snot isupper(word[-1])", head);
    check(text, CAT, 0,
          "suffix(word[0],2) if not isupper(word[-1])=he"); // no token there is upper case
    check(text, CAT, 1, "");
    check("columns word\nnode bias if hasdigit(word)", "a1", 0, "bias if hasdigit(word[0])");
}

static void test_edges_and_steps(void **state)
{
    (void)state;
    const char *text = "columns word pos\nedge pos & word[-1]\nstep start\n";
    check_edge(text, CAT, 0, "");
    check_edge(text, CAT, 1, "pos[0]&word[-1]=NN|The");
    trellis_features *features = templates(text);
    struct tr_step_choice steps = tr_features_steps(features);
    assert_true(steps.between && steps.start && !steps.end);
    assert_true(tr_features_has_edges(features));
    trellis_features_destroy(features);

    features = templates("node $1\nstep start end");
    steps = tr_features_steps(features);
    assert_true(steps.between && steps.start && steps.end);
    assert_false(tr_features_has_edges(features));
    trellis_features_destroy(features);

    features = templates("node $1\n");
    assert_false(tr_features_steps(features).between);
    trellis_features_destroy(features);
}

static void test_reals(void **state)
{
    (void)state;
    const char *rows = "a 0.5\nb -2\nc 1";
    const char *text =
        "columns word score\nnode word\nnode real(score)\nnode real(score[-1]) & word"
        "\nnode real(score) & real(score[1])";
    check(text, rows, 0, "word[0]=a ; real(score[0]):0.5 ; real(score[0])&real(score[1]):-1");
    check(text, rows, 1,
          "word[0]=b ; real(score[0]):-2 ; real(score[-1])&word[0]=b:0.5 ; "
          "real(score[0])&real(score[1]):-2");
    check(text, rows, 2, "word[0]=c ; real(score[0]) ; real(score[-1])&word[0]=c:-2");
    check("columns word\nnode real(match(word,/[0-9]+/))", "ab12", 0,
          "real(match(word[0],/[0-9]+/)):12");
    check("columns word\nnode real(match(word,/[0-9]+/))", "ab", 0, "");
}

static void test_bad_reals(void **state)
{
    (void)state;
    static const char *const cells[] = {"a", "", "nan", "inf", "1e60", "1,5"};
    trellis_features *features = templates("columns word\nnode real(word)");
    struct tr_extractor *extractor = extractor_for(features, false);
    for (size_t i = 0; i < TR_COUNT(cells); i++) {
        trellis_text both[] = {TR_TEXT("1"), tr_text(cells[i])};
        trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                     .length = 2,
                                     .columns = 1,
                                     .cells = both,
                                     .line = 7};
        const struct tr_observation *observation;
        trellis_error error = {0};
        assert_int_equal(tr_extractor_run(extractor, &sequence, &observation, &error),
                         TRELLIS_FORMAT);
        assert_int_equal(error.line, 8);
        assert_non_null(strstr(error.message, "line 8"));
        assert_null(observation);
    }
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_optional_columns(void **state)
{
    (void)state;
    const char *text = "columns word pos? chunk?\nnode word\nnode pos\nnode word & chunk[-1]\n"
                       "node bias if not isupper(chunk)";
    check(text, "a", 0, "word[0]=a");
    check(text, "a X", 0, "word[0]=a ; pos[0]=X");
    check(text, "a X I\nb Y O", 1, "word[0]=b ; pos[0]=Y ; word[0]&chunk[-1]=b|I");
    check(text, "a X i", 0, "word[0]=a ; pos[0]=X ; bias if not isupper(chunk[0])");
}

static void test_label_is_not_an_observation(void **state)
{
    (void)state;
    trellis_features *features = templates("columns word pos\nnode word\nnode pos");
    struct tr_extractor *extractor = extractor_for(features, false);
    trellis_error error = {0};
    assert_int_equal(tr_extractor_bind(extractor, NULL, 1, &error), TRELLIS_TEMPLATE);
    assert_non_null(strstr(error.message, "'pos'"));
    assert_int_equal(tr_extractor_bind(extractor, NULL, 2, &error), TRELLIS_OK);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);

    features = templates("columns word pos?\nnode word\nnode pos");
    extractor = extractor_for(features, true);
    static struct table table;
    table_read(&table, "a X");
    assert_int_equal(tr_extractor_bind(extractor, NULL, 1, &error), TRELLIS_OK);
    struct tr_buffer buffer = {0};
    describe(extractor, &table.sequence, false, 0, &buffer);
    assert_string_equal(buffer.data, "word[0]=a");
    tr_buffer_free(&buffer);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);

    features = templates("columns a b\nnode a"); // a column that no template uses may be the label
    extractor = extractor_for(features, false);
    assert_int_equal(tr_extractor_bind(extractor, NULL, 1, &error), TRELLIS_OK);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_missing_columns(void **state)
{
    (void)state;
    trellis_features *features = templates("columns word pos\nnode word & pos");
    struct tr_extractor *extractor = extractor_for(features, false);
    static struct table table;
    table_read(&table, "a\nb");
    table.sequence.line = 12;
    const struct tr_observation *observation;
    trellis_error error = {0};
    assert_int_equal(tr_extractor_run(extractor, &table.sequence, &observation, &error),
                     TRELLIS_FORMAT);
    assert_int_equal(error.line, 12);
    assert_non_null(strstr(error.message, "column 2"));
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);

    features = templates("node word"); // only an input with names could tell which it is
    extractor = extractor_for(features, false);
    assert_int_equal(tr_extractor_bind(extractor, NULL, SIZE_MAX, &error), TRELLIS_TEMPLATE);
    assert_int_equal(tr_extractor_run(extractor, &table.sequence, &observation, &error),
                     TRELLIS_TEMPLATE);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("", 0, 0, "no template");
    check_refused("# nothing\n\n", 0, 0, "no template");
    check_refused("columns word\nnode sufix(word,3)", 2, 6, "no function 'sufix'");
    check_refused("columns word\nnode sufix(word,3)", 2, 6, "shortshape");
    check_refused("columns word\nnode wrod", 2, 6, "no column 'wrod'; the columns are word");
    check_refused("node", 1, 5, "expected a column or a function");
    check_refused("node $1 &", 1, 10, "expected a column or a function");
    check_refused("node $1 $2", 1, 9, "expected '&', 'if' or the end");
    check_refused("node $0", 1, 7, "from 1 to");
    check_refused("node $1[x]", 1, 9, "expected a whole number");
    check_refused("node $1[1", 1, 10, "expected ']'");
    check_refused("node $1[2..1]", 1, 12, "from 2 to 100");
    check_refused("node $1[101]", 1, 9, "from -100 to 100");
    check_refused("node $1[99999999999999999999]", 1, 9, "from -100 to 100");
    check_refused("node lower", 1, 11, "expected '('");
    check_refused("node lower($1", 1, 14, "expected ')'");
    check_refused("node lower($1,2)", 1, 14, "expected ')'");
    check_refused("node prefix($1)", 1, 15, "expected ','");
    check_refused("node prefix($1,0)", 1, 16, "from 1 to 1000");
    check_refused("node prefix($1,1..100)", 1, 16, "more than 64 numbers");
    check_refused("node lower(isupper($1))", 1, 12, "takes a text");
    check_refused("node lower(real($1))", 1, 12, "takes a text");
    check_refused("node lower(position)", 1, 12, "takes a column");
    check_refused("node lower(ngram($1,0..1,2))", 1, 12, "n-grams");
    check_refused("node ngram($1[1],0..1,2)", 1, 12, "the argument of ngram() takes no offset");
    check_refused("node ngram($1,0..1,3)", 1, 12, "too small");
    check_refused("node match($1,/a(/)", 1, 18, "missing closing parenthesis");
    check_refused("node match($1,/a", 1, 15, "not closed");
    check_refused("node match($1,//)", 1, 16, "between the two /");
    check_refused("node match($1,a)", 1, 15, "expected '/'");
    check_refused("node inlist($1,\"no/such/file\")", 1, 16, "no/such/file");
    check_refused("node inlist($1,x)", 1, 16, "expected '\"'");
    check_refused("node $1 if $2", 1, 12, "expected a test");
    check_refused("node $1 if isupper($1[-1..1])", 1, 12, "one offset");
    check_refused("node $1 if", 1, 11, "expected a column or a function");
    check_refused("node $1\nstep begin", 2, 6, "expected 'start', 'end'");
    check_refused("node $1\nfoo", 2, 1, "expected node, edge, segment, step, columns or pad");
    check_refused("hello", 1, 1, "expected node, edge, segment, step, columns or pad");
    check_refused("columns", 1, 8, "expected the name of a column");
    check_refused("columns a a\nnode a", 1, 11, "is already in use");
    check_refused("columns first\nnode first", 1, 9, "is already in use");
    check_refused("node $1\ncolumns a", 2, 1, "before the templates");
    check_refused("pad x\nnode $1", 1, 5, "end of the line");
    check_refused("node $1[-100..100] & $1[-100..100]", 1, 1, "20000");
    check_refused("node ngram($1,-50..50,1..64)", 1, 29, "20000");
    check_refused("node ngram($1,0..63,64) & $1", 1, 1, "64 parts");
    check_refused("node lower(lower(lower(lower(lower(lower(lower(lower(lower(lower(lower(lower("
                  "lower(lower(lower(lower(lower(lower($1))))))))))))))))))",
                  1, 108, "nested more than 16 deep");
}

static void test_file_and_name(void **state)
{
    (void)state;
    trellis_features *features;
    trellis_error error = {0};
    assert_int_equal(trellis_features_open("no-such-thing", &features, &error), TRELLIS_IO);
    assert_non_null(strstr(error.message, "id hmm classes extended"));
    const char *path = temporary("bad_templates.txt");
    write_file(path, "\xEF\xBB\xBFnode $1\r\n\r\nnode (\r\n");
    assert_int_equal(trellis_features_open(path, &features, &error), TRELLIS_TEMPLATE);
    assert_non_null(strstr(error.message, "bad_templates.txt:3:6: "));
    remove(path);
    features = templates("node $1 # one\n");
    assert_string_equal(tr_features_name(features), "t");
    assert_true(tr_text_is(tr_features_source(features), "node $1 # one\n"));
    trellis_features_destroy(features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_pad),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_ngrams),
        cmocka_unit_test(test_duplicates_are_merged),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_edges_and_steps),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_bad_reals),
        cmocka_unit_test(test_optional_columns),
        cmocka_unit_test(test_label_is_not_an_observation),
        cmocka_unit_test(test_missing_columns),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_file_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
