/* test_ssvm.c - the margin objective: the dual never falls, the gap closes, and the optimum is that
 * of a slow subgradient method over all labellings. */
#include "support/near.h"
#include "train/naive.h"

struct trace {
    double objective, dual;
    uint64_t epochs;
};

static bool follow(void *user, const trellis_progress *progress)
{
    struct trace *trace = user;
    if (progress->phase == TRELLIS_PHASE_TRAINING && progress->fraction == 1) {
        double gap = progress->gradient_norm * progress->objective;
        double dual = progress->objective - gap;
        assert_true(isfinite(progress->objective) && gap >= 0);
        assert_true(trace->epochs == 0 || dual >= trace->dual - 1e-6 * progress->objective);
        trace->dual = dual;
        trace->objective = progress->objective;
        trace->epochs++;
    }
    return true;
}

static trellis_model *train_followed(const char *corpus, const char *settings, struct trace *trace)
{
    trellis_options *options = make_options(settings);
    trellis_error error = {0};
    trellis_model *model;
    const char *path = put_text("corpus.txt", corpus);
    assert_ok(trellis_train_files(options, &path, 1, follow, trace, &model, &error), error);
    trellis_options_destroy(options);
    return model;
}

/* F(w) = l2 |w|^2 + sum_s weight_s max_Z (L(Z) - w . psi_s(Z)), and a subgradient of it. */
static double objective(struct naive *naive, double l2, double *gradient)
{
    double value = l2 * dot(naive->w, naive->w);
    for (size_t j = 0; j < SIZE; j++) {
        gradient[j] = 2 * l2 * naive->w[j];
    }
    for (size_t k = 0; k < SENTENCES; k++) {
        const struct sentence *s = &naive->sentences[k];
        double largest = 0, worst[SIZE] = {0};
        int labels[LONGEST];
        for (size_t z = 0; labelling(s, z, labels); z++) {
            double d[SIZE];
            difference(naive, s, labels, d);
            double loss = loss_of(naive, s, labels) - dot(naive->w, d);
            if (loss > largest) {
                largest = loss;
                memcpy(worst, d, sizeof d);
            }
        }
        value += s->weight * largest;
        for (size_t j = 0; j < SIZE; j++) {
            gradient[j] -= s->weight * worst[j];
        }
    }
    return value;
}

/* The smallest F that a slow descent finds: steps 1 / (2 l2 t), averaged with rising weights. */
static double descend(struct naive *naive, double l2, int steps)
{
    double average[SIZE] = {0}, gradient[SIZE], least = INFINITY;
    memset(naive->w, 0, sizeof naive->w);
    for (int t = 1; t <= steps; t++) {
        objective(naive, l2, gradient);
        for (size_t j = 0; j < SIZE; j++) {
            naive->w[j] -= 2 / (2 * l2 * (t + 1)) * gradient[j];
            average[j] += 2.0 / (t + 2) * (naive->w[j] - average[j]);
        }
    }
    memcpy(naive->w, average, sizeof average);
    least = fmin(least, objective(naive, l2, gradient));
    return least;
}

static void test_optimum(void **state)
{
    (void)state;
    static const double penalties[] = {0.5, 2, 6};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct naive naive;
        struct tr_buffer corpus = {0};
        struct trace trace = {0};
        char settings[200];
        double gradient[SIZE], l2 = penalties[seed % 3];
        make_corpus(&naive, seed + 10, seed % 2, &corpus);
        snprintf(settings, sizeof settings,
                 "format=crfsuite type=ssvm epochs=2000 gap=1e-4 l2=%g seed=%d", l2, (int)seed);
        trellis_model *model = train_followed(corpus.data, settings, &trace);
        assert_true(trace.epochs < 2000); // the gap did close
        assert_true(trace.objective - trace.dual <= 1e-4 * trace.objective);
        read_weights(model, naive.w);
        double found = objective(&naive, l2, gradient), least = descend(&naive, l2, 4000);
        assert_true(fabs(found - trace.objective) < 1e-4 * found); // F is what it says
        assert_true(trace.dual <= least * (1 + 1e-6));             // D is below all F
        assert_true(fabs(found - least) < 1e-3 * found);
        trellis_model_close(model);
        tr_buffer_free(&corpus);
    }
}

