/* test_gaussian.c - states that emit real-valued columns by normal distributions: figures worked
 * out by hand, parameters recovered from data that was drawn with them, and data that is hard on
 * them. */
#include "train/following.h"

#include <math.h>

#include "base/random.h"
#include "model/model.h"
#include "train/hmm_gaussian.h"

static double log_normal(double x, double mean, double variance)
{
    return -0.5 * (log(2 * M_PI * variance) + (x - mean) * (x - mean) / variance);
}

static double score_of(const trellis_model *model, const char *const *cells, size_t n,
                       size_t columns, const char *labels)
{
    trellis_error error = {0};
    trellis_tagger *tagger;
    trellis_text texts[16];
    for (size_t i = 0; i < n * columns; i++) {
        texts[i] = tr_text(cells[i]);
    }
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = n,
                                 .columns = columns,
                                 .cells = texts,
                                 .weight = 1};
    const trellis_text *found;
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    assert_ok(trellis_tagger_tag(tagger, &sequence, &found, &error), error);
    for (size_t i = 0; i < n; i++) {
        assert_true(found[i].size == 1 && found[i].data[0] == labels[i]);
    }
    double score = trellis_tagger_score(tagger);
    trellis_tagger_destroy(tagger);
    return score;
}

static void wants(double value, double wanted)
{
    if (!(fabs(value - wanted) < 2e-6 * (1 + fabs(wanted)))) {
        fail_msg("%.10g instead of %.10g", value, wanted);
    }
}

/* A emits 1, 3 and 2: mean 2, variance 2/3. B emits 10 and 14: mean 12, variance 4. */
static void test_labelled_by_hand(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    const char *path = put_text("hand", "1 A\n3 A\n10 B\n\n2 A\n14 B\n");
    assert_ok(learn(path, SETTINGS("gaussian=1", "alpha=0"), &course, &model, &error), error);
    const struct tr_gaussian *g = &model->gaussian;
    assert_int_equal(g->columns, 1);
    wants(g->mean[0], 2);
    wants(g->variance[0], 2.0 / 3);
    wants(g->mean[1], 12);
    wants(g->variance[1], 4);
    /* start A: 1; A to A 1/3, A to B 2/3; B to the end: 1 */
    double wanted = log_normal(2.5, 2, 2.0 / 3) + log(2.0 / 3) + log_normal(11, 12, 4);
    double score = score_of(model, (const char *const[]){"2.5", "11"}, 2, 1, "AB");
    assert_true(fabs(score - wanted) < 1e-9);
    trellis_model_close(model);
}

/* Two columns and three sequences: A emits (1, 5), (3, 9) and (2, 1), B (10, 0) and (14, 2). */
static void test_columns_by_hand(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    static const double means[] = {2, 5, 12, 1};
    static const double variances[] = {2.0 / 3, 32.0 / 3, 4, 1};
    const char *path = put_text("columns", "1 5 A\n10 0 B\n\n3 9 A\n\n2 1 A\n14 2 B\n");
    assert_ok(learn(path, SETTINGS("gaussian=1,2", "alpha=0"), &course, &model, &error), error);
    assert_int_equal(model->gaussian.columns, 2);
    for (size_t i = 0; i < 4; i++) {
        wants(model->gaussian.mean[i], means[i]);
        wants(model->gaussian.variance[i], variances[i]);
    }
    trellis_model_close(model);
}

/* One state: log P has a closed form. */
static void test_one_state_by_hand(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    double x[] = {1, 2, 4, 9}, mean = 4, variance = 9.5, wanted = 3 * log(0.75) + log(0.25);
    for (size_t i = 0; i < 4; i++) {
        wanted += log_normal(x[i], mean, variance);
    }
    const char *path = put_text("one", "1\n2\n4\n9\n");
    assert_ok(learn(path, SETTINGS("algorithm=em", "states=1", "gaussian=1", "epochs=3"), &course,
                    &model, &error),
              error);
    wants(4 * course.likelihood[2], wanted);
    wants(model->gaussian.mean[0], mean);
    wants(model->gaussian.variance[0], variance);
    trellis_model_close(model);
}

/* ---- data that was drawn --------------------------------------------------------------------- */

