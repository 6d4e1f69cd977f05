/* fuzz_lcrf.c - any bytes as a model of CRFsuite.
 *
 * They are tried as they are, with a corrected header, and as a list of changes to a valid file.
 * What opens is used in every way, and if it can be written for CRFsuite, that opens again.
 */
#include "fuzz/files.h"
#include "model/test_hostile.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model_text[] =
    "trellis-text 1\nnote\ttype\tcrf\ntemplate\tstep\nlabel\tB-X\nlabel\tI-X\nlabel\tO\n"
    "step\t0.5\tB-X\tI-X\nstep\t-2\tO\tI-X\nstep\t0.25\tO\tO\n"
    "node\t1.5\tB-X\t0000000000000001\tword[0]=the\nnode\t-1\tO\t0000000000000001\tword[0]=the\n"
    "node\t0.75\tO\t0000000000000002\tx\nnode\t2\tI-X\t0000000000000003\tword[0]=can\n"
    "node\t-0.5\tI-X\t0000000000000001\tword[0]=the\n";
static struct tr_buffer valid;

static trellis_status to_buffer(void *user, const char *data, size_t size)
{
    struct tr_buffer *bytes = user;
    tr_buffer_add(bytes, data, size);
    return bytes->failed ? TRELLIS_MEMORY : TRELLIS_OK;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    trellis_error error = {0};
    trellis_model *model;
    if (trellis_model_import_bytes(model_text, sizeof model_text - 1, NULL, &model, &error) ||
        trellis_model_write_crfsuite(model, to_buffer, &valid, &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    trellis_model_close(model);
    return 0;
}

static trellis_status open_copy(const void *data, size_t size, trellis_model **ret_model)
{
    return trellis_model_open_bytes(data, size, TRELLIS_COPY, ret_model, NULL);
}

static void try_bytes(const unsigned char *bytes, size_t size)
{
    trellis_model *model, *again;
    if (size < 4 || memcmp(bytes, "lCRF", 4) != 0 || open_copy(bytes, size, &model)) {
        return;
    }
    struct tr_buffer written = {0};
    exercise(model);
    if (!trellis_model_write_crfsuite(model, to_buffer, &written, NULL)) {
        if (open_copy(written.data, written.size, &again)) {
            abort();
        }
        trellis_model_close(again);
    }
    tr_buffer_free(&written);
    trellis_model_close(model);
}

static void try_repaired(const uint8_t *data, size_t size)
{
    static const char head[] = {'l', 'C', 'R', 'F', 0, 0, 0, 0, 'F', 'O', 'M', 'C', 100, 0, 0, 0};
    unsigned char *bytes = malloc(size ? size : 1);
    uint32_t file_size = (uint32_t)size;
    if (size >= sizeof head) {
        memcpy(bytes, data, size);
        memcpy(bytes, head, sizeof head);
        memcpy(bytes + 4, &file_size, sizeof file_size);
        try_bytes(bytes, size);
    }
    free(bytes);
}

/* Each six bytes are a change: where (2), what (4). */
static void try_changes(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(valid.size);
    memcpy(bytes, valid.data, valid.size);
    for (size_t i = 0; i + 6 <= size; i += 6) {
        size_t at = ((size_t)data[i] | (size_t)data[i + 1] << 8) % (valid.size - 3);
        memcpy(bytes + at, data + i + 2, 4);
    }
    try_bytes(bytes, valid.size);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    try_repaired(data, size);
    try_changes(data, size);
    return 0;
}
