/* model_output.c - shared by `trellis info`, `export` and `inspect`: writes something about a
 * model. */
#include "model_output.h"

#include "message.h"
#include "model_file.h"
#include "output_file.h"

int write_model_output(const struct arguments *arguments, model_writer write)
{
    const char *path = argument(arguments, "model");
    size_t given = arguments->path_count + (path != NULL);
    if (given != 1) {
        return usage_error(arguments->command, given ? "expected one model" : "no model given");
    }
    trellis_model *model = NULL;
    trellis_error error = {0};
    struct output output;
    trellis_status status = open_model(path ? path : arguments->paths[0], NULL, &model, &error);
    if (status) {
        return failure(status, &error);
    }
    int result = output_open(&output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = write(model, arguments, output_sink, &output, &error);
        result = output_end(&output, status, &error);
    }
    trellis_model_close(model);
    return result;
}
