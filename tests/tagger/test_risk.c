/* test_risk.c - minimum-risk decoding against the expected cost of all labellings. */
#include <math.h>

#include "base/random.h"
#include "model/test_model.h"

enum { LENGTH = 4, LABELS = 3, ALL = 81 };

static const char *const words[] = {"a", "b", "c"};

/* The labels of a model of tokens and of one of segments; in the latter I-X follows B-X or I-X. */
static const char *const names[2][LABELS] = {{"L0", "L1", "L2"}, {"O", "B-X", "I-X"}};

static bool may_follow(bool segments, int label, int previous)
{
    return !segments || label != 2 || previous > 0;
}

/* Labels that the words hardly determine, so that costs decide. */
static trellis_model *make_model(uint64_t seed, bool segments)
{
    struct tr_random random;
    struct tr_buffer corpus = {0};
    tr_random_seed(&random, seed);
    for (int i = 0; i < LABELS; i++) {
        tr_buffer_format(&corpus, "%s %s\n", words[i], names[segments][i]);
    }
    for (int s = 0; s < 30; s++) {
        tr_buffer_char(&corpus, '\n');
        int previous = 0;
        for (int i = 0; i < LENGTH; i++) {
            int word = (int)tr_random_below(&random, LABELS), label = word;
            if (tr_random_real(&random) >= 0.5) {
                label = (int)tr_random_below(&random, LABELS);
            }
            previous = may_follow(segments, label, previous) ? label : 0;
            tr_buffer_format(&corpus, "%s %s\n", words[word], names[segments][previous]);
        }
    }
    tr_buffer_char(&corpus, 0);
    trellis_model *model = train_on(corpus.data, segments
                                                     ? "type=crf features=id l2=0.1 segments=yes"
                                                     : "type=crf features=id l2=0.1");
    assert_int_equal(trellis_model_label_count(model), LABELS);
    tr_buffer_free(&corpus);
    return model;
}

static void read_labels(bool segments, const trellis_text *labels, int *numbers)
{
    assert_non_null(labels);
    for (size_t i = 0; i < LENGTH; i++) {
        numbers[i] = 0;
        while (!tr_text_is(labels[i], names[segments][numbers[i]])) {
            assert_true(++numbers[i] < LABELS);
        }
    }
}

/* All labellings with their probabilities. */
struct all {
    size_t count;
    int labels[ALL][LENGTH];
    double probability[ALL];
};

static void list_all(const trellis_model *model, bool segments, const trellis_sequence *sequence,
                     const trellis_text *only, struct all *all)
{
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_error error = {0};
    if (only) {
        assert_ok(trellis_tagger_allow(tagger, 1, only, 1, &error), error);
    }
    assert_ok(trellis_tagger_nbest(tagger, sequence, ALL, &all->count, &error), error);
    for (size_t k = 0; k < all->count; k++) {
        read_labels(segments, trellis_tagger_nth_labels(tagger, k), all->labels[k]);
        all->probability[k] = trellis_tagger_nth_probability(tagger, k);
    }
    trellis_tagger_destroy(tagger);
}

/* How many labellings there are, label 1 at position 1 if `forced`. */
static size_t count_all(bool segments, bool forced)
{
    size_t count = 0;
    for (int code = 0; code < ALL; code++) {
        bool ok = true;
        int previous = 0;
        for (int i = 0, rest = code; i < LENGTH; i++, rest /= LABELS) {
            int label = rest % LABELS;
            ok = ok && may_follow(segments, label, previous) && !(forced && i == 1 && label != 1);
            previous = label;
        }
        count += ok;
    }
    return count;
}

static double expected_cost(const struct all *all, double cost[LABELS][LABELS], const int *found)
{
    double sum = 0;
    for (size_t k = 0; k < all->count; k++) {
        for (size_t i = 0; i < LENGTH; i++) {
            sum += all->probability[k] * cost[all->labels[k][i]][found[i]];
        }
    }
    return sum;
}

/* No labelling has a lower expected cost than the predicted one. Returns whether it differs from
 * the best path. */
