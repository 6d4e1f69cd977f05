/* hidden.h - small corpora whose labels are hidden, wholly or in part, for the tests of learning
 * without labels. */
#ifndef TRELLIS_TESTS_TRAIN_HIDDEN_H
#define TRELLIS_TESTS_TRAIN_HIDDEN_H

#include "base/random.h"
#include "train/following.h"

enum { LABELS = 3, WORDS = 6, LONGEST = 5, SENTENCES = 40, LABELLED = 8 };

struct sentence {
    size_t n;
    int word[LONGEST];
    unsigned open[LONGEST]; // the labels that it may have, a bit each
    double weight, share;   // share: of --unlabelled-weight
};

/* The first sentences have known labels; the rest are half known, or not at all. */
static inline void make_corpus(struct sentence *corpus, struct tr_random *random, bool partial,
                               double weight)
{
    for (size_t s = 0; s < SENTENCES; s++) {
        corpus[s].n = s == 0 ? LONGEST : 1 + tr_random_below(random, LONGEST);
        corpus[s].weight = (double)(float)(0.5 + tr_random_real(random)); // so there are no ties
        corpus[s].share = s < SENTENCES / 2 ? 1 : weight;
        for (size_t i = 0; i < corpus[s].n; i++) {
            unsigned label = (unsigned)(s == 0 ? i % LABELS : tr_random_below(random, LABELS));
            uint64_t how = s < LABELLED || !partial ? 0 : tr_random_below(random, 3);
            corpus[s].word[i] = (int)((label * 2 + tr_random_below(random, 3)) % WORDS);
            corpus[s].open[i] = s >= SENTENCES / 2 || how == 1 ? (1u << LABELS) - 1
                                : how == 2 ? 1u << label | 1u << (label + 1) % LABELS
                                           : 1u << label;
        }
    }
}

static inline void put_label(struct tr_buffer *text, unsigned open)
{
    const char *bar = "";
    if (open == (1u << LABELS) - 1) {
        tr_buffer_char(text, '_');
        return;
    }
    for (unsigned c = 0; c < LABELS; c++) {
        if (open >> c & 1) {
            tr_buffer_format(text, "%s%c", bar, 'A' + (int)c);
            bar = "|";
        }
    }
}

static inline const char *put_corpus(const char *name, const struct sentence *corpus, size_t begin,
                                     size_t end, bool labels)
{
    struct tr_buffer text = {0};
    for (size_t s = begin; s < end; s++) {
        tr_buffer_format(&text, "{\"weight\":%.17g,\"tokens\":[", corpus[s].weight);
        for (size_t i = 0; i < corpus[s].n; i++) {
            tr_buffer_format(&text, "%s\"w%d\"", i ? "," : "", corpus[s].word[i]);
        }
        for (size_t i = 0; labels && i < corpus[s].n; i++) {
            tr_buffer_string(&text, i ? "\",\"" : "],\"labels\":[\"");
            put_label(&text, corpus[s].open[i]);
        }
        tr_buffer_string(&text, labels ? "\"]}\n" : "]}\n");
    }
    const char *path = put_file(name, text.data, text.size);
    tr_buffer_free(&text);
    return path;
}

/* Sentences begin .. end-1 of a corpus, without labels, as a file. */
static inline const char *put_plain(const char *name, uint64_t seed, size_t begin, size_t end)
{
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    tr_random_seed(&random, seed);
    make_corpus(corpus, &random, false, 1);
    return put_corpus(name, corpus, begin, end, false);
}

#endif
