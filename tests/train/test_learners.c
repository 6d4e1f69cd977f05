/* test_learners.c - the table of learners, as those see it who list what there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trellis.h"

/* All types in order, each with its algorithms, of which the first is the default. */
static void test_names(void **state)
{
    (void)state;
    static const char *const wanted = "perceptron: averaged plain pa pa1 pa2 arow\n"
                                      "mira: hildreth\n"
                                      "ssvm: bcfw subgradient\n"
                                      "crf: lbfgs sgd cg gd\n"
                                      "maxent: lbfgs sgd cg gd\n"
                                      "hmm: counts em viterbi\n"
                                      "memm: lbfgs sgd cg gd\n";
    char text[2000] = "";
    for (size_t i = 0; trellis_learner_name(i); i++) {
        strcat(strcat(text, trellis_learner_name(i)), ":");
        for (size_t k = 0; trellis_learner_algorithm(i, k); k++) {
            strcat(strcat(text, " "), trellis_learner_algorithm(i, k));
        }
        strcat(text, "\n");
    }
    assert_string_equal(text, wanted);
}

static bool takes(const char *type, size_t algorithm, const char *option)
{
    size_t i = 0;
    while (strcmp(trellis_learner_name(i), type) != 0) {
        i++;
    }
    return trellis_learner_takes(i, algorithm, option);
}

/* An option that no learner has in its list is for all of them, whatever was asked before. */
static void test_takes(void **state)
{
    (void)state;
    static const char *const types[] = {"perceptron", "mira", "ssvm", "crf",
                                        "maxent",     "hmm",  "memm"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool penalised = strcmp(types[i], "perceptron") != 0 && strcmp(types[i], "mira") != 0 &&
                         strcmp(types[i], "hmm") != 0;
        assert_int_equal(takes(types[i], 0, "l2"), penalised);
        assert_true(takes(types[i], 0, "threads"));
        assert_int_equal(takes(types[i], 0, "order"), strcmp(types[i], "maxent") != 0);
        assert_false(takes(types[i], 100, "threads"));
    }
    assert_true(takes("crf", 1, "dropout"));
    assert_false(takes("crf", 0, "dropout"));
    assert_false(takes("crf", 0, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_takes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
