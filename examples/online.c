/* online.c - learning as the data comes: an assistant that learns from corrections.
 *
 * Sentences arrive one at a time. Each is tagged by what was learned so far, then learned from; new
 * words and new labels appear as it goes on. Half way the learner is put away as bytes and taken up
 * again, as a server would do that is restarted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trellis.h>

enum { LONGEST = 8 };

static const char *const sentences[] = {
    "the/DT dog/NN barks/VB",        "a/DT cat/NN sleeps/VB",       "the/DT cat/NN barks/VB",
    "old/JJ dogs/NNS sleep/VB",      "the/DT old/JJ dog/NN sat/VB", "the/DT cats/NNS sleep/VB",
    "a/DT young/JJ dog/NN barks/VB",
};
enum { COUNT = sizeof sentences / sizeof *sentences };

/* A sentence cut into words and labels. */
struct cut {
    trellis_text words[LONGEST], labels[LONGEST];
    trellis_sequence sequence;
};

static void cut_sentence(const char *text, struct cut *cut)
{
    size_t n = 0;
    while (*text && n < LONGEST) {
        size_t word = strcspn(text, "/"), label = strcspn(text + word + 1, " ");
        cut->words[n] = (trellis_text){text, word};
        cut->labels[n++] = (trellis_text){text + word + 1, label};
        text += word + 1 + label;
        text += strspn(text, " ");
    }
    cut->sequence = (trellis_sequence){.struct_size = sizeof cut->sequence,
                                       .length = n,
                                       .columns = 1,
                                       .cells = cut->words,
                                       .labels = cut->labels,
                                       .weight = 1};
}

/* How many labels of a sentence the learner does not predict yet. */
static trellis_status count_wrong(const trellis_online *online, const trellis_sequence *sequence,
                                  size_t *wrong, trellis_error *error)
{
    trellis_model *model = NULL;
    trellis_tagger *tagger = NULL;
    const trellis_text *labels;
    trellis_status status = trellis_online_model(online, &model, error);
    if (!status) {
        status = trellis_tagger_create(model, NULL, &tagger, error);
    }
    if (!status) {
        status = trellis_tagger_tag(tagger, sequence, &labels, error);
    }
    for (size_t i = 0; !status && i < sequence->length; i++) {
        const trellis_text *gold = &sequence->labels[i];
        *wrong += labels[i].size != gold->size ||
                  memcmp(labels[i].data, gold->data, gold->size) != 0;
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
    return status;
}

struct bytes {
    char data[1 << 16];
    size_t size;
};

static trellis_status keep(void *user, const char *data, size_t size)
{
    struct bytes *bytes = user;
    if (size > sizeof bytes->data - bytes->size) {
        return TRELLIS_MEMORY;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return TRELLIS_OK;
}

/* Puts the learner away and takes it up again. */
static trellis_status restart(trellis_online **online, trellis_error *error)
{
    static struct bytes bytes;
    trellis_status status = trellis_online_save(*online, keep, &bytes, error);
    trellis_online_destroy(*online);
    *online = NULL;
    return status ? status : trellis_online_restore(bytes.data, bytes.size, online, error);
}

int main(void)
{
    static const char text[] =
        "columns word\nnode word[-1..1]\nnode suffix(word,1)\nstep start end\n";
    trellis_error error = {0};
    trellis_options *options = NULL;
    trellis_features *features = NULL;
    trellis_online *online = NULL;
    struct cut cut;
    size_t wrong = 0;
    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "type", "perceptron", &error);
    }
    if (!status) {
        status = trellis_features_parse((trellis_text){text, sizeof text - 1}, "example", NULL, 0,
                                        &features, &error);
    }
    if (!status) {
        status = trellis_online_create(options, NULL, features, &online, &error);
    }
    for (size_t i = 0; !status && i < COUNT; i++) {
        cut_sentence(sentences[i], &cut);
        size_t before = wrong;
        if (i > 0) {
            status = count_wrong(online, &cut.sequence, &wrong, &error);
        }
        if (!status) {
            status = trellis_online_learn(online, &cut.sequence, 1, &error);
        }
        if (!status && i == COUNT / 2) {
            status = restart(&online, &error);
        }
        if (!status && i > 0) {
            printf("%zu wrong of %zu: %s\n", wrong - before, cut.sequence.length, sentences[i]);
        }
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("learned from %llu sentences\n",
               (unsigned long long)trellis_online_sequences(online));
    }
    trellis_online_destroy(online);
    trellis_features_destroy(features);
    trellis_options_destroy(options);
    return status || wrong == 0 || wrong > 12;
}
