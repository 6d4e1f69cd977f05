/* test_allocator_online.c - learning online, with a failing allocator. */
#include "faults/allocator.h"

static trellis_status show(const trellis_online *online, struct outcome *outcome)
{
    trellis_model *model = NULL;
    trellis_status status = trellis_online_model(online, &model, &outcome->error);
    if (!status) {
        status = trellis_model_export(model, false, see, &outcome->seen, &outcome->error);
    }
    trellis_model_close(model);
    return status;
}

/* Learns from a file: its sequences one by one, then the last of them again. */
static trellis_status learn_file(trellis_online *online, const trellis_options *options,
                                 const char *path, struct outcome *outcome)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open(path, options, &reader, &outcome->error);
    if (!status) {
        status = trellis_online_bind(online, reader, &outcome->error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, &outcome->error))) {
        for (int i = 0; !status && i < 2; i++) {
            status = trellis_online_learn(online, sequence, 1, &outcome->error);
        }
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status run_online(const char *about, struct outcome *outcome)
{
    trellis_options *options = NULL;
    trellis_online *online = NULL, *restored = NULL, *continued = NULL;
    trellis_model *model = NULL;
    struct tr_buffer bytes = {0};
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_online_create(options, NULL, NULL, &online, &outcome->error);
    }
    if (!status) {
        status = learn_file(online, options, paths[CRFSUITE], outcome);
    }
    if (!status) {
        status = trellis_online_save(online, to_buffer, &bytes, &outcome->error);
    }
    if (!status && bytes.failed) {
        status = tr_fail_memory(&outcome->error);
    }
    if (!status) {
        status = trellis_online_restore(bytes.data, bytes.size, &restored, &outcome->error);
    }
    if (!status) {
        status = learn_file(restored, options, paths[CRFSUITE], outcome);
    }
    if (!status) {
        status = trellis_online_model(restored, &model, &outcome->error);
    }
    if (!status) {
        status = trellis_online_create(options, model, NULL, &continued, &outcome->error);
    }
    if (!status) {
        status = show(continued, outcome);
    }
    tr_buffer_free(&bytes);
    trellis_model_close(model);
    trellis_online_destroy(continued);
    trellis_online_destroy(restored);
    trellis_online_destroy(online);
    trellis_options_destroy(options);
    return status;
}

static void test_online(void **state)
{
    (void)state;
    try_all(run_online, "format=crfsuite type=perceptron algorithm=arow threads=1");
    try_all(run_online, "format=crfsuite type=mira threads=1");
    try_all(run_online, "format=crfsuite type=crf algorithm=sgd batch=2 threads=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_online),
    };
    return RUN_WITH_FILES(tests);
}
