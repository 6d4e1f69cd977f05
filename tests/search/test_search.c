/* test_search.c - grids, random points, successive halving, and searches that are interrupted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "support/near.h"
#include "support/temporary.h"

static trellis_options *make_options(const char *trials, const char *halving)
{
    trellis_options *options;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "trials", trials, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "halving", halving, NULL), TRELLIS_OK);
    return options;
}

static trellis_search *make_search(const char *trials, const char *halving,
                                   const char *const *tries, size_t count)
{
    trellis_search *search;
    trellis_error error = {0};
    trellis_options *options = make_options(trials, halving);
    trellis_status status = trellis_search_create(options, tries, count, &search, &error);
    trellis_options_destroy(options);
    if (status) {
        fail_msg("%s", error.message);
    }
    return search;
}

static void a_grid_has_all_combinations(void **state)
{
    (void)state;
    const char *const tries[] = {"l2=0.1,1", "order=1..3", "average=yes,no"};
    static const char *const wanted[] = {"0.1 1 yes", "0.1 1 no", "0.1 2 yes", "0.1 2 no",
                                         "0.1 3 yes", "0.1 3 no", "1 1 yes",   "1 1 no",
                                         "1 2 yes",   "1 2 no",   "1 3 yes",   "1 3 no"};
    trellis_search *search = make_search("0", "0", tries, 3);
    trellis_trial trial = {.struct_size = sizeof trial};
    for (size_t i = 0; i < TR_COUNT(wanted); i++) {
        char text[100];
        assert_int_equal(trellis_search_next(search, &trial), TRELLIS_OK);
        snprintf(text, sizeof text, "%s %s %s", trial.values[0], trial.values[1], trial.values[2]);
        assert_string_equal(text, wanted[i]);
        assert_string_equal(trial.names[1], "order");
        assert_near(trial.share, 1, 0);
        assert_int_equal(trellis_search_tell(search, i == 7 ? 0.9 : 0.1, 1, NULL), TRELLIS_OK);
    }
    assert_int_equal(trellis_search_next(search, &trial), TRELLIS_END);
    assert_int_equal(trellis_search_ranked(search, 0, &trial), TRELLIS_OK);
    assert_int_equal(trial.number, 7);
    assert_int_equal(trellis_search_ranked(search, 1, &trial), TRELLIS_OK);
    assert_int_equal(trial.number, 0);
    assert_int_equal(trellis_search_ranked(search, 12, &trial), TRELLIS_END);
    trellis_search_destroy(search);
}

static void ranges_are_logarithmic_where_that_suits(void **state)
{
    (void)state;
    const char *const tries[] = {"l2=0.01..100"}, *const few[] = {"rate=1..2/3"};
    static const char *const wanted[] = {"0.01", "0.1", "1", "10", "100"};
    static const char *const even[] = {"1", "1.5", "2"};
    trellis_trial trial = {.struct_size = sizeof trial};
    trellis_search *search = make_search("0", "0", tries, 1);
    for (size_t i = 0; i < TR_COUNT(wanted); i++) {
        assert_int_equal(trellis_search_next(search, &trial), TRELLIS_OK);
        assert_string_equal(trial.values[0], wanted[i]);
        assert_int_equal(trellis_search_tell(search, 0, 0, NULL), TRELLIS_OK);
    }
    trellis_search_destroy(search);
    search = make_search("0", "0", few, 1);
    for (size_t i = 0; i < TR_COUNT(even); i++) {
        assert_int_equal(trellis_search_next(search, &trial), TRELLIS_OK);
        assert_string_equal(trial.values[0], even[i]);
        assert_int_equal(trellis_search_tell(search, 0, 0, NULL), TRELLIS_OK);
    }
    trellis_search_destroy(search);
    /* Drawn from a range: half of the points lie below its geometric mean. */
    search = make_search("400", "0", tries, 1);
    size_t below = 0;
    while (trellis_search_next(search, &trial) == TRELLIS_OK) {
        double value = strtod(trial.values[0], NULL);
        assert_true(value >= 0.01 && value <= 100);
        below += value < 1;
        assert_int_equal(trellis_search_tell(search, 0, 0, NULL), TRELLIS_OK);
    }
    assert_true(below > 150 && below < 250);
    trellis_search_destroy(search);
}

/* The score that a made-up learner reaches: the nearer to l2 = 1 the better, and better with more
 * data. */
static double made_up(const trellis_trial *trial)
{
    double distance = log(strtod(trial->values[0], NULL));
    return 0.9 - 0.01 * distance * distance - 0.05 * (1 - trial->share);
}

