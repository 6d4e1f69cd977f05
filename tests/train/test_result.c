/* test_result.c - the model of a training takes its graph: it is the one that opening the model's
 * bytes builds, for every learner and every kind of graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "model/model.h"
#include "support/settings.h"
#include "ways.h"

#include <string.h>

static void assert_same(const void *a, const void *b, size_t size)
{
    assert_int_equal(!a, !b);
    if (a && size) {
        assert_memory_equal(a, b, size);
    }
}

static void assert_same_graph(const struct tr_graph *a, const struct tr_graph *b)
{
    assert_int_equal(a->labels, b->labels);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->states, b->states);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->first_order, b->first_order);
    assert_int_equal(a->free_steps, b->free_steps);
    assert_int_equal(a->pruned, b->pruned);
    assert_int_equal(a->order, b->order);
    assert_true(a->threshold == b->threshold);
    assert_int_equal(a->step_count, b->step_count);
    assert_int_equal(a->fan_count, b->fan_count);
    size_t states = a->states, steps = a->step_count;
    assert_same(a->label, b->label, states * sizeof *a->label);
    assert_same(a->end_forbidden, b->end_forbidden, states);
    for (uint32_t z = 0; a->pruned && z < states; z++) {
        for (uint32_t c = 0; c <= a->labels + 1; c++) {
            struct tr_reading x = {0}, y = {0};
            if (c != a->labels) {
                x = tr_graph_read(a, z, c, a->order);
                y = tr_graph_read(b, z, c, b->order);
            }
            assert_int_equal(x.next, y.next);
            assert_int_equal(x.count, y.count);
            assert_same(x.feature, y.feature, x.count * sizeof *x.feature);
        }
    }
    if (a->pruned) {
        return;
    }
    assert_same(a->in_begin, b->in_begin, (states + 1) * sizeof *a->in_begin);
    assert_same(a->from, b->from, steps * sizeof *a->from);
    assert_same(a->to, b->to, steps * sizeof *a->to);
    assert_same(a->forbidden, b->forbidden, steps * sizeof *a->forbidden);
    assert_same(a->feature_begin, b->feature_begin, (steps + 1) * sizeof *a->feature_begin);
    assert_same(a->feature, b->feature, a->feature_begin[steps] * sizeof *a->feature);
    assert_same(a->step_at, b->step_at, (states + 1) * a->labels * sizeof *a->step_at);
    assert_same(a->fan_begin, b->fan_begin, (a->fan_count + 1) * sizeof *a->fan_begin);
    assert_same(a->free_begin, b->free_begin, (states + 1) * sizeof *a->free_begin);
    if (a->free_begin) {
        assert_same(a->free_feature, b->free_feature,
                    a->free_begin[states] * sizeof *a->free_feature);
    }
    assert_same(a->end_begin, b->end_begin, (states + 1) * sizeof *a->end_begin);
    assert_same(a->end_feature, b->end_feature, a->end_begin[states] * sizeof *a->end_feature);
}

/* Trains with dev data, whose scores need the graph as well, until the training ends or, at the
 * second iteration, its progress function says so. */
static bool stop_at_second(void *user, const trellis_progress *progress)
{
    return !*(bool *)user || progress->phase != TRELLIS_PHASE_TRAINING || progress->iteration < 2;
}

static void check(const char *settings, const char *corpus, bool stops)
{
    trellis_error error = {0};
    trellis_options *options = make_options(settings);
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = corpus, .data_size = strlen(corpus)};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &bytes,
                                 .train_count = 1,
                                 .dev = &bytes,
                                 .dev_count = 1,
                                 .progress = stop_at_second,
                                 .user = &stops};
    trellis_model *model, *again;
    trellis_status status = trellis_train(options, &training, &model, &error);
    if (status && !(stops && status == TRELLIS_INTERRUPTED)) {
        fail_msg("%s: %s", settings, error.message);
    }
    assert_non_null(model);
    assert_int_equal(trellis_model_open_bytes(model->image.data, model->image.size, TRELLIS_COPY,
                                              &again, &error),
                     TRELLIS_OK);
    assert_same_graph(model->graph, again->graph);
    assert_ptr_equal(model->graph->segments, model->segments);
    trellis_model_close(model);
    trellis_model_close(again);
    trellis_options_destroy(options);
}

static void every_learner(void **state)
{
    (void)state;
    char way[100], settings[200];
    struct tr_buffer corpus = {0};
    ways_corpus(5, 60, &corpus);
    for (size_t i = 0; way_at(i, way); i++) {
        snprintf(settings, sizeof settings, "%s epochs=3", way);
        check(settings, corpus.data, false);
    }
    tr_buffer_free(&corpus);
}

static void every_kind_of_graph(void **state)
{
    (void)state;
    static const char *const kinds[] = {"order=0",
                                        "order=2",
                                        "order=3 observed-states=yes",
                                        "order=2 prune=0.01 algorithm=sgd",
                                        "segments=yes",
                                        "bits=16 order=2",
                                        "seeds=2 algorithm=sgd threads=2"};
    char settings[200];
    struct tr_buffer corpus = {0};
    ways_corpus(6, 60, &corpus);
    for (size_t i = 0; i < TR_COUNT(kinds); i++) {
        for (int stops = 0; stops < 2; stops++) {
            snprintf(settings, sizeof settings, "type=crf epochs=3 %s", kinds[i]);
            check(settings, corpus.data, stops);
        }
    }
    tr_buffer_free(&corpus);
}

/* The first label alone tells the scheme here. */
static void the_scheme_is_that_of_all_labels(void **state)
{
    (void)state;
    static const char corpus[] = "a S-A\nb B-A\nc I-A\nd O\n";
    trellis_source source = {
        .struct_size = sizeof source, .data = corpus, .data_size = strlen(corpus)};
    trellis_training training = {
        .struct_size = sizeof training, .train = &source, .train_count = 1};
    trellis_options *options = make_options("type=perceptron features=id epochs=1");
    trellis_model *model;
    assert_int_equal(trellis_train(options, &training, &model, NULL), TRELLIS_OK);
    assert_string_equal(trellis_model_note(model, "input-scheme"), "iobes");
    trellis_model_close(model);
    trellis_options_destroy(options);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_learner),
        cmocka_unit_test(every_kind_of_graph),
        cmocka_unit_test(the_scheme_is_that_of_all_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
