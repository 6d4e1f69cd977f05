/* test_early_stopping.c - which iterate --dev keeps, and when it ends a training, against the rule
 * computed from the reported scores:
 *
 *     m_1 = s_1,   m_k = (s_k + m_{k-1}) / 2
 *     b = the last k with m_k >= h_k - sqrt(h_k (1 - h_k) / tokens) / 2,   h_k = max_{j<=k} m_j
 *     stop at the first k with k - b >= max(patience, b / 2)
 *
 * For L-BFGS, half the tolerance and four times the patience.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

enum { MAX_SCORES = 1000, DEV_SEQUENCES = 2000, DEV_TOKENS = 5 * DEV_SEQUENCES };

struct curve {
    double scores[MAX_SCORES];
    size_t count;
};

static bool record(void *user, const trellis_progress *progress)
{
    struct curve *curve = user;
    if (progress->fraction >= 1 && progress->iteration == curve->count + 1 &&
        isfinite(progress->dev_accuracy)) {
        assert_true(curve->count < MAX_SCORES);
        curve->scores[curve->count++] = progress->dev_accuracy;
    }
    return true;
}

/* Labels that the words hardly tell, so that the dev score goes up and down. */
static void add_noise(struct tr_buffer *text, uint64_t seed, size_t sequences)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t i = 0; i < sequences; i++) {
        for (size_t k = 0; k < 5; k++) {
            unsigned word = (unsigned)tr_random_below(&random, 40);
            unsigned noise = (unsigned)tr_random_below(&random, 3);
            tr_buffer_format(text, "w%u %c\n", word, noise ? "AB"[word % 2] : 'C');
        }
        tr_buffer_char(text, '\n');
    }
}

static void set(trellis_options *options, const char *name, const char *value)
{
    assert_int_equal(trellis_options_set(options, name, value, NULL), TRELLIS_OK);
}

/* The iteration to keep, and the one to end at: 0 where the scores do not end a training. */
static void apply_rule(const struct curve *curve, double errors, uint64_t patience,
                       uint64_t *ret_best, uint64_t *ret_end)
{
    double smoothed = 0, highest = -1;
    *ret_best = *ret_end = 0;
    for (uint64_t k = 1; k <= curve->count && !*ret_end; k++) {
        double s = curve->scores[k - 1];
        smoothed = k == 1 ? s : (s + smoothed) / 2;
        highest = smoothed > highest ? smoothed : highest;
        if (smoothed >= highest - sqrt(highest * (1 - highest) / DEV_TOKENS) * errors) {
            *ret_best = k;
        }
        uint64_t enough = *ret_best / 2 > patience ? *ret_best / 2 : patience;
        *ret_end = k - *ret_best >= enough ? k : 0;
    }
}

static void check(const char *type, const char *algorithm, const char *epochs, const char *given,
                  uint64_t patience, uint64_t seed, size_t *ended)
{
    struct tr_buffer train = {0}, dev = {0};
    struct curve curve = {.count = 0};
    trellis_options *options;
    trellis_model *model = NULL;
    trellis_error error = {0};
    add_noise(&train, seed, 60);
    add_noise(&dev, seed + 1, DEV_SEQUENCES);
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    set(options, "type", type);
    set(options, "algorithm", algorithm);
    set(options, "features", "extended");
    set(options, "epochs", epochs);
    set(options, "patience", given);
    trellis_source sources[2] = {
        {.struct_size = sizeof *sources, .data = train.data, .data_size = train.size},
        {.struct_size = sizeof *sources, .data = dev.data, .data_size = dev.size}};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &sources[0],
                                 .train_count = 1,
                                 .dev = &sources[1],
                                 .dev_count = 1,
                                 .progress = record,
                                 .user = &curve};
    if (trellis_train(options, &training, &model, &error)) {
        fail_msg("%s", error.message);
    }
    uint64_t best, end;
    apply_rule(&curve, strcmp(algorithm, "lbfgs") == 0 ? 0.25 : 0.5, patience, &best, &end);
    assert_true(end == 0 || end == curve.count);
    assert_int_equal(strtoull(trellis_model_note(model, "iterations"), NULL, 10), best);
    *ended += end > 0;
    trellis_model_close(model);
    trellis_options_destroy(options);
    tr_buffer_free(&train);
    tr_buffer_free(&dev);
}

static void test_rule(void **state)
{
    (void)state;
    size_t epochs = 0, batch = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        check("perceptron", "averaged", "60", "2", 2, seed, &epochs);
        check("crf", "sgd", "60", "3", 3, seed, &epochs);
        check("crf", "lbfgs", "0", "1", 4, seed, &batch);
    }
    assert_true(epochs + batch >= 4); // the rule ended some of them, so it was tested
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