/* The dual does not fall with edges, a higher order, costs and first weights either. */
static void test_dual_rises(void **state)
{
    (void)state;
    struct naive naive;
    struct tr_buffer corpus = {0};
    trellis_error error = {0};
    make_corpus(&naive, 77, true, &corpus);
    char settings[1500];
    snprintf(settings, sizeof settings,
             "format=crfsuite type=ssvm epochs=40 order=2 cost=%s l2=0.3",
             put_text("costs", "L0 L1 4\nL2 L1 0.5\n"));
    struct trace cold = {0}, warm = {0};
    trellis_model *model = train_followed(corpus.data, settings, &cold);
    assert_true(cold.dual > 0 && cold.objective - cold.dual < 0.05 * cold.objective);
    assert_ok(trellis_model_save(model, path_of("first.model"), &error), error);
    trellis_model_close(model);
    snprintf(settings + strlen(settings), 700, " from=%s", path_of("first.model"));
    model = train_followed(corpus.data, settings, &warm);
    assert_true(warm.dual > 0 && warm.epochs <= cold.epochs);
    trellis_model_close(model);
    tr_buffer_free(&corpus);

    struct trace edges = {0};
    snprintf(settings, sizeof settings, "type=ssvm epochs=10 features=%s gap=0",
             put_text("t.tpl", "columns word\nnode word\nedge word\nstep start end\n"));
    model = train_followed("a X\nb Y\na Y\n\nb X\na X\n\na Y\nb Y\n", settings, &edges);
    assert_int_equal(edges.epochs, 10);
    trellis_model_close(model);
}

/* The subgradient goes to the same optimum. */
static void test_subgradient(void **state)
{
    (void)state;
    struct naive naive;
    struct tr_buffer corpus = {0};
    double gradient[SIZE], l2 = 2;
    make_corpus(&naive, 12, true, &corpus);
    trellis_model *model = train_on(
        corpus.data, "format=crfsuite type=ssvm algorithm=subgradient epochs=400 l2=2");
    read_weights(model, naive.w);
    double found = objective(&naive, l2, gradient), least = descend(&naive, l2, 4000);
    assert_true(found < least * 1.01 && found > least * 0.999);
    trellis_model_close(model);
    tr_buffer_free(&corpus);
}

/* One sequence x A, y B, and l2 = 1, so that lambda = 2: while w < 1, both labels wrong violate the
 * most. Each step adds 1 to v at both features, and w_t = v_t / (lambda t) = 1/2, as is any average
 * of them; that is the optimum. */
static void test_first_subgradients(void **state)
{
    (void)state;
    const char *features = put_text("words", "columns word\nnode word\n");
    for (int epochs = 1; epochs <= 3; epochs++) {
        char settings[700];
        snprintf(settings, sizeof settings,
                 "type=ssvm algorithm=subgradient l2=1 order=0 epochs=%d features=%s", epochs,
                 features);
        trellis_model *model = train_on("x A\ny B\n", settings);
        for (int32_t label = 0; label < 2; label++) {
            trellis_text word = label ? TR_TEXT("word[0]=y") : TR_TEXT("word[0]=x");
            size_t number = trellis_model_find_attribute(model, false, word);
            assert_true(number != SIZE_MAX);
            assert_near(trellis_model_weight(model, number, &label, 1), 0.5, 1e-6);
        }
        trellis_model_close(model);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const bad[] = {"type=ssvm l2=0", "type=ssvm loss=root",
                                      "type=ssvm l2=1 sigma=1", "type=ssvm sigma=0"};
    const char *corpus = put_text("small", "a X\nb Y\n");
    for (size_t k = 0; k < TR_COUNT(bad); k++) {
        trellis_options *options = make_options(bad[k]);
        trellis_model *model;
        trellis_error error = {0};
        assert_int_equal(trellis_train_files(options, &corpus, 1, NULL, NULL, &model, &error),
                         TRELLIS_OPTION);
        trellis_options_destroy(options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),     cmocka_unit_test(test_dual_rises),
        cmocka_unit_test(test_subgradient), cmocka_unit_test(test_first_subgradients),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
