/* fuzz_options.c - any bytes as names and values of options: lines of name=value. What is accepted
 * must be returned unchanged, and an evaluation must cope with it. */
#include "base/text.h"
#include "fuzz/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trellis_options *options;
    trellis_evaluation *evaluation = NULL;
    char *copy = malloc(size + 1), *rest = copy, *line;
    if (!copy || trellis_options_create(&options, NULL)) {
        abort();
    }
    memcpy(copy, data, size);
    copy[size] = '\0';
    while ((line = strsep(&rest, "\n"))) {
        char *value = strchr(line, '=');
        trellis_error error = {0};
        if (!value) {
            continue;
        }
        *value++ = '\0';
        if (trellis_options_set(options, line, value, &error)) {
            if (!*error.message) {
                abort();
            }
        } else if (strcmp(trellis_options_get(options, line), value) != 0) {
            abort();
        }
    }
    trellis_evaluation_create(options, &evaluation, NULL);
    trellis_evaluation_destroy(evaluation);
    trellis_options_destroy(options);
    free(copy);
    return 0;
}