enum { STATES = 3, COLUMNS = 2 };
static const double step[STATES][STATES] = {{0.8, 0.1, 0.1}, {0.2, 0.7, 0.1}, {0.3, 0.1, 0.6}};
static const double mean[STATES][COLUMNS] = {{0, 0}, {4, 1}, {1, 6}};
static const double deviation[STATES][COLUMNS] = {{1, 0.5}, {0.5, 1.5}, {0.8, 1}};

static double draw_normal(struct tr_random *random)
{
    double u = 1 - tr_random_real(random), v = tr_random_real(random);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v); // Box and Muller
}

/* Sequences of 50; labels are known of every tenth where wanted. x is put on another scale. */
static const char *draw(const char *name, size_t sequences, bool labels, double shift, double scale,
                        uint64_t seed)
{
    struct tr_random random;
    struct tr_buffer text = {0};
    tr_random_seed(&random, seed);
    for (size_t s = 0; s < sequences; s++) {
        size_t z = tr_random_below(&random, STATES);
        for (size_t i = 0; i < 50; i++) {
            for (size_t d = 0; d < COLUMNS; d++) {
                double x = mean[z][d] + deviation[z][d] * draw_normal(&random);
                tr_buffer_format(&text, "%.17g ", shift + scale * x);
            }
            if (labels && s % 10 == 0) {
                tr_buffer_char(&text, "ABC"[z]);
            } else if (labels) {
                tr_buffer_char(&text, '_');
            }
            tr_buffer_char(&text, '\n');
            double u = tr_random_real(&random);
            for (size_t to = 0; to < STATES && u >= 0; to++) {
                if ((u -= step[z][to]) < 0) {
                    z = to;
                    break;
                }
            }
        }
        tr_buffer_char(&text, '\n');
    }
    const char *path = put_file(name, text.data, text.size);
    tr_buffer_free(&text);
    return path;
}

/* The state of a model that is the one that the data was drawn with; each is taken once. */
static void check_recovered(const trellis_model *model, double shift, double scale)
{
    const struct tr_gaussian *g = &model->gaussian;
    bool taken[STATES] = {0};
    assert_int_equal(g->labels, STATES);
    for (size_t z = 0; z < STATES; z++) {
        size_t found = SIZE_MAX;
        for (size_t c = 0; c < STATES; c++) {
            bool near = true;
            for (size_t d = 0; d < COLUMNS; d++) {
                double m = (g->mean[c * COLUMNS + d] - shift) / scale;
                double s = sqrt(g->variance[c * COLUMNS + d]) / scale;
                near = near && fabs(m - mean[z][d]) < 0.12 * deviation[z][d] &&
                       fabs(s / deviation[z][d] - 1) < 0.08;
            }
            found = near && !taken[c] ? c : found;
        }
        assert_true(found < STATES);
        taken[found] = true;
    }
}

static void test_recovers_parameters(void **state)
{
    (void)state;
    const double shifts[] = {0, 1e9, -3e-7}, scales[] = {1, 1, 1e-8};
    trellis_error error = {0};
    for (size_t i = 0; i < 3; i++) {
        struct course course;
        trellis_model *model;
        const char *path = draw("drawn", 80, false, shifts[i], scales[i], 17 + i);
        assert_ok(
            learn(path,
                  SETTINGS("algorithm=em", "states=3", "gaussian=1,2", "epochs=50", "restarts=3"),
                  &course, &model, &error),
            error);
        check_recovered(model, shifts[i], scales[i]);
        trellis_model_close(model);
    }
}

static void test_known_labels_name_the_states(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    const char *path = draw("half", 80, true, 0, 1, 5);
    assert_ok(learn(path, SETTINGS("algorithm=em", "partial=yes", "gaussian=1,2", "epochs=30"),
                    &course, &model, &error),
              error);
    check_recovered(model, 0, 1);
    assert_int_equal(trellis_model_label_count(model), 3);
    for (size_t i = 0; i < 3; i++) { // and each by its own name
        size_t z = (size_t)(trellis_model_label(model, i).data[0] - 'A');
        assert_true(fabs(model->gaussian.mean[i * COLUMNS] - mean[z][0]) < 0.3);
    }
    const char *saved = path_of("half.model");
    assert_ok(trellis_model_save(model, saved, &error), error);
    trellis_model_close(model);
    double before = course.likelihood[course.iterations - 1];
    const char *plain = draw("plain", 80, false, 0, 1, 5);
    assert_ok(learn(plain,
                    SETTINGS("algorithm=em", setting("from", saved), "gaussian=1,2", "epochs=2",
                             "label=none"),
                    &course, &model, &error),
              error);
    assert_true(fabs(course.likelihood[0] - before) < 0.05); // it begins where the other ended
    trellis_model_close(model);
}

