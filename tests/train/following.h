/* following.h - what the tests of learning without labels share: a training whose figures are
 * kept. */
#ifndef TRELLIS_TESTS_TRAIN_FOLLOWING_H
#define TRELLIS_TESTS_TRAIN_FOLLOWING_H

#include "model/test_model.h"

enum { MAX_ITERATIONS = 60 };

struct course {
    size_t iterations;
    double likelihood[MAX_ITERATIONS], objective[MAX_ITERATIONS];
    double dev[MAX_ITERATIONS], accuracy[MAX_ITERATIONS]; // on --dev: likelihood, labels
    char notes[2000];
};

static inline bool follow(void *user, const trellis_progress *progress)
{
    struct course *course = user;
    if (progress->phase == TRELLIS_PHASE_TRAINING && progress->fraction == 1 &&
        course->iterations < MAX_ITERATIONS) {
        course->likelihood[course->iterations] = progress->likelihood;
        course->dev[course->iterations] = progress->dev_likelihood;
        course->accuracy[course->iterations] = progress->dev_accuracy;
        course->objective[course->iterations++] = progress->objective;
    } else if (progress->phase == TRELLIS_PHASE_MESSAGE) {
        size_t at = strlen(course->notes);
        snprintf(course->notes + at, sizeof course->notes - at, "%s\n", progress->message);
    }
    return true;
}

/* Settings are "name=value" pairs behind "type=hmm", ended by NULL. */
static inline trellis_status learn(const char *path, const char *const *settings,
                                   struct course *course, trellis_model **ret_model,
                                   trellis_error *error)
{
    trellis_options *options;
    *course = (struct course){0};
    *ret_model = NULL;
    assert_ok(trellis_options_create(&options, error), *error);
    assert_ok(trellis_options_set(options, "type", "hmm", error), *error);
    trellis_status status = TRELLIS_OK;
    for (; !status && *settings; settings++) {
        char name[40];
        size_t n = strcspn(*settings, "=");
        snprintf(name, sizeof name, "%.*s", (int)n, *settings);
        status = trellis_options_set(options, name, *settings + n + 1, error);
    }
    if (!status) {
        status = trellis_train_files(options, &path, 1, follow, course, ret_model, error);
    }
    trellis_options_destroy(options);
    return status;
}
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline char *setting(const char *name, const char *value)
{
    static char texts[8][700];
    static unsigned next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s=%s", name, value);
    return text;
}

/* The model as a file; it is closed. */
static inline char *model_bytes(trellis_model *model, size_t *ret_size)
{
    trellis_error error = {0};
    const char *path = path_of("saved");
    assert_ok(trellis_model_save(model, path, &error), error);
    trellis_model_close(model);
    return get_file(path, ret_size);
}

#endif
