/* test_shared_model.c - sixteen threads with one model and one corpus: the labels that one thread
 * gives.
 *
 * Each thread has a tagger and a reader of its own. `make races` runs this under the thread
 * sanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/text.h"

enum { THREADS = 16 };

struct worker {
    const trellis_model *model;
    const trellis_corpus *corpus;
    struct tr_buffer labels;
    double entropy; // summed, where the model has probabilities
    trellis_status status;
};

static trellis_status tag(struct worker *worker, trellis_reader *reader, trellis_tagger *tagger)
{
    const trellis_sequence *sequence;
    const trellis_text *labels;
    trellis_status status = trellis_tagger_bind(tagger, reader, NULL);
    while (!status && !(status = trellis_reader_next(reader, &sequence, NULL))) {
        status = trellis_tagger_tag(tagger, sequence, &labels, NULL);
        for (size_t i = 0; !status && i < sequence->length; i++) {
            tr_buffer_text(&worker->labels, labels[i]);
            tr_buffer_char(&worker->labels, '\n');
        }
        double entropy = 0;
        if (!status && trellis_model_has_probabilities(worker->model)) {
            status = trellis_tagger_entropy(tagger, &entropy, NULL);
        }
        worker->entropy += entropy;
    }
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static void *work(void *user)
{
    struct worker *worker = user;
    trellis_reader *reader = NULL;
    trellis_tagger *tagger = NULL;
    trellis_source source = {.struct_size = sizeof source, .corpus = worker->corpus};
    worker->status = trellis_reader_open_source(&source, NULL, &reader, NULL);
    if (!worker->status) {
        worker->status = trellis_tagger_create(worker->model, NULL, &tagger, NULL);
    }
    if (!worker->status) {
        worker->status = tag(worker, reader, tagger);
    }
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    return NULL;
}

static void check(const char *type, const char *label)
{
    trellis_options *options;
    trellis_corpus *corpus;
    trellis_model *model;
    struct worker workers[THREADS] = {{0}};
    pthread_t threads[THREADS];
    trellis_source file = {.struct_size = sizeof file, .path = "data/english/dev.conll"};
    trellis_source memory = {.struct_size = sizeof memory};
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "type", type, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "label", label, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "epochs", "2", NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_read(corpus, &file, options, NULL), TRELLIS_OK);
    memory.corpus = corpus;
    trellis_training training = {
        .struct_size = sizeof training, .train = &memory, .train_count = 1};
    assert_int_equal(trellis_train(options, &training, &model, NULL), TRELLIS_OK);
    for (size_t k = 0; k < THREADS; k++) {
        workers[k].model = model;
        workers[k].corpus = corpus;
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (size_t k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    }
    for (size_t k = 0; k < THREADS; k++) {
        assert_int_equal(workers[k].status, TRELLIS_OK);
        assert_true(workers[k].labels.size > 0 && workers[k].entropy == workers[0].entropy);
        assert_int_equal(workers[k].labels.size, workers[0].labels.size);
        assert_memory_equal(workers[k].labels.data, workers[0].labels.data, workers[0].labels.size);
    }
    for (size_t k = 0; k < THREADS; k++) {
        tr_buffer_free(&workers[k].labels);
    }
    trellis_model_close(model);
    trellis_corpus_destroy(corpus);
    trellis_options_destroy(options);
}

static void a_crf_is_shared(void **state)
{
    (void)state;
    check("crf", "last");
}

static void an_hmm_is_shared(void **state)
{
    (void)state;
    check("hmm", "2");
}

static void a_perceptron_is_shared(void **state)
{
    (void)state;
    check("perceptron", "3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crf_is_shared),
        cmocka_unit_test(an_hmm_is_shared),
        cmocka_unit_test(a_perceptron_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
