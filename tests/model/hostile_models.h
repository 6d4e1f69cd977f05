/* hostile_models.h - one small model of each kind for the tests to damage, and what they call on
 * it.
 */
#ifndef TRELLIS_TESTS_HOSTILE_MODELS_H
#define TRELLIS_TESTS_HOSTILE_MODELS_H

#include "test_model.h"

#include <sys/resource.h>

#include "test_hostile.h"

/* The sanitizers map more than any limit would leave them. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

enum { MAX_MEGABYTES = 512 };

/* An allocation that no small file can justify fails, and then the status says so. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

static inline void limit_memory(void)
{
#ifndef SANITIZED
    struct rlimit limit = {(rlim_t)MAX_MEGABYTES << 20, (rlim_t)MAX_MEGABYTES << 20};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

/* ---- the models that are damaged ------------------------------------------------------------- */

enum {
    EDGES,
    SECOND_ORDER,
    HMM,
    SPANS,
    SEGMENTS,
    MODELS,
    LEARNED_HMM = MODELS,
    NORMALS,
    COUNTED,
    MEMM,
    SHORT,
    ALL_MODELS
};

static inline trellis_model *make_model(int which)
{
    static const char corpus[] =
        "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\nloudly RB\n\n"
        "dogs NN\ncan VB\nchase VB\nthe DT\ncan NN\n";
    static const char spans[] = "John B-PER\nSmith I-PER\nsaw O\nOslo B-LOC\n\nthe O\ncan B-LOC\n";
    static const char numbers[] = "1.5 A\n2 B\n\n2.5 B\n1 A\n0.5 A\n";
    static const char counted[] = "no 0\nhit 1\nhit 2\n\nhit 1\nno 1\nhit 2\n\nno 0\nno 0\nhit 1\n";
    char options[900], templates[900];
    switch (which) {
    case EDGES:
    case SHORT:
        snprintf(
            options, sizeof options, "epochs=4 bits=%d features=%s", which == SHORT ? 16 : 32,
            put_text("edges.tpl",
                     "columns word\nnode word\nnode bias\nedge suffix(word,1)\nstep start end\n"));
        return train_on(corpus, options);
    case SECOND_ORDER:
        snprintf(templates, sizeof templates,
                 "columns word tag?\nnode word\nnode suffix(word,1)\nnode inlist(word,\"%s\")\n"
                 "node tag[-1]\nstep\n",
                 put_text("words.txt", "cat\ncan\n"));
        snprintf(options, sizeof options, "epochs=4 order=2 features=%s",
                 put_text("second.tpl", templates));
        return train_on(corpus, options);
    case HMM:
        return import_model("data/hmm/pidgin.txt");
    case LEARNED_HMM:
        return train_on(corpus, "type=hmm order=2 dictionary=learn dictionary-count=1");
    case NORMALS:
        return train_on(numbers, "type=hmm gaussian=1");
    case SEGMENTS:
        snprintf(templates, sizeof templates,
                 "columns word\nnode word\nsegment text(word)\nsegment any(word,2) & size\n"
                 "segment listed(word,\"%s\")\nsegment similarity(word,\"%s\")\nstep\n",
                 put_text("names.txt", "John Smith\nOslo\n"),
                 put_text("more.txt", "the can\nJohn Smith\nin Oslo\n"));
        snprintf(options, sizeof options, "epochs=4 segments=yes type=crf features=%s",
                 put_text("segments.tpl", templates));
        return train_on(spans, options);
    case COUNTED:
        return train_on(counted, "epochs=4 features=id counted=3");
    case MEMM:
        return train_on(corpus, "type=memm epochs=4 features=id observed-states=yes order=2");
    default:
        return train_on(spans, "epochs=4 features=id train-scheme=iobes");
    }
}

/* Its bytes; the caller frees them. */
static inline unsigned char *make_bytes(int which, size_t *ret_size)
{
    trellis_model *model = make_model(which);
    trellis_error error = {0};
    assert_ok(trellis_model_save(model, path_of("sound.model"), &error), error);
    trellis_model_close(model);
    unsigned char *bytes = (unsigned char *)get_file(path_of("sound.model"), ret_size);
    trellis_model *opened;
    assert_ok(open_bytes(bytes, *ret_size, &opened, &error), error);
    trellis_model_close(opened);
    return bytes;
}

#endif
