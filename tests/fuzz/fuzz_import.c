/* fuzz_import.c - any bytes as the text form of a model. What is accepted must survive its own
 * export. */
#include "fuzz/files.h"
#include "model/test_hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static trellis_status to_buffer(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static trellis_model *import_bytes(const void *data, size_t size)
{
    trellis_model *model = NULL;
    trellis_error error;
    struct memory_file file = memory_file(data, size);
    trellis_model_import(file.path, &model, &error);
    close(file.number);
    return model;
}

/* Graphs with many transitions are allowed but slow. */
static bool is_out_of_scope(const uint8_t *data, size_t size)
{
    size_t labels = 0;
    bool high = false;
    for (size_t i = 0; i < size; i++) {
        labels += size - i > 6 && memcmp(data + i, "label\t", 6) == 0;
        high = high || (size - i > 7 && memcmp(data + i, "order\t", 6) == 0 &&
                        (data[i + 6] < '0' || data[i + 6] > '2'));
    }
    return labels > 100 || (high && labels > 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trellis_model *model = is_out_of_scope(data, size) ? NULL : import_bytes(data, size);
    if (!model) {
        return 0;
    }
    exercise(model);
    struct tr_buffer first = {0}, second = {0};
    trellis_model_export(model, false, to_buffer, &first, NULL);
    trellis_model *again = import_bytes(first.data, first.size);
    if (!again) {
        abort();
    }
    trellis_model_export(again, false, to_buffer, &second, NULL);
    if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0) {
        abort();
    }
    trellis_model_close(again);
    trellis_model_close(model);
    tr_buffer_free(&first);
    tr_buffer_free(&second);
    return 0;
}
