/* test_allow.c - restricting positions: the best path among those allowed.
 *
 * The reference is the tagger itself with a label given at every position: its score is then that
 * of one path, and the best of these is the expected result.
 */
#include <math.h>

#include "base/random.h"
#include "model/model.h"
#include "model/test_model.h"
#include "support/near.h"

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\nloudly RB\n\n"
                             "dogs NN\nchase VB\nthe DT\ncats NN\n\nCats NN\nsleep VB\n";

enum { LENGTH = 4 };

/* Allows the labels of a set of bits. */
static void allow(trellis_tagger *tagger, const trellis_model *model, size_t position, unsigned set)
{
    trellis_text labels[8];
    trellis_error error = {0};
    size_t count = 0;
    for (size_t c = 0; c < trellis_model_label_count(model); c++) {
        if (set >> c & 1) {
            labels[count++] = trellis_model_label(model, c);
        }
    }
    assert_ok(trellis_tagger_allow(tagger, position, labels, count, &error), error);
}

/* The best score of all paths within the sets, one by one. */
static double judge(trellis_tagger *tagger, const trellis_model *model, const char *tokens,
                    const unsigned *sets)
{
    unsigned labels = (unsigned)trellis_model_label_count(model), paths = 1;
    double best = -INFINITY, score;
    for (size_t i = 0; i < LENGTH; i++) {
        paths *= labels;
    }
    for (unsigned path = 0; path < paths; path++) {
        bool within = true;
        for (unsigned i = 0, rest = path; i < LENGTH; i++, rest /= labels) {
            within = within && sets[i] >> rest % labels & 1;
        }
        for (unsigned i = 0, rest = path; within && i < LENGTH; i++, rest /= labels) {
            allow(tagger, model, i, 1u << rest % labels);
        }
        if (within) {
            free(tag_with(tagger, tokens, &score));
            best = fmax(best, score);
        }
    }
    return best;
}

