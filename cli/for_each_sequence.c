/* for_each_sequence.c - calls a function for each sequence of some files. */
#include "for_each_sequence.h"

#include <string.h>

trellis_status resolve_format(const struct arguments *arguments, trellis_error *error)
{
    size_t count;
    const char *path = argument_inputs(arguments, &count)[0];
    if (strcmp(trellis_options_get(arguments->options, "format"), "auto") != 0) {
        return TRELLIS_OK;
    }
    return trellis_options_set(arguments->options, "format", trellis_format_by_name(path), error);
}

trellis_status for_each_in_file(const char *path, const trellis_options *options,
                                sequence_visitor visit, void *user, trellis_error *error)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open(path, options, &reader, error);
    struct source source = {path, reader};
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = visit(user, &source, sequence, error);
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

trellis_status for_each_sequence(const struct arguments *arguments, sequence_visitor visit,
                                 void *user, trellis_error *error)
{
    size_t count;
    const char *const *paths = argument_inputs(arguments, &count);
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < count; i++) {
        status = for_each_in_file(paths[i], arguments->options, visit, user, error);
    }
    return status;
}