static void test_never_falls(void **state)
{
    (void)state;
    const char *algorithms[] = {"algorithm=em", "algorithm=viterbi"};
    const char *floors[] = {"variance-floor=1e-3", "variance-floor=0.3"};
    const char *path = draw("drawn", 12, false, 0, 1, 3);
    for (size_t i = 0; i < 4; i++) {
        trellis_error error = {0};
        struct course course;
        trellis_model *model;
        assert_ok(learn(path,
                        SETTINGS(algorithms[i % 2], floors[i / 2], "states=5", "gaussian=1,2",
                                 "epochs=40", "delta=0", "alpha=0.1"),
                        &course, &model, &error),
                  error);
        for (size_t k = 1; k < course.iterations; k++) {
            assert_true(course.objective[k] <=
                        course.objective[k - 1] + 1e-6 * fabs(course.objective[k]));
        }
        trellis_model_close(model);
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *one, *many;
    size_t size, other;
    const char *path = draw("drawn", 20, false, 0, 1, 8);
    assert_ok(learn(path, SETTINGS("algorithm=em", "states=4", "gaussian=1,2", "threads=1"),
                    &course, &one, &error),
              error);
    assert_ok(learn(path, SETTINGS("algorithm=em", "states=4", "gaussian=1,2", "threads=3"),
                    &course, &many, &error),
              error);
    char *first = model_bytes(one, &size), *second = model_bytes(many, &other);
    assert_int_equal(size, other);
    assert_memory_equal(first, second, size);
    free(first);
    free(second);
}

/* ---- k-means --------------------------------------------------------------------------------- */

/* Tokens of three groups in two columns of different scales, 3, 6 and 15 in a group. */
static void draw_groups(struct tr_random *random, double *x)
{
    static const double centre[STATES][COLUMNS] = {{0, 0}, {6, 0}, {2, 50}};
    static const size_t begin[STATES + 1] = {0, 3, 9, 24};
    for (size_t z = 0; z < STATES; z++) {
        for (size_t t = begin[z]; t < begin[z + 1]; t++) {
            x[t * COLUMNS] = centre[z][0] + 4 * tr_random_real(random) - 2;
            x[t * COLUMNS + 1] = centre[z][1] + 40 * tr_random_real(random) - 20;
        }
    }
}

/* The means of what is labelled so are nearest to it: k-means has nothing left to do. */
static void test_clusters_are_around_their_means(void **state)
{
    (void)state;
    enum { TOKENS = 24 };
    double x[TOKENS * COLUMNS], spread[COLUMNS] = {1, 100};
    struct tr_hmm_gaussian gaussian = {.labels = STATES, .columns = COLUMNS, .spread = spread};
    struct tr_dataset data = {.tokens = TOKENS, .reals = COLUMNS, .real.at = x};
    struct tr_random random;
    uint16_t labels[TOKENS];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        double sum[STATES][COLUMNS] = {0}, count[STATES] = {0};
        tr_random_seed(&random, seed);
        draw_groups(&random, x);
        assert_int_equal(tr_hmm_gaussian_cluster(&gaussian, &data, &random, labels, NULL), 0);
        for (size_t t = 0; t < TOKENS; t++) {
            assert_true(labels[t] < STATES);
            count[labels[t]]++;
            for (size_t d = 0; d < COLUMNS; d++) {
                sum[labels[t]][d] += x[t * COLUMNS + d];
            }
        }
        for (size_t t = 0; t < TOKENS; t++) {
            double distance[STATES] = {0};
            for (size_t c = 0; c < STATES; c++) {
                assert_true(count[c] > 0);
                for (size_t d = 0; d < COLUMNS; d++) {
                    double off = x[t * COLUMNS + d] - sum[c][d] / count[c];
                    distance[c] += off * off / spread[d];
                }
            }
            for (size_t c = 0; c < STATES; c++) {
                assert_true(distance[labels[t]] <= distance[c] + 1e-9);
            }
        }
    }
}

/* ---- data that is hard on it ----------------------------------------------------------------- */

