/* ways.h - every learner with each of its algorithms, from the table of learners itself, so that a
 * new one is tested without being listed here. */
#ifndef TRELLIS_TESTS_TRAIN_WAYS_H
#define TRELLIS_TESTS_TRAIN_WAYS_H

#include <stdio.h>

#include "base/random.h"
#include "train/train.h"

/* The options of way number `index`, such as "type=crf algorithm=sgd"; false behind the last. */
static inline bool way_at(size_t index, char way[100])
{
    for (size_t i = 0; tr_learner_at(i); i++) {
        const struct tr_learner *learner = tr_learner_at(i);
        for (const struct tr_algorithm *at = learner->algorithms; at->name; at++) {
            if (index-- == 0) {
                snprintf(way, 100, "type=%s algorithm=%s", learner->name, at->name);
                return true;
            }
        }
    }
    return false;
}

/* A corpus that all of them can learn from, with two columns: words that mostly go with a label,
 * and span labels. */
static inline void ways_corpus(uint64_t seed, size_t sentences, struct tr_buffer *corpus)
{
    static const char *const labels[] = {"O", "B-X", "I-X"};
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t k = 0; k < sentences; k++) {
        size_t n = k ? 1 + tr_random_below(&random, 7) : 3, before = 0;
        for (size_t i = 0; i < n; i++) {
            size_t word = tr_random_below(&random, 12), label = word % 3;
            label = tr_random_real(&random) < 0.2 ? tr_random_below(&random, 3) : label;
            label = label == 2 && before == 0 ? 1 : label; // no I-X behind O
            tr_buffer_format(corpus, "w%zu %s\n", word, labels[label]);
            before = label;
        }
        tr_buffer_char(corpus, '\n');
    }
    tr_buffer_char(corpus, 0);
}

#endif
