/* in_memory.c - training without files: sequences are added one by one, and held out by their
 * group.
 *
 * The attributes of each token are made by the program itself, as one would for CRFsuite. A fifth
 * of the sequences is held out; the training reports how well it labels those after each iteration.
 */
#include <stdio.h>
#include <string.h>

#include <trellis.h>

/* Words that end in 's' are B, what follows them is I, the rest is O. */
static const char *const sentences[] = {"cats run fast", "a dog barks loudly", "birds sing",
                                        "the man walks home", "we see ships there"};

enum { MAX_TOKENS = 8, ROOM = 40 };

static trellis_text text_of(const char *string)
{
    return (trellis_text){string, strlen(string)};
}

/* Adds a sentence with two attributes for each word: the word, and its last letter. */
static trellis_status add(trellis_corpus *corpus, const char *sentence, uint32_t group,
                          trellis_error *error)
{
    char names[2 * MAX_TOKENS][ROOM], word[31];
    trellis_attribute attributes[2 * MAX_TOKENS];
    trellis_text labels[MAX_TOKENS];
    size_t begin[MAX_TOKENS + 1] = {0}, n = 0;
    bool after_s = false;
    for (int used; n < MAX_TOKENS && sscanf(sentence, "%30s%n", word, &used) == 1; n++) {
        char last = word[strlen(word) - 1];
        sentence += used;
        snprintf(names[2 * n], ROOM, "word=%s", word);
        snprintf(names[2 * n + 1], ROOM, "last=%c", last);
        for (size_t k = 2 * n; k < 2 * n + 2; k++) {
            attributes[k] = (trellis_attribute){text_of(names[k]), 1};
        }
        labels[n] = text_of(last == 's' ? "B" : after_s ? "I" : "O");
        after_s = last == 's';
        begin[n + 1] = 2 * (n + 1);
    }
    trellis_sequence sequence = {.struct_size = sizeof sequence,
                                 .length = n,
                                 .labels = labels,
                                 .attributes = attributes,
                                 .attribute_begin = begin,
                                 .weight = 1,
                                 .group = group};
    return trellis_corpus_add(corpus, &sequence, error);
}

static bool on_progress(void *user, const trellis_progress *progress)
{
    double *best = user;
    if (progress->phase == TRELLIS_PHASE_TRAINING && progress->dev_accuracy > *best) {
        *best = progress->dev_accuracy;
    }
    return true; // false, or trellis_cancel() in another thread, would end the training
}

int main(void)
{
    enum { COUNT = sizeof sentences / sizeof *sentences };
    double best = 0;
    trellis_error error = {0};
    trellis_options *options = NULL;
    trellis_corpus *corpus = NULL;
    trellis_cancellation *cancellation = NULL;
    trellis_model *model = NULL;
    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "type", "crf", &error);
    }
    if (!status) {
        status = trellis_corpus_create(&corpus, &error);
    }
    for (uint32_t i = 0; !status && i < 10 * COUNT; i++) {
        status = add(corpus, sentences[i % COUNT], i / 10, &error);
    }
    if (!status) {
        status = trellis_cancellation_create(&cancellation, &error);
    }
    trellis_source train = {
        .struct_size = sizeof train, .corpus = corpus, .groups = TRELLIS_EXCEPT_GROUP, .group = 4};
    trellis_source held_out = train;
    held_out.groups = TRELLIS_ONLY_GROUP;
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &train,
                                 .train_count = 1,
                                 .dev = &held_out,
                                 .dev_count = 1,
                                 .progress = on_progress,
                                 .user = &best,
                                 .cancellation = cancellation};
    if (!status) {
        status = trellis_train(options, &training, &model, &error);
    }
    if (!status) {
        printf("%zu tokens in %zu bytes; accuracy on held-out data: %.1f %%\n",
               trellis_corpus_tokens(corpus), trellis_corpus_bytes(corpus), 100 * best);
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    trellis_model_close(model);
    trellis_cancellation_destroy(cancellation);
    trellis_corpus_destroy(corpus);
    trellis_options_destroy(options);
    return status || best < 1 ? 1 : 0;
}