static bool check(const trellis_model *model, bool segments, uint64_t seed, bool listed,
                  bool forced)
{
    struct tr_random random;
    struct tr_buffer file = {0};
    struct all all;
    double cost[LABELS][LABELS];
    char settings[700] = "decode=risk";
    trellis_text cells[LENGTH], only = tr_text(names[segments][1]);
    const trellis_text *labels;
    trellis_error error = {0};
    int found[LENGTH];
    tr_random_seed(&random, seed);
    for (int a = 0; a < LABELS; a++) {
        for (int b = 0; b < LABELS; b++) {
            cost[a][b] = a != b;
            if (listed && a != b && tr_random_below(&random, 2)) {
                cost[a][b] = (double)tr_random_below(&random, 20) / 4;
                tr_buffer_format(&file, "%s %s %g\n", names[segments][a], names[segments][b],
                                 cost[a][b]);
            }
        }
    }
    for (size_t i = 0; i < LENGTH; i++) {
        cells[i] = tr_text(words[tr_random_below(&random, LABELS)]);
    }
    if (listed) {
        tr_buffer_char(&file, 0);
        snprintf(settings, sizeof settings, "decode=risk cost=%s", put_text("costs", file.data));
    }
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = cells,
                                 .weight = 1};
    list_all(model, segments, &sequence, forced ? &only : NULL, &all);
    assert_int_equal(all.count, count_all(segments, forced));
    trellis_tagger *tagger = make_tagger(model, settings);
    if (forced) {
        assert_ok(trellis_tagger_allow(tagger, 1, &only, 1, &error), error);
    }
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    read_labels(segments, labels, found);
    assert_true(!forced || found[1] == 1);
    double risk = expected_cost(&all, cost, found);
    for (size_t k = 0; k < all.count; k++) {
        assert_true(risk <= expected_cost(&all, cost, all.labels[k]) + 1e-5);
    }
    trellis_tagger_destroy(tagger);
    tr_buffer_free(&file);
    return memcmp(found, all.labels[0], sizeof found) != 0;
}

static void check_all(bool segments)
{
    size_t other = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        trellis_model *model = make_model(seed, segments);
        for (uint64_t k = 0; k < 40; k++) {
            other += check(model, segments, 100 * seed + k, k % 4 > 0, k % 3 == 0);
        }
        trellis_model_close(model);
    }
    assert_true(other > 20);
}

static void test_least_expected_cost(void **state)
{
    (void)state;
    check_all(false);
}

/* Among segmentations: no I-X without a beginning. */
static void test_least_expected_cost_of_segments(void **state)
{
    (void)state;
    check_all(true);
}

/* Without a cost file it is posterior decoding. */
static void test_hamming_is_posterior(void **state)
{
    (void)state;
    trellis_model *model = make_model(9, false);
    trellis_tagger *one = make_tagger(model, "decode=risk"),
                   *two = make_tagger(model, "decode=posterior");
    static const char *const texts[] = {"a b c", "c c b a a", "b", "", "a unknown b"};
    for (size_t i = 0; i < TR_COUNT(texts); i++) {
        char *risk = tag_with(one, texts[i], NULL), *posterior = tag_with(two, texts[i], NULL);
        assert_string_equal(risk, posterior);
        free(risk);
        free(posterior);
    }
    trellis_tagger_destroy(one);
    trellis_tagger_destroy(two);
    trellis_model_close(model);
}

static void test_bad_costs(void **state)
{
    (void)state;
    trellis_model *model = make_model(1, false);
    static const char *const bad[][2] = {
        {"L0 Q 1\n", "there is no label 'Q'"},
        {"L0 L1 -1\n", "a cost is a number from 0"},
        {"L0 L1\n", "expected a gold label, a predicted label and a cost"}};
    for (size_t i = 0; i < TR_COUNT(bad); i++) {
        char settings[700];
        trellis_tagger *tagger = NULL;
        trellis_error error = {0};
        snprintf(settings, sizeof settings, "decode=risk cost=%s", put_text("bad", bad[i][0]));
        trellis_options *options = make_options(settings);
        assert_int_equal(trellis_tagger_create(model, options, &tagger, &error), TRELLIS_FORMAT);
        assert_non_null(strstr(error.message, bad[i][1]));
        assert_null(tagger);
        trellis_options_destroy(options);
    }
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_expected_cost),
        cmocka_unit_test(test_least_expected_cost_of_segments),
        cmocka_unit_test(test_hamming_is_posterior),
        cmocka_unit_test(test_bad_costs),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
