/* crfsuite.c - a model for CRFsuite and back, in memory.
 *
 *     cc crfsuite.c -ltrellis && ./a.out
 *
 * With files: trellis_model_open() of either, trellis_model_save(), or the command `trellis
 * convert`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trellis.h>

static const char data[] = "DET\tw=the\tBOS\nNOUN\tw=cat\nVERB\tw=sleeps\tEOS\n\n"
                           "DET\tw=a\tBOS\nNOUN\tw=dog\nVERB\tw=barks\tEOS\n\n";

struct bytes {
    char *data;
    size_t size;
};

/* A sink that keeps what it is given. */
static trellis_status collect(void *user, const char *more, size_t size)
{
    struct bytes *bytes = user;
    char *larger = realloc(bytes->data, bytes->size + size);
    if (!larger) {
        return TRELLIS_MEMORY;
    }
    memcpy(larger + bytes->size, more, size);
    bytes->data = larger;
    bytes->size += size;
    return TRELLIS_OK;
}

static trellis_status train(trellis_model **ret_model, trellis_error *error)
{
    trellis_options *options;
    trellis_source source = {
        .struct_size = sizeof source, .data = data, .data_size = sizeof data - 1};
    trellis_training training = {
        .struct_size = sizeof training, .train = &source, .train_count = 1};
    trellis_status status = trellis_options_create(&options, error);
    if (!status) {
        status = trellis_options_set(options, "type", "crf", error);
    }
    if (!status) {
        status = trellis_options_set(options, "format", "crfsuite", error);
    }
    if (!status) {
        status = trellis_train(options, &training, ret_model, error);
    }
    trellis_options_destroy(options);
    return status;
}

int main(void)
{
    trellis_error error = {0};
    trellis_model *model = NULL, *again = NULL;
    struct bytes bytes = {0};
    trellis_status status = train(&model, &error);
    if (!status) {
        status = trellis_model_write_crfsuite(model, collect, &bytes, &error);
    }
    if (!status) {
        printf("%.4s, %zu bytes\n", bytes.data, bytes.size);
        status = trellis_model_open_bytes(bytes.data, bytes.size, TRELLIS_COPY, &again, &error);
    }
    if (!status) {
        printf("%s: %zu labels, %zu attributes\n", trellis_model_note(again, "program"),
               trellis_model_label_count(again), trellis_model_attribute_count(again, false));
        bool same = trellis_model_attribute_count(again, false) ==
                    trellis_model_attribute_count(model, false);
        printf("the same attributes: %s\n", same ? "yes" : "no");
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    trellis_model_close(again);
    trellis_model_close(model);
    free(bytes.data);
    return status != TRELLIS_OK;
}
