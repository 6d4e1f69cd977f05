/* test_bits.c - models with weights in 16 bits: every value, conversion both ways, and errors. */
#include "test_model.h"

#include <math.h>

#include "model/model.h"

enum { VALUES = 1 << 16, OUTCOMES = 5, WIDTH = 8 };

static trellis_model *repack(const trellis_model *model, int bits)
{
    trellis_model *packed;
    trellis_error error = {0};
    assert_ok(trellis_model_repack(model, bits, &packed, &error), error);
    assert_int_equal(trellis_model_bits(packed), bits);
    return packed;
}

static void assert_same_bytes(const trellis_model *a, const trellis_model *b)
{
    assert_int_equal(a->image.size, b->image.size);
    assert_memory_equal(a->image.data, b->image.data, a->image.size);
}

/* All 16-bit integers as weights, dense and sparse, read in every way. */
static void test_all_values(void **state)
{
    (void)state;
    uint16_t *shorts = malloc((VALUES + 3 * VALUES) * sizeof *shorts);
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint16_t row[] = {1, (uint16_t)(i % OUTCOMES), (uint16_t)i};
        shorts[i] = (uint16_t)i;
        memcpy(shorts + VALUES + 3 * (size_t)i, row, sizeof row);
    }
    struct tr_table table = {.outcomes = OUTCOMES,
                             .width = WIDTH,
                             .shorts = shorts,
                             .unit = 0x1p-12f,
                             .dense_words = VALUES,
                             .word_count = 4 * VALUES};
    for (uint32_t i = 0; i < VALUES; i++) {
        float expected = (float)((int32_t)i - (i >= VALUES / 2 ? VALUES : 0)) / 4096;
        uint32_t outcome = i % OUTCOMES, sparse = VALUES + 3 * i;
        float scores[WIDTH] = {0};
        double exact[WIDTH] = {0};
        assert_true(tr_table_real(&table, i) == expected);
        assert_true(tr_table_weight(&table, sparse, outcome) == expected);
        tr_table_add(&table, sparse, 3, scores);
        tr_table_add_exact(&table, sparse, 3, exact);
        assert_true(scores[outcome] == 3 * expected && exact[outcome] == 3 * (double)expected);
        uint32_t row = i < VALUES - WIDTH ? i : VALUES - WIDTH;
        memset(scores, 0, sizeof scores);
        tr_table_add(&table, row, 2, scores);
        assert_true(scores[i - row < WIDTH ? i - row : 0] == 2 * expected);
    }
    free(shorts);
}

/* Rows that end where the array ends, and rows that claim more. */
static void test_edge_of_rows(void **state)
{
    (void)state;
    static const uint16_t claims[] = {0, 1, 2, 3, UINT16_MAX};
    for (size_t c = 0; c < TR_COUNT(claims); c++) {
        uint16_t *shorts = calloc(WIDTH + 6,
                                  sizeof *shorts); // dense; a count, two pairs and a half
        shorts[WIDTH] = claims[c];
        shorts[WIDTH + 2] = shorts[WIDTH + 4] = 4;
        shorts[WIDTH + 3] = OUTCOMES; // which there is not
        struct tr_table table = {.outcomes = OUTCOMES,
                                 .width = WIDTH,
                                 .shorts = shorts,
                                 .unit = 1,
                                 .dense_words = WIDTH,
                                 .word_count = WIDTH + 6};
        for (uint32_t row = 0; row < WIDTH + 8; row++) {
            float scores[WIDTH] = {0};
            double exact[WIDTH] = {0};
            tr_table_add(&table, row, 1, scores);
            tr_table_add_exact(&table, row, 1, exact);
            assert_true(scores[0] == (row == WIDTH && claims[c] > 0 ? 4 : 0));
            tr_table_weight(&table, row, OUTCOMES - 1);
        }
        free(shorts);
    }
}

static const char *const kinds[] = {
    "type=crf epochs=20 features=extended",
    "type=perceptron epochs=5 features=extended order=2",
    "type=crf epochs=60 l1=0.5 features=extended",
    "type=hmm",
};

static double difference(const struct tr_table *a, const struct tr_table *b)
{
    double largest = 0;
    assert_int_equal(a->word_count, b->word_count);
    for (uint64_t r = 0; r < a->record_count; r++) {
        for (uint32_t outcome = 0; outcome < a->outcomes; outcome++) {
            uint32_t row = a->records[r].row;
            double moved = fabs((double)tr_table_weight(a, row, outcome) -
                                (double)tr_table_weight(b, row, outcome));
            largest = fmax(largest, moved);
        }
    }
    return largest;
}

static double difference_of(const trellis_model *a, const trellis_model *b)
{
    return fmax(difference(&a->node, &b->node), difference(&a->edge, &b->edge));
}

/* 16 bits are off by at most half a unit, and converting to 32 bits loses nothing more. */
static void test_conversion_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(kinds); i++) {
        trellis_model *model = train_file("data/english/dev.conll", kinds[i]);
        trellis_model *small = repack(model, 16), *large = repack(small, 32);
        trellis_model *again = repack(large, 16), *same = repack(small, 16);
        double largest = difference_of(model, small), unit = (double)small->node.unit;
        assert_true(largest > 0 && largest <= unit / 2);
        assert_true(difference_of(small, large) == 0);
        assert_same_bytes(small, again);
        assert_same_bytes(small, same);
        assert_true(small->image.size < model->image.size);
        double before = accuracy_of(model, "data/english/test.conll");
        double after = accuracy_of(small, "data/english/test.conll");
        assert_true(fabs(before - after) < 0.0005);
        assert_true(accuracy_of(large, "data/english/test.conll") == after);
        char *text = say(small, EXPORT);
        trellis_model *imported = import_model(put_text("small.txt", text));
        assert_true(accuracy_of(imported, "data/english/test.conll") == after);
        free(text);
        trellis_model_close(imported);
        trellis_model_close(same);
        trellis_model_close(again);
        trellis_model_close(large);
        trellis_model_close(small);
        trellis_model_close(model);
    }
}

