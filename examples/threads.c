/* threads.c - one model, four threads.
 *
 * A model is immutable, and options may be read by several threads while nobody sets one: all
 * threads share both. A tagger and a reader belong to one thread: each thread creates its own and
 * tags every fourth sequence of the file.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <trellis.h>

enum { THREADS = 4 };

struct worker {
    const trellis_model *model;     // shared
    const trellis_options *options; // shared, read only
    size_t number;                  // 0 .. THREADS-1
    size_t tokens, correct;         // results
    trellis_status status;
    trellis_error error;
};

static bool same(trellis_text a, trellis_text b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Tags a sequence and counts the correct labels. */
static trellis_status tag(struct worker *worker, trellis_tagger *tagger,
                          const trellis_sequence *sequence)
{
    const trellis_text *labels;
    trellis_status status = trellis_tagger_tag(tagger, sequence, &labels, &worker->error);
    for (size_t i = 0; !status && i < sequence->length; i++) {
        worker->correct += same(labels[i], sequence->labels[i]);
        worker->tokens++;
    }
    return status;
}

static void *work(void *user)
{
    struct worker *worker = user;
    trellis_reader *reader = NULL;
    trellis_tagger *tagger = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open("data/english/test.conll", worker->options, &reader,
                                                &worker->error);
    if (!status) {
        status = trellis_tagger_create(worker->model, worker->options, &tagger, &worker->error);
    }
    if (!status) {
        status = trellis_tagger_bind(tagger, reader, &worker->error);
    }
    for (size_t i = 0; !status; i++) {
        status = trellis_reader_next(reader, &sequence, &worker->error);
        if (!status && i % THREADS == worker->number) {
            status = tag(worker, tagger, sequence);
        }
    }
    worker->status = status == TRELLIS_END ? TRELLIS_OK : status;
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    return NULL;
}

/* Runs the threads, waits for them and adds up their counts. */
static trellis_status tag_in_threads(const trellis_model *model, const trellis_options *options,
                                     trellis_error *error)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    bool started[THREADS] = {false};
    size_t tokens = 0, correct = 0;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.model = model, .options = options, .number = i};
        started[i] = pthread_create(&threads[i], NULL, work, &workers[i]) == 0;
        if (!started[i]) {
            work(&workers[i]); // do it in this thread instead
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (started[i]) {
            pthread_join(threads[i], NULL);
        }
        if (workers[i].status) {
            status = workers[i].status;
            *error = workers[i].error;
        }
        printf("thread %zu: %zu tokens\n", i + 1, workers[i].tokens);
        tokens += workers[i].tokens;
        correct += workers[i].correct;
    }
    if (!status && tokens) {
        printf("%zu of %zu labels are correct: %.1f %%\n", correct, tokens,
               100.0 * (double)correct / (double)tokens);
    }
    return status;
}

int main(void)
{
    const char *file = "data/english/train.conll";
    trellis_error error = {0};
    trellis_options *options = NULL;
    trellis_model *model = NULL;

    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "label", "2", &error); // the part of speech
    }
    if (!status) {
        status = trellis_train_files(options, &file, 1, NULL, NULL, &model, &error);
    }
    if (!status) {
        status = tag_in_threads(model, options, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status ? 1 : 0;
}
