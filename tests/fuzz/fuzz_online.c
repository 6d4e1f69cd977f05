/* fuzz_online.c - any bytes as the state of an online learner, with corrected header and checksums:
 * what is restored from it learns on, or there is an error. */
#include "fuzz/files.h"
#include "fuzz/sections.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static const char *const ways[][2] = {
    {"perceptron", "averaged"}, {"perceptron", "arow"}, {"mira", "hildreth"}, {"crf", "sgd"}};
static struct tr_buffer sound[TR_COUNT(ways)];

static trellis_status keep(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static trellis_status learn(trellis_online *online, const char *word, const char *label)
{
    trellis_text cells[] = {tr_text("a"), tr_text(word)}, labels[] = {tr_text("O"), tr_text(label)};
    trellis_sequence sequence = {.struct_size = sizeof sequence,
                                 .length = 2,
                                 .columns = 1,
                                 .cells = cells,
                                 .labels = labels,
                                 .weight = 1};
    return trellis_online_learn(online, &sequence, 1, NULL);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    static const char text[] = "columns word\nnode word\nedge word\nstep start end\n";
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        trellis_options *options;
        trellis_features *features;
        trellis_online *online;
        if (trellis_options_create(&options, NULL) ||
            trellis_options_set(options, "type", ways[i][0], NULL) ||
            trellis_options_set(options, "algorithm", ways[i][1], NULL) ||
            trellis_features_parse(tr_text(text), "fuzz", NULL, 0, &features, NULL) ||
            trellis_online_create(options, NULL, features, &online, NULL) ||
            learn(online, "b", "X") || learn(online, "c", "Y") ||
            trellis_online_save(online, keep, &sound[i], NULL)) {
            abort();
        }
        trellis_online_destroy(online);
        trellis_features_destroy(features);
        trellis_options_destroy(options);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate_chosen(data, size, max, seed, sound, TR_COUNT(sound));
}

/* The first byte chooses the learner. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    unsigned char *bytes = repaired(data + 1, size - 1);
    trellis_online *online;
    trellis_model *model = NULL;
    if (!trellis_online_restore(bytes, size - 1, &online, NULL)) {
        learn(online, "d", "Z");
        if (!trellis_online_model(online, &model, NULL)) {
            exercise(model);
        }
    }
    trellis_model_close(model);
    trellis_online_destroy(online);
    free(bytes);
    return 0;
}