/* Training with the option gives the same model as a conversion, in memory and from a file. */
static void test_option(void **state)
{
    (void)state;
    trellis_model *model = train_file("data/english/dev.conll", "epochs=2 features=extended");
    trellis_model *small = repack(model, 16);
    trellis_model *trained = train_file("data/english/dev.conll",
                                        "epochs=2 features=extended bits=16");
    trellis_error error = {0};
    assert_same_bytes(small, trained);
    assert_ok(trellis_model_save(small, path_of("small.model"), &error), error);
    trellis_model *opened = open_model(path_of("small.model"));
    assert_same_bytes(small, opened);
    assert_ok(trellis_model_verify(opened, &error), error);
    char *text = say(opened, INFO), *json = say(opened, INFO_JSON);
    assert_non_null(strstr(text, "16 per weight"));
    assert_non_null(strstr(json, "\"bits\":16,"));
    free(text);
    free(json);
    trellis_model_close(opened);
    trellis_model_close(trained);
    trellis_model_close(small);
    trellis_model_close(model);
}

/* An HMM loses the digits beyond a float, not its probabilities. */
static void test_hmm(void **state)
{
    (void)state;
    trellis_model *model = train_file("data/english/dev.conll", "type=hmm");
    trellis_model *small = repack(model, 16), *large = repack(small, 32);
    static const char sentence[] = "the old man saw a zzyzx there";
    double before, after, wide;
    assert_non_null(model->node.residuals);
    assert_null(small->node.residuals);
    assert_null(large->node.residuals);
    assert_non_null(small->step_residuals);
    free(tag_by(model, sentence, &before));
    free(tag_by(small, sentence, &after));
    free(tag_by(large, sentence, &wide));
    assert_true(before != after && fabs(before - after) < 0.01);
    assert_true(fabs(after - wide) < 1e-9);
    trellis_model_close(large);
    trellis_model_close(small);
    trellis_model_close(model);
}

/* A model with these weights, one per word. */
static trellis_model *make_weights(const char *const *weights, size_t count)
{
    struct tr_buffer text = {0};
    tr_buffer_string(&text, "trellis-text\t1\ntemplate\tcolumns word\ntemplate\tnode word\n"
                            "label\tX\nlabel\tY\n");
    for (size_t i = 0; i < count; i++) {
        tr_buffer_format(&text, "word\t%s\tX\tw%zu\n", weights[i], i);
    }
    trellis_model *model = import_model(put_file("weights.txt", text.data, text.size));
    tr_buffer_free(&text);
    return model;
}

static void test_what_does_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *weights[4];
        trellis_status status;
        const char *says;
    } cases[] = {
        {{"1", "-2", "0.5", "3"}, TRELLIS_OK, ""},
        {{"3e38", "-3e38", "1e38", "2e38"}, TRELLIS_OK, ""},
        {{"1e-30", "-2e-30", "3e-30", "3e-30"}, TRELLIS_OK, ""},
        {{"32767", "-32767", "1", "2"}, TRELLIS_OK, ""},
        {{"65536", "-65536", "1", "2"}, TRELLIS_LIMIT, "largest is 65536"},
        {{"1", "2", "-inf", "3"}, TRELLIS_LIMIT, "infinite"},
        {{"1e-44", "1e-44", "1e-44", "1e-44"}, TRELLIS_LIMIT, "do not fit into 16 bits"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_model *model = make_weights(cases[i].weights, 4), *packed;
        trellis_error error = {0};
        trellis_status status = trellis_model_repack(model, 16, &packed, &error);
        assert_int_equal(status, cases[i].status);
        assert_non_null(strstr(error.message, cases[i].says));
        trellis_model_close(packed);
        for (int bits = -1; bits < 70; bits++) {
            status = trellis_model_repack(model, bits, &packed, &error);
            assert_true(bits == 16 || (status == TRELLIS_OK) == (bits == 32));
            trellis_model_close(packed);
        }
        trellis_model_close(model);
    }
}

/* One weight that is so large that 16 bits leave little or nothing of the others. */
static void test_outlier(void **state)
{
    (void)state;
    static const struct {
        const char *outlier;
        trellis_status status;
    } cases[] = {{"1000", TRELLIS_OK},
                 {"-1e5", TRELLIS_LIMIT},
                 {"1e6", TRELLIS_LIMIT},
                 {"-1e9", TRELLIS_LIMIT},
                 {"1e30", TRELLIS_LIMIT}};
    const char *weights[2000];
    for (size_t i = 0; i < TR_COUNT(weights); i++) {
        weights[i] = i % 2 ? "0.7" : "-1.3";
    }
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        weights[17] = cases[i].outlier;
        trellis_model *model = make_weights(weights, TR_COUNT(weights)), *packed;
        trellis_error error = {0};
        assert_int_equal(trellis_model_repack(model, 16, &packed, &error), cases[i].status);
        trellis_model_close(packed);
        trellis_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_values),
        cmocka_unit_test(test_edge_of_rows),
        cmocka_unit_test(test_conversion_both_ways),
        cmocka_unit_test(test_option),
        cmocka_unit_test(test_hmm),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_outlier),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