static void test_hard_data(void **state)
{
    (void)state;
    static const char *const corpora[] = {
        "5\n5\n5\n5\n5\n",                          // constant
        "1\n1\n1\n2\n2\n3\n",                       // states of one point
        "0\n0\n0\n0\n0\n1e300\n",                   // squares that are no numbers
        "-1e308\n1e308\n0\n1\n2\n3\n",              // nor are differences
        "1e-320\n2e-320\n3e-320\n4e-320\n5e-320\n", // nor is what is left of them
        "1000000000.1\n1000000000.2\n1000000000.3\n1e9\n1e9\n",
    };
    static const char *const algorithms[] = {"algorithm=em", "algorithm=viterbi"};
    static const char *const floors[] = {"variance-floor=0", "variance-floor=0.01"};
    for (size_t i = 0; i < 4 * TR_COUNT(corpora); i++) {
        trellis_error error = {0};
        struct course course;
        trellis_model *model;
        const char *path = put_text("hard", corpora[i / 4]);
        assert_ok(learn(path,
                        SETTINGS(algorithms[i % 2], floors[i / 2 % 2], "states=4", "gaussian=1",
                                 "epochs=20"),
                        &course, &model, &error),
                  error);
        for (size_t k = 0; k < course.iterations; k++) {
            assert_true(isfinite(course.objective[k]));
        }
        for (size_t j = 0; j < 4; j++) {
            assert_true(isfinite(model->gaussian.mean[j]) && model->gaussian.variance[j] > 0 &&
                        isfinite(model->gaussian.variance[j]));
        }
        trellis_tagger *tagger;
        const trellis_text *labels;
        trellis_text cells[] = {tr_text("5"), tr_text("-1e308"), tr_text("1e308")};
        trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                     .length = 3,
                                     .columns = 1,
                                     .cells = cells,
                                     .weight = 1};
        assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
        trellis_status status = trellis_tagger_tag(tagger, &sequence, &labels, &error);
        /* Steps that were never taken have probability 0: there may be no path, which is said. */
        assert_true(status == TRELLIS_OK || status == TRELLIS_DATA);
        assert_true(status || !isnan(trellis_tagger_score(tagger)));
        trellis_tagger_destroy(tagger);
        trellis_model_close(model);
    }
}

struct refusal {
    const char *text, *settings[4];
    trellis_status status;
    const char *says;
};

static void test_refusals(void **state)
{
    (void)state;
    const struct refusal refusals[] = {
        {"1\nnan\n",
         {"algorithm=em", "states=1", "gaussian=1"},
         TRELLIS_DATA,
         ":2: column 1: expected a finite number, not 'nan'"},
        {"1\n2\n\ninf\n",
         {"algorithm=em", "states=1", "gaussian=1"},
         TRELLIS_DATA,
         ":4: column 1: expected a finite number, not 'inf'"},
        {"1\ntwo\n",
         {"algorithm=em", "states=1", "gaussian=1"},
         TRELLIS_DATA,
         "expected a finite number, not 'two'"},
        {"1\n2\n",
         {"algorithm=em", "states=1", "gaussian=3"},
         TRELLIS_DATA,
         "there is no column 3, only 1"},
        {"1\n2\n",
         {"algorithm=em", "states=1", "gaussian=x"},
         TRELLIS_OPTION,
         "there is no column 'x'"},
        {"1 2\n3 4\n", {"algorithm=em", "gaussian=1,2"}, TRELLIS_OPTION, "'2' is the label"},
        {"1 A\n2 B\n",
         {"gaussian=1", "type=crf"},
         TRELLIS_OPTION,
         "--gaussian does not apply to -t crf -a lbfgs; it is for -t hmm"},
        {"1\n2\n",
         {"algorithm=em", "states=1", "gaussian=1", "variance-floor=-1"},
         TRELLIS_OPTION,
         "--variance-floor must be between 0"},
    };
    for (size_t i = 0; i < TR_COUNT(refusals); i++) {
        const char *settings[5] = {0};
        memcpy(settings, refusals[i].settings, sizeof refusals[i].settings);
        struct course course;
        trellis_model *model;
        trellis_error error = {0};
        const char *path = put_text("refused", refusals[i].text);
        trellis_status status = learn(path, settings, &course, &model, &error);
        if (status != refusals[i].status || !strstr(error.message, refusals[i].says)) {
            fail_msg("case %zu: %s: %s", i, trellis_status_name(status), error.message);
        }
    }
}

