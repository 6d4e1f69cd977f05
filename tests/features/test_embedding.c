/* Embeddings: a hand-worked example, random vectors computed again, files that are refused, and
 * tables that are damaged. */
#include "features/embedding.h"

#include <math.h>

#include "base/random.h"
#include "features/helper.h"

/* All vectors have length 5, so that is what the components are divided by. */
static const char vectors[] = "4 2\nparis 3 4\nRome -3 4 \n\nthe 0\t5\nof 5 0\n";
/* (1 + 4 + 4 + 3 * 9) / 4 is 9: they are divided by 3. */
static const char single[] = "a 1\nb -2\nc 2\nd -5.1961524227066320\n";

static trellis_status try_parse(const char *text, const char *file, trellis_features **ret_features,
                                trellis_error *error)
{
    trellis_resource given[] = {{"v.txt", file, strlen(file)}, {"one.txt", single, strlen(single)}};
    return trellis_features_parse(tr_text(text), NULL, given, TR_COUNT(given), ret_features, error);
}

static trellis_features *parse(const char *text)
{
    trellis_features *features;
    trellis_error error = {0};
    if (try_parse(text, vectors, &features, &error)) {
        fail_msg("%s", error.message);
    }
    return features;
}

/* As written, else in lower case; unknown words have nothing, nor has the outside. */
static void test_example(void **state)
{
    (void)state;
    static const char rows[] = "Paris\nRome\nrome\nTHE\nof";
    trellis_features *features = parse(
        "columns word\npad\nnode embedding(word[-1..0],\"v.txt\")\n");
    check_features(features, rows, false, 0,
                   "embedding(word[0],\"v.txt\",1):0.6 ; embedding(word[0],\"v.txt\",2):0.8");
    check_features(features, rows, false, 1,
                   "embedding(word[-1],\"v.txt\",1):0.6 ; embedding(word[-1],\"v.txt\",2):0.8 ; "
                   "embedding(word[0],\"v.txt\",1):-0.6 ; embedding(word[0],\"v.txt\",2):0.8");
    check_features(features, rows, false, 2,
                   "embedding(word[-1],\"v.txt\",1):-0.6 ; embedding(word[-1],\"v.txt\",2):0.8");
    check_features(features, rows, false, 3,
                   "embedding(word[0],\"v.txt\",1):0 ; embedding(word[0],\"v.txt\",2)");
    trellis_features_destroy(features);
}

/* Functions, conjunctions, conditions, edges, and two files at once. */
static void test_forms(void **state)
{
    (void)state;
    trellis_features *features = parse(
        "columns word\n"
        "node embedding(suffix(word,1),\"one.txt\") & length(word)\n"
        "node embedding(word,\"v.txt\") & embedding(word,\"v.txt\")\n"
        "node embedding(word,\"one.txt\") if isupper(word)\n"
        "edge embedding(word[-1],\"one.txt\")\n");
    check_features(features, "xb\nthe\nd", false, 0,
                   "embedding(suffix(word[0],1),\"one.txt\",1)&length(word[0])=2:-0.666667");
    check_features(features, "Paris\nD", false, 0,
                   "embedding(word[0],\"v.txt\",1)&embedding(word[0],\"v.txt\",1):0.36 ; "
                   "embedding(word[0],\"v.txt\",1)&embedding(word[0],\"v.txt\",2):0.48 ; "
                   "embedding(word[0],\"v.txt\",2)&embedding(word[0],\"v.txt\",1):0.48 ; "
                   "embedding(word[0],\"v.txt\",2)&embedding(word[0],\"v.txt\",2):0.64");
    check_features(features, "Paris\nD", false, 1,
                   "embedding(suffix(word[0],1),\"one.txt\",1)&length(word[0])=1:-1.73205 ; "
                   "embedding(word[0],\"one.txt\",1) if isupper(word[0]):-1.73205");
    check_features(features, "a\nD", true, 1, "embedding(word[-1],\"one.txt\",1):0.333333");
    trellis_features_destroy(features);
}

