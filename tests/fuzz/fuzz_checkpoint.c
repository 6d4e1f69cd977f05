/* fuzz_checkpoint.c - changes to a valid checkpoint, with correct checksums: a training resumed
 * from it ends with an error or a model. */
#include "fuzz/files.h"
#include "model/test_hostile.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

/* The first byte chooses the learner, then each six are a change: where (2), what (4). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    size_t way = data[0] % TR_COUNT(ways);
    unsigned char *bytes = malloc(sound[way].size);
    memcpy(bytes, sound[way].data, sound[way].size);
    for (size_t i = 1; i + 6 <= size; i += 6) {
        size_t at = ((size_t)data[i] | (size_t)data[i + 1] << 8) % (sound[way].size - 3);
        memcpy(bytes + at, data + i + 2, 4);
    }
    repair_checksums(bytes, sound[way].size);
    put(bytes, sound[way].size);
    train(way, true);
    unlink(path);
    free(bytes);
    return 0;
}