static void halving_keeps_the_best(void **state)
{
    (void)state;
    const char *const tries[] = {"l2=0.001..1000/27"};
    trellis_search *search = make_search("0", "3", tries, 1);
    trellis_trial trial = {.struct_size = sizeof trial};
    size_t asked[4] = {0};
    double shares[4] = {1.0 / 27, 1.0 / 9, 1.0 / 3, 1};
    while (trellis_search_next(search, &trial) == TRELLIS_OK) {
        for (size_t r = 0; r < 4; r++) {
            asked[r] += fabs(trial.share - shares[r]) < 1e-12;
        }
        assert_int_equal(trellis_search_tell(search, made_up(&trial), 1, NULL), TRELLIS_OK);
    }
    assert_int_equal(asked[0], 27);
    assert_int_equal(asked[1], 9);
    assert_int_equal(asked[2], 3);
    assert_int_equal(asked[3], 1);
    assert_int_equal(trellis_search_ranked(search, 0, &trial), TRELLIS_OK);
    assert_string_equal(trial.values[0], "1");
    assert_near(trial.share, 1, 0);
    trellis_search_destroy(search);
}

/* Resumes a search from a file for at most `max` trials; returns how many were run. */
static size_t resume_search(const char *path, size_t max, char *best, size_t room)
{
    const char *const tries[] = {"l2=0.001..1000"};
    trellis_search *search = make_search("9", "3", tries, 1);
    trellis_error error = {0};
    trellis_trial trial = {.struct_size = sizeof trial};
    size_t asked = 0;
    if (trellis_search_keep(search, path, "a task", &error)) {
        fail_msg("%s", error.message);
    }
    while (asked < max && trellis_search_next(search, &trial) == TRELLIS_OK) {
        assert_int_equal(trellis_search_tell(search, made_up(&trial), 1, NULL), TRELLIS_OK);
        asked++;
    }
    if (trellis_search_ranked(search, 0, &trial) == TRELLIS_OK) {
        snprintf(best, room, "%s", trial.values[0]);
    }
    trellis_search_destroy(search);
    return asked;
}

/* Interrupted after every number of trials, with every number of bytes of the last line lost: only
 * lost trials are repeated, and the result is the same. */
static void an_interrupted_search_is_resumed(void **state)
{
    (void)state;
    char path[300], whole[64] = "", best[64] = "", *folder = temporary_folder();
    snprintf(path, sizeof path, "%s/results", folder);
    size_t all = resume_search(path, SIZE_MAX, whole, sizeof whole);
    assert_int_equal(all, 9 + 3 + 1);
    assert_int_equal(resume_search(path, SIZE_MAX, best, sizeof best), 0);
    assert_string_equal(best, whole);
    for (size_t stop = 0; stop <= all; stop++) {
        for (long lost = 0; lost < 60; lost += 7) {
            unlink(path);
            assert_int_equal(resume_search(path, stop, best, sizeof best), stop);
            FILE *file = fopen(path, "r+");
            assert_non_null(file);
            assert_int_equal(fseek(file, 0, SEEK_END), 0);
            long size = ftell(file);
            bool cut = stop > 0 && lost > 0;
            assert_int_equal(ftruncate(fileno(file), cut ? size - lost : size), 0);
            fclose(file);
            assert_int_equal(resume_search(path, SIZE_MAX, best, sizeof best), all - stop + cut);
            assert_string_equal(best, whole);
        }
    }
    temporary_drop(folder);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *content;
        trellis_status status;
    } cases[] = {
        {"{\"task\": \"another\"}\n", TRELLIS_DATA},
        {"the DT\ncat NN\n", TRELLIS_FORMAT},
        {"{\"task\": \"a task\"}\n{\"share\": 1}\n", TRELLIS_FORMAT},
        {"{\"task\": \"a task\"}\n{\"settings\": {\"l1\": \"1\"}}\n", TRELLIS_FORMAT},
        {"{\"task\": \"a task\"}\nnonsense\n", TRELLIS_FORMAT},
        {"{\"task\": \"a task\"}\nnonsense", TRELLIS_OK}, // what a crash left
        {"", TRELLIS_OK},
    };
    const char *const tries[] = {"l2=1,2"};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char *path = temporary_file(cases[i].content);
        trellis_search *search = make_search("0", "0", tries, 1);
        trellis_error error = {0};
        if (trellis_search_keep(search, path, "a task", &error) != cases[i].status) {
            fail_msg("case %zu: %s", i, error.message);
        }
        trellis_search_destroy(search);
        temporary_drop(path);
    }
}