static void check_against_all(const char *train_options, const char *tag_options)
{
    trellis_model *model = train_on(corpus, train_options);
    trellis_tagger *tagger = make_tagger(model, tag_options);
    struct tr_random random;
    tr_random_seed(&random, 3);
    for (int round = 0; round < 25; round++) {
        unsigned sets[LENGTH];
        double score, free_score, same;
        char *unbound = tag_with(tagger, "the cats bark zebra", &free_score);
        for (size_t i = 0; i < LENGTH; i++) {
            sets[i] = 1 + (unsigned)tr_random_below(&random, 15);
            allow(tagger, model, i, sets[i]);
        }
        char *tags = tag_with(tagger, "the cats bark zebra", &score);
        assert_true(tags[0] != '!');
        assert_true(score <= free_score);
        assert_near(score, judge(tagger, model, "the cats bark zebra", sets), 1e-5);
        char *again = tag_with(tagger, "the cats bark zebra", &same); // restrictions are cleared
        assert_string_equal(again, unbound);
        assert_true(same == free_score);
        free(unbound);
        free(tags);
        free(again);
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void test_against_all(void **state)
{
    (void)state;
    check_against_all("epochs=3 features=id", "");
    check_against_all("epochs=3 features=id order=2", "");
    check_against_all("epochs=3 features=id order=3 observed-states=yes", "");
    check_against_all("type=crf features=id counted=2", "");
    check_against_all("type=maxent features=id", "");
    check_against_all("type=memm features=id", "");
    check_against_all("type=memm features=id order=2", "");
}

/* Given labels override the dictionary; repeated calls for a position intersect. */
static void test_precedence(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus,
                                    "epochs=3 features=id dictionary=learn dictionary-count=1");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_error error = {0};
    const trellis_text rb = TR_TEXT("RB"), vb = TR_TEXT("VB"), both[] = {rb, vb};
    assert_ok(trellis_tagger_allow(tagger, 0, &rb, 1, &error), error);
    char *tags = tag_with(tagger, "the cat", NULL);
    assert_string_equal(tags, "RB NN");
    free(tags);
    assert_ok(trellis_tagger_allow(tagger, 1, both, 2, &error), error);
    assert_ok(trellis_tagger_allow(tagger, 1, &vb, 1, &error), error);
    tags = tag_with(tagger, "the cat", NULL);
    assert_string_equal(tags, "DT VB");
    free(tags);
    /* Nothing is left where calls contradict each other; the next sequence is free again. */
    assert_ok(trellis_tagger_allow(tagger, 1, &rb, 1, &error), error);
    assert_ok(trellis_tagger_allow(tagger, 1, &vb, 1, &error), error);
    tags = tag_with(tagger, "the cat", NULL);
    assert_true(tags[0] == '!');
    free(tags);
    tags = tag_with(tagger, "the cat", NULL);
    assert_string_equal(tags, "DT NN");
    free(tags);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void test_errors(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "epochs=3 features=id");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_error error = {0};
    const trellis_text labels[] = {TR_TEXT("NN"), TR_TEXT("XX")};
    assert_int_equal(trellis_tagger_allow(tagger, 0, labels, 2, &error), TRELLIS_DATA);
    assert_non_null(strstr(error.message, "no label 'XX'"));
    assert_int_equal(trellis_tagger_allow(tagger, 0, labels, 0, &error), TRELLIS_DATA);
    assert_int_equal(trellis_tagger_allow(tagger, 0, labels, 0, NULL), TRELLIS_DATA);
    char *tags = tag_with(tagger, "the cat", NULL); // as if it had not been called
    assert_string_equal(tags, "DT NN");
    free(tags);
    assert_ok(trellis_tagger_allow(tagger, 2, labels, 1, &error), error);
    tags = tag_with(tagger, "the cat", NULL);
    assert_non_null(strstr(tags, "! position 3 is beyond the end"));
    free(tags);
    tags = tag_with(tagger, "the cat", NULL);
    assert_string_equal(tags, "DT NN");
    free(tags);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* Labels are given in the scheme of the output, whatever the model has inside. */
static void test_schemes(void **state)
{
    (void)state;
    static const char spans[] = "John B-PER\nSmith I-PER\nsaw O\nOslo B-LOC\n\nAnn B-PER\nsaw O\n"
                                "the O\nBay B-LOC\nof I-LOC\nFundy I-LOC\n";
    static const char *const inside[] = {"iob1", "iob2", "iobes", "bilou"};
    for (size_t i = 0; i < TR_COUNT(inside); i++) {
        char options[200];
        snprintf(options, sizeof options,
                 "epochs=5 features=id constrain=iob scheme=iob2 train-scheme=%s", inside[i]);
        trellis_model *model = train_on(spans, options);
        trellis_tagger *tagger = make_tagger(model, "");
        trellis_error error = {0};
        static const char *const given[] = {"O", "B-LOC", "I-LOC", "B-PER"};
        for (size_t k = 0; k < TR_COUNT(given); k++) {
            trellis_text label = tr_text(given[k]);
            assert_ok(trellis_tagger_allow(tagger, k, &label, 1, &error), error);
        }
        char *tags = tag_with(tagger, "John saw John saw", NULL);
        assert_string_equal(tags, "O B-LOC I-LOC B-PER");
        free(tags);
        assert_int_equal(trellis_tagger_allow(tagger, 0, &TR_TEXT("B-ORG"), 1, NULL), TRELLIS_DATA);
        trellis_tagger_destroy(tagger);
        trellis_model_close(model);
    }
}

enum { MANY = 20, LONG = 7 };

/* A model of order 2 with a weight for every three labels, and nothing else. */
static trellis_model *make_trigrams(struct tr_random *random, double weights[MANY][MANY][MANY])
{
    struct tr_buffer text = {0};
    tr_buffer_string(&text, "trellis-text\t1\nnote\ttype\tcrf\ntemplate\tcolumns word\n"
                            "template\tnode word\ntemplate\tstep\n");
    for (int a = 0; a < MANY; a++) {
        tr_buffer_format(&text, "label\tL%d\n", a);
    }
    tr_buffer_string(&text, "order\t2\n");
    for (int i = 0; i < MANY * MANY * MANY; i++) {
        int a = i / MANY / MANY, b = i / MANY % MANY, c = i % MANY;
        weights[a][b][c] = 0.25 * ((double)tr_random_below(random, 41) - 20);
        tr_buffer_format(&text, "step\t%g\tL%d\tL%d\tL%d\n", weights[a][b][c], a, b, c);
    }
    trellis_model *model = import_model(put_file("trigrams.txt", text.data, text.size));
    tr_buffer_free(&text);
    return model;
}

/* Positions with two of many labels, as a tag dictionary leaves them, and one where each label in
 * turn is the only one: the score of the best path against the sum of the weights of each path. */
static void test_few_of_many(void **state)
{
    (void)state;
    static double weights[MANY][MANY][MANY];
    struct tr_random random;
    tr_random_seed(&random, 9);
    trellis_model *model = make_trigrams(&random, weights);
    trellis_tagger *tagger = make_tagger(model, "");
    for (int trial = 0; trial < 30; trial++) {
        size_t allowed[LONG][2];
        for (size_t i = 0; i < LONG; i++) {
            allowed[i][0] = tr_random_below(&random, MANY);
            allowed[i][1] = (allowed[i][0] + 1 + tr_random_below(&random, MANY - 1)) % MANY;
            if (i == 2) {
                allowed[i][0] = allowed[i][1] = (size_t)trial % MANY;
            }
            allow(tagger, model, i, 1u << allowed[i][0] | 1u << allowed[i][1]);
        }
        double best = -INFINITY, score;
        for (unsigned path = 0; path < 1u << LONG; path++) {
            double sum = 0;
            for (size_t i = 2; i < LONG; i++) {
                sum += weights[allowed[i - 2][path >> (i - 2) & 1]]
                              [allowed[i - 1][path >> (i - 1) & 1]][allowed[i][path >> i & 1]];
            }
            best = fmax(best, sum);
        }
        free(tag_with(tagger, "a b c d e f g", &score));
        assert_near(score, best, 1e-4);
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all), cmocka_unit_test(test_few_of_many),
        cmocka_unit_test(test_precedence),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_schemes),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