static void test_refused_templates(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"node lower(embedding(word,\"v.txt\"))", "embedding does not give one"},
        {"node ngram(embedding(word,\"v.txt\"),0..1,2)", "embedding does not give one"},
        {"node word if embedding(word,\"one.txt\")", "expected a test"},
        {"node embedding(word,\"v.txt\",lower)", "expected ')'"},
        {"node embedding(word)", "expected ','"},
        {"segment text(embedding(word,\"v.txt\"))", "text() takes a text"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char text[200];
        trellis_features *features = NULL;
        trellis_error error = {0};
        snprintf(text, sizeof text, "columns word\n%s\n", cases[i][0]);
        assert_int_equal(try_parse(text, vectors, &features, &error), TRELLIS_TEMPLATE);
        if (!strstr(error.message, cases[i][1])) {
            fail_msg("%s: %s", cases[i][0], error.message);
        }
    }
}

static void check_file(const char *file, const char *message)
{
    trellis_features *features = NULL;
    trellis_error error = {0};
    assert_int_equal(
        try_parse("columns word\nnode embedding(word,\"v.txt\")\n", file, &features, &error),
        TRELLIS_TEMPLATE);
    assert_null(features);
    if (!strstr(error.message, message)) {
        fail_msg("'%s' where '%s' was expected", error.message, message);
    }
}

static void test_refused_files(void **state)
{
    (void)state;
    check_file("", "v.txt: the file has no vectors");
    check_file("7 3\n", "v.txt:1: the file has no vectors");
    check_file("a 1 2\nb 1\n", "v.txt:2: 1 component instead of 2");
    check_file("2 2\na 1 2\nb 1 2 3\n", "v.txt:3: 3 components instead of 2");
    check_file("1 3\na 1 2\n", "v.txt:2: 2 components instead of 3");
    check_file("a 1\nb\n", "v.txt:2: a vector has from 1 to 1024 components");
    check_file("a 1\nb x\n", "v.txt:2: expected a finite number, not 'x'");
    check_file("a 1 nan\n", "v.txt:1: expected a finite number, not 'nan'");
    check_file("a -inf 1\n", "v.txt:1: expected a finite number, not '-inf'");
    check_file("a 1e39\n", "v.txt:1: expected a finite number, not '1e39'");
    check_file("9223372036854775807 1\na 1\n", "v.txt:1: the first line announces 922337");
    check_file("-1 1\na 1\n", "v.txt:1: the first line announces -1 words, but there are 1");
    check_file("1 9223372036854775807\na 1\n", "v.txt:1: a vector has from 1 to 1024 components");
    check_file("1 0\na 1\n", "v.txt:1: a vector has from 1 to 1024 components");
    check_file("a 1\nb 2\na 1\n", "v.txt:3: a second vector for 'a'");
    struct tr_buffer wide = {0};
    tr_buffer_string(&wide, "a");
    for (int i = 0; i <= TR_MAX_DIMENSIONS; i++) {
        tr_buffer_string(&wide, " 1");
    }
    tr_buffer_char(&wide, '\0');
    check_file(wide.data, "v.txt:1: a vector has from 1 to 1024 components");
    tr_buffer_free(&wide);
}

static void load(const char *file, size_t size, struct tr_resource *resource)
{
    struct tr_input *input;
    trellis_error error = {0};
    assert_int_equal(tr_input_open_bytes(file, size, "v", &input, NULL), TRELLIS_OK);
    if (tr_embedding_load(resource, input, &error)) {
        fail_msg("%s", error.message);
    }
    tr_input_close(input);
}

/* Each component is where it belongs, whatever the order of the hashes; zeros and the largest
 * numbers are only numbers. */
