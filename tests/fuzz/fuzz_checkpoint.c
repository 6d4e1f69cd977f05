/* fuzz_checkpoint.c - any bytes as a checkpoint, with corrected header and checksums: a training
 * resumed from it ends with an error or a model. */
#include "fuzz/files.h"
#include "fuzz/sections.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static const char corpus[] = "A\tx\ty\nB\tx\n\nB\ty\nA\tx\n\n";
static const char words[] = "A\tx\nB\ty\n\nB\ty\nA\tx\n\n"; // one at a token, for an HMM
static const char *const ways[][2] = {{"perceptron", "arow"}, {"crf", "lbfgs"}, {"crf", "sgd"},
                                      {"ssvm", "bcfw"},       {"crf", "cg"},    {"hmm", "em"},
                                      {"hmm", "viterbi"}};
static struct tr_buffer sound[TR_COUNT(ways)];
static char path[60]; // of the checkpoint

static void train(size_t way, bool resume)
{
    bool hidden = strcmp(ways[way][0], "hmm") == 0;
    struct memory_file file = hidden ? memory_file(words, sizeof words - 1)
                                     : memory_file(corpus, sizeof corpus - 1);
    const char *corpus_path = file.path;
    trellis_options *options;
    trellis_model *model = NULL;
    if (trellis_options_create(&options, NULL) ||
        trellis_options_set(options, "format", "crfsuite", NULL) ||
        trellis_options_set(options, "type", ways[way][0], NULL) ||
        trellis_options_set(options, "algorithm", ways[way][1], NULL) ||
        trellis_options_set(options, "epochs", "3", NULL) ||
        (hidden && (trellis_options_set(options, "states", "2", NULL) ||
                    trellis_options_set(options, "restarts", "2", NULL))) ||
        trellis_options_set(options, "gap", "0", NULL) ||
        trellis_options_set(options, "threads", "1", NULL) ||
        trellis_options_set(options, "every", resume ? "1000" : "1", NULL) ||
        trellis_options_set(options, "checkpoint", path, NULL) ||
        trellis_options_set(options, "resume", resume ? "yes" : "no", NULL)) {
        abort();
    }
    trellis_train_files(options, &corpus_path, 1, NULL, NULL, &model, NULL);
    if (model) {
        exercise(model);
    }
    trellis_model_close(model);
    trellis_options_destroy(options);
    close(file.number);
}

static void put(const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    snprintf(path, sizeof path, "/dev/shm/fuzz-checkpoint-%ld", (long)getpid());
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        char block[4096];
        train(i, false);
        FILE *file = fopen(path, "rb");
        for (size_t n; file && (n = fread(block, 1, sizeof block, file)) > 0;) {
            tr_buffer_add(&sound[i], block, n);
        }
        if (!file || fclose(file) || !sound[i].size) {
            abort();
        }
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
    put(bytes, size - 1);
    train(data[0] % TR_COUNT(ways), true);
    unlink(path);
    free(bytes);
    return 0;
}