static void bad_tries_are_refused(void **state)
{
    (void)state;
    static const char *const tries[] = {
        "l2",        "l2=",   "l2=a",        "l2=1..",     "l2=2..1",  "l2=1..2/1", "=1",
        "nothing=1", "dev=x", "threads=1,2", "order=0..9", "l2=-1..1", "l2=1,,2",   "log=a"};
    for (size_t i = 0; i < TR_COUNT(tries); i++) {
        trellis_search *search;
        if (trellis_search_create(NULL, &tries[i], 1, &search, NULL) != TRELLIS_OPTION) {
            fail_msg("'%s' is taken", tries[i]);
        }
        assert_null(search);
    }
    const char *const twice[] = {"l2=1", "l2=2"};
    trellis_search *search;
    assert_int_equal(trellis_search_create(NULL, twice, 2, &search, NULL), TRELLIS_OPTION);
    assert_int_equal(trellis_search_create(NULL, NULL, 0, &search, NULL), TRELLIS_OPTION);
    const char *const large[] = {"l2=1..2/1000", "l1=1..2/1000"};
    assert_int_equal(trellis_search_create(NULL, large, 2, &search, NULL), TRELLIS_LIMIT);
}

/* A factor of 1 would keep all settings for ever. */
static void halving_by_one_is_none(void **state)
{
    (void)state;
    const char *const tries[] = {"l2=0.01,1,100"};
    trellis_search *search = make_search("0", "1", tries, 1);
    trellis_trial trial = {.struct_size = sizeof trial};
    size_t number = 0;
    while (number < 100 && trellis_search_next(search, &trial) == TRELLIS_OK) {
        number++;
        assert_int_equal(trellis_search_tell(search, made_up(&trial), 1, NULL), TRELLIS_OK);
    }
    assert_int_equal(number, 3);
    trellis_search_destroy(search);
}

static trellis_status into_buffer(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) {
        count++;
    }
    return count;
}

static void a_plot_shows_every_trial(void **state)
{
    (void)state;
    const char *const tries[] = {"l2=0.01,1,100", "features=a<b,c"};
    trellis_search *search = make_search("0", "0", tries, 2);
    trellis_trial trial = {.struct_size = sizeof trial};
    size_t number = 0;
    while (trellis_search_next(search, &trial) == TRELLIS_OK) {
        number++;
        assert_int_equal(trellis_search_tell(search, number == 2 ? NAN : made_up(&trial), 1, NULL),
                         TRELLIS_OK);
    }
    struct tr_buffer out = {0};
    assert_int_equal(trellis_search_plot(search, into_buffer, &out, NULL), TRELLIS_OK);
    tr_buffer_char(&out, '\0');
    assert_int_equal(count_of(out.data, "<circle"), 2 * 5); // one of six has no score
    assert_int_equal(count_of(out.data, "class=\"best\""), 2);
    assert_int_equal(count_of(out.data, "a<b"), 0);
    assert_true(count_of(out.data, "a&lt;b") > 0);
    tr_buffer_free(&out);
    trellis_search_destroy(search);
}

/* A logarithmic axis has its ends where they are powers of ten, below 1 too, and every power
 * between them. */
static void the_ends_of_an_axis_are_marked(void **state)
{
    (void)state;
    const char *const tries[] = {"l2=0.00001,0.001,0.1"};
    trellis_search *search = make_search("0", "0", tries, 1);
    trellis_trial trial = {.struct_size = sizeof trial};
    while (trellis_search_next(search, &trial) == TRELLIS_OK) {
        assert_int_equal(trellis_search_tell(search, made_up(&trial), 1, NULL), TRELLIS_OK);
    }
    struct tr_buffer out = {0};
    assert_int_equal(trellis_search_plot(search, into_buffer, &out, NULL), TRELLIS_OK);
    tr_buffer_char(&out, '\0');
    static const char *const marks[] = {">1e-05<", ">0.0001<", ">0.001<", ">0.01<", ">0.1<"};
    for (size_t i = 0; i < TR_COUNT(marks); i++) {
        assert_int_equal(count_of(out.data, marks[i]), 1);
    }
    double x[3], width = strtod(strstr(out.data, "width=\"") + strlen("width=\""), NULL);
    const char *at = out.data;
    for (size_t i = 0; i < 3; i++) { // in the order of the values, or from the last to the first
        at = strstr(at, "cx=\"") + strlen("cx=\"");
        x[i] = strtod(at, NULL);
        assert_true(x[i] > 0 && x[i] < width);
    }
    assert_true(fabs(x[1] - (x[0] + x[2]) / 2) < 0.2 && fabs(x[2] - x[0]) > width / 4);
    tr_buffer_free(&out);
    trellis_search_destroy(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_has_all_combinations),
        cmocka_unit_test(ranges_are_logarithmic_where_that_suits),
        cmocka_unit_test(halving_keeps_the_best),
        cmocka_unit_test(halving_by_one_is_none),
        cmocka_unit_test(an_interrupted_search_is_resumed),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(bad_tries_are_refused),
        cmocka_unit_test(a_plot_shows_every_trial),
        cmocka_unit_test(the_ends_of_an_axis_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
