/* fuzz_model.c - any bytes as a model file, as they are and with corrected header and checksums. */
#include "fuzz/files.h"
#include "fuzz/sections.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* ---- valid models ---------------------------------------------------------------------------- */

static const char corpus[] =
    "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\ncan VB\n\ndogs NN\ncan VB\n";
static const char edges[] =
    "columns word\nnode word\nnode suffix(word,1)\nedge word\nstep start end\n";
static const char hmm[] =
    "trellis-text 1\nnote\ttype\thmm\nnote\tscheme-inside\tiobes\n"
    "note\tscheme-outside\tiob2\ntemplate\tcolumns word\ntemplate\tnode word\n"
    "label\tB-X\nlabel\tO\ncount-cap\t2\nstep\t-1\t\\start\tO\nstep\t-2\tO\tB-X\n"
    "step\t-0.5\tO\tO\tO\nforbid\tB-X\tB-X\nword\t-1\tO\tthe\nword\t-2\tB-X\tcan\n";
static struct tr_buffer sound[4];

/* Keeps the bytes of a model and closes it. */
static void keep(struct tr_buffer *bytes, trellis_status status, trellis_model *model,
                 const trellis_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        abort();
    }
    tr_buffer_add(bytes, (const char *)model->image.data, model->image.size);
    trellis_model_close(model);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    static const char *const orders[] = {"1", "2", "1"}, *const bits[] = {"32", "32", "16"};
    struct memory_file corpus_file = memory_file(corpus, sizeof corpus - 1);
    struct memory_file template_file = memory_file(edges, sizeof edges - 1);
    struct memory_file hmm_file = memory_file(hmm, sizeof hmm - 1);
    const char *path = corpus_file.path;
    trellis_error error = {0};
    trellis_model *model;
    trellis_options *options;
    for (size_t i = 0; i < TR_COUNT(orders); i++) {
        if (trellis_options_create(&options, &error) ||
            trellis_options_set(options, "features", template_file.path, &error) ||
            trellis_options_set(options, "epochs", "3", &error) ||
            trellis_options_set(options, "dictionary", i == 1 ? "learn" : "", &error) ||
            trellis_options_set(options, "bits", bits[i], &error) ||
            trellis_options_set(options, "dictionary-count", "1", &error) ||
            trellis_options_set(options, "order", orders[i], &error)) {
            abort();
        }
        trellis_status status = trellis_train_files(options, &path, 1, NULL, NULL, &model, &error);
        keep(&sound[i], status, model, &error);
        trellis_options_destroy(options);
        lseek(corpus_file.number, 0, SEEK_SET);
        lseek(template_file.number, 0, SEEK_SET);
    }
    trellis_status status = trellis_model_import(hmm_file.path, &model, &error);
    keep(&sound[3], status, model, &error);
    close(corpus_file.number);
    close(template_file.number);
    close(hmm_file.number);
    return 0;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void try_bytes(const unsigned char *bytes, size_t size)
{
    trellis_model *model;
    trellis_error error;
    if (!is_large(bytes, size) && !open_bytes(bytes, size, &model, &error)) {
        exercise(model);
        trellis_model_close(model);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate_sections(data, size, max, seed, sound, TR_COUNT(sound));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    unsigned char *bytes = repaired(data, size);
    try_bytes(bytes, size);
    free(bytes);
    return 0;
}
