/* evaluate.h - evaluations of label sequences that are written out as texts. */
#ifndef TRELLIS_TESTS_EVALUATE_H
#define TRELLIS_TESTS_EVALUATE_H

#include "base/text.h"

enum { MAX_LABELS = 32 };

/* Splits off the labels up to the next "|"; returns the rest, NULL at the end. */
static const char *next_sequence(const char *at, trellis_text *labels, size_t *length)
{
    for (*length = 0; *at && *at != '|';) {
        size_t size = strcspn(at, " |");
        if (size) {
            labels[(*length)++] = (trellis_text){at, size};
        }
        at += size;
        at += *at == ' ';
    }
    return *at ? at + 1 : NULL;
}

/* One sequence or several, separated by "|"; labels are separated by blanks. */
static trellis_evaluation *evaluate_with(const trellis_options *options, const char *gold,
                                         const char *predicted)
{
    trellis_evaluation *evaluation;
    assert_int_equal(trellis_evaluation_create(options, &evaluation, NULL), TRELLIS_OK);
    while (gold && *gold) {
        trellis_text gold_labels[MAX_LABELS], predicted_labels[MAX_LABELS];
        size_t length, found_length;
        gold = next_sequence(gold, gold_labels, &length);
        predicted = next_sequence(predicted, predicted_labels, &found_length);
        assert_int_equal(length, found_length);
        assert_int_equal(
            trellis_evaluation_add(evaluation, gold_labels, predicted_labels, length, NULL),
            TRELLIS_OK);
    }
    return evaluation;
}

static inline trellis_evaluation *evaluate_strictly(const char *gold, const char *predicted,
                                                    const char *strict)
{
    trellis_options *options;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    if (strict) {
        assert_int_equal(trellis_options_set(options, "strict", "yes", NULL), TRELLIS_OK);
        assert_int_equal(trellis_options_set(options, "scheme", strict, NULL), TRELLIS_OK);
    }
    trellis_evaluation *evaluation = evaluate_with(options, gold, predicted);
    trellis_options_destroy(options);
    return evaluation;
}

static inline trellis_evaluation *evaluate(const char *gold, const char *predicted)
{
    return evaluate_with(NULL, gold, predicted);
}

/* A sink for a struct tr_buffer. */
static inline trellis_status into_buffer(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

#endif