/* ---- the model file -------------------------------------------------------------------------- */

static trellis_status append(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static void test_text_form(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model, *again;
    struct tr_buffer first = {0}, second = {0};
    const char *path = draw("drawn", 10, false, 0, 1, 2);
    assert_ok(
        learn(path, SETTINGS("algorithm=em", "states=3", "gaussian=1,2"), &course, &model, &error),
        error);
    assert_ok(trellis_model_export(model, false, append, &first, &error), error);
    assert_ok(trellis_model_import(put_file("text", first.data, first.size), &again, &error),
              error);
    assert_ok(trellis_model_export(again, false, append, &second, &error), error);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_memory_equal(model->gaussian.mean, again->gaussian.mean, 12 * sizeof(double));
    trellis_model_close(again);
    trellis_model_close(model);
    tr_buffer_free(&first);
    tr_buffer_free(&second);
    static const char head[] = "trellis-text 1\nlabel\tA\nlabel\tB\n";
    static const struct {
        const char *lines, *says;
    } wrong[] = {
        {"gaussian\tA\tx\t1\t2\n", "'B' has no distribution for the column 'x'"},
        {"gaussian\tA\tx\t1\t2\ngaussian\tA\tx\t1\t2\ngaussian\tB\tx\t1\t2\n", "two distributions"},
        {"gaussian\tA\tx\t1\t0\n", "a variance above 0"},
        {"gaussian\tA\tx\t1\t-1\n", "a variance above 0"},
        {"gaussian\tA\tx\tnan\t1\n", "a finite mean"},
        {"gaussian\tC\tx\t1\t1\n", "no label 'C'"},
        {"gaussian\tA\tx,y\t1\t1\n", "contain a comma"},
    };
    for (size_t i = 0; i < TR_COUNT(wrong); i++) {
        char text[300];
        snprintf(text, sizeof text, "%s%s", head, wrong[i].lines);
        assert_int_equal(trellis_model_import(put_text("wrong", text), &again, &error),
                         TRELLIS_FORMAT);
        if (!strstr(error.message, wrong[i].says)) {
            fail_msg("case %zu: %s", i, error.message);
        }
    }
}

/* A block with any byte changed is refused or holds nothing but finite numbers and variances. */
static void test_hostile_block(void **state)
{
    (void)state;
    const double numbers[] = {1, 2, 3, 4, 0.5, 1, 2, 3};
    struct tr_gaussian g = {2, 2, numbers, numbers + 4, "x,y"}, read = {0};
    struct tr_buffer block = {0};
    tr_gaussian_write(&g, &block);
    size_t size = block.size;
    double *copy = tr_alloc(size / 8 + 1, 8); // aligned
    assert_true(copy && !block.failed);
    memcpy(copy, block.data, size);
    assert_true(tr_gaussian_read(copy, size, 2, &read));
    assert_string_equal(read.names, "x,y");
    assert_false(tr_gaussian_read(copy, size, 3, &read));
    for (size_t n = 0; n < size; n++) {
        assert_false(tr_gaussian_read(copy, n, 2, &read));
    }
    for (size_t i = 0; i < size; i++) {
        for (unsigned change = 1; change < 256; change += 2) {
            memcpy(copy, block.data, size);
            ((unsigned char *)copy)[i] ^= (unsigned char)change;
            if (tr_gaussian_read(copy, size, 2, &read)) {
                for (size_t k = 0; k < 4; k++) {
                    assert_true(isfinite(read.mean[k]) && read.variance[k] > 0 &&
                                isfinite(read.variance[k]));
                }
                assert_int_equal(read.columns, 2);
                assert_int_equal(strlen(read.names), 3);
            }
        }
    }
    free(copy);
    tr_buffer_free(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labelled_by_hand),
        cmocka_unit_test(test_columns_by_hand),
        cmocka_unit_test(test_one_state_by_hand),
        cmocka_unit_test(test_recovers_parameters),
        cmocka_unit_test(test_known_labels_name_the_states),
        cmocka_unit_test(test_never_falls),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_clusters_are_around_their_means),
        cmocka_unit_test(test_hard_data),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_text_form),
        cmocka_unit_test(test_hostile_block),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