static void test_random(void **state)
{
    (void)state;
    enum { WORDS = 500, DIMENSIONS = 7 };
    static float given[WORDS][DIMENSIONS];
    struct tr_random random;
    struct tr_buffer file = {0};
    double squares = 0;
    tr_random_seed(&random, 5);
    for (int i = 0; i < WORDS; i++) {
        tr_buffer_format(&file, "w%d", i);
        for (int k = 0; k < DIMENSIONS; k++) {
            given[i][k] = (float)tr_random_below(&random, 2001) / 8 - 125;
            squares += (double)given[i][k] * (double)given[i][k];
            tr_buffer_format(&file, " %.9g", (double)given[i][k]);
        }
        tr_buffer_char(&file, '\n');
    }
    struct tr_resource resource = {.kind = TR_EMBEDDING};
    struct tr_embedding embedding;
    load(file.data, file.size, &resource);
    assert_true(tr_embedding_open(resource.data, &embedding));
    assert_int_equal(embedding.words, WORDS);
    assert_int_equal(embedding.dimensions, DIMENSIONS);
    double length = sqrt(squares / WORDS);
    for (int i = 0; i < WORDS; i++) {
        char word[20];
        uint64_t row;
        snprintf(word, sizeof word, "w%d", i);
        assert_true(tr_embedding_find(&embedding, tr_text(word), &row));
        for (uint32_t k = 0; k < DIMENSIONS; k++) {
            double found = (double)tr_embedding_component(&embedding, row, k);
            assert_true(fabs(found - (double)given[i][k] / length) < 1e-6);
        }
    }
    uint64_t row;
    assert_false(tr_embedding_find(&embedding, TR_TEXT("w500"), &row));
    tr_resource_free(&resource);
    tr_buffer_free(&file);
}

static void check_first(const char *file, float expected)
{
    struct tr_resource resource = {.kind = TR_EMBEDDING};
    struct tr_embedding embedding;
    uint64_t row;
    load(file, strlen(file), &resource);
    assert_true(tr_embedding_open(resource.data, &embedding));
    assert_true(tr_embedding_find(&embedding, TR_TEXT("a"), &row));
    assert_true(tr_embedding_component(&embedding, row, 0) == expected);
    tr_resource_free(&resource);
}

static void test_extremes(void **state)
{
    (void)state;
    check_first("a 0 0\nb 0 0\n", 0);
    check_first("a 3e38\nb -3e38\n", 1);
    check_first("a -1e-45\n", -1);
}

/* Any bytes are a table or none; whatever they are, nothing outside is read (under the
 * sanitizers), and no value is infinite. */
static void test_damaged(void **state)
{
    (void)state;
    struct tr_random random;
    size_t opened = 0;
    tr_random_seed(&random, 3);
    for (int round = 0; round < 20000; round++) {
        size_t size = tr_random_below(&random, 64);
        char *bytes = tr_alloc(size, 1);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (char)(i >= 16            ? tr_random_below(&random, 256) | 0x7F
                              : i == 0 || i == 8 ? tr_random_below(&random, 5)
                                                 : 0);
        }
        struct tr_embedding embedding;
        if (tr_embedding_open((trellis_text){bytes, size}, &embedding)) {
            opened++;
            for (uint64_t row = 0; row < embedding.words; row++) {
                uint32_t last = embedding.dimensions - 1;
                assert_true(isfinite(tr_embedding_component(&embedding, row, last)));
            }
            uint64_t row;
            tr_embedding_find(&embedding, TR_TEXT("a"), &row);
        }
        free(bytes);
    }
    assert_true(opened > 50);
}

/* A model keeps it; one whose table is damaged is refused. */
static void test_block(void **state)
{
    (void)state;
    trellis_features *features = parse("columns word\nnode embedding(word,\"v.txt\")\n");
    trellis_features *again;
    struct tr_buffer block = {0};
    trellis_error error = {0};
    assert_int_equal(tr_features_write(features, &block, NULL), TRELLIS_OK);
    assert_int_equal(tr_features_read(block.data, block.size, &again, NULL), TRELLIS_OK);
    check_features(again, "PARIS", false, 0,
                   "embedding(word[0],\"v.txt\",1):0.6 ; embedding(word[0],\"v.txt\",2):0.8");
    trellis_features_destroy(again);
    size_t table = features->resources.at[0].data.size;
    block.data[block.size - table + 8]++; // its dimensions
    assert_int_equal(tr_features_read(block.data, block.size, &again, &error), TRELLIS_MODEL);
    assert_non_null(strstr(error.message, "the embedding is corrupt"));
    trellis_features_destroy(features);
    tr_buffer_free(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused_templates),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
