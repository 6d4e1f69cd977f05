/* tagging.c - tags the sequences of some files, one by one as they are read. */
#include "tagging.h"

#include <string.h>

#include "batch.h"
#include "chain.h"
#include "message.h"
#include "model_input.h"
#include "parallel.h"

int check_cost(const struct arguments *arguments)
{
    const char *decode = trellis_options_get(arguments->options, "decode");
    if (strcmp(decode, "risk") != 0 && trellis_options_given(arguments->options, "cost")) {
        return usage_error(arguments->command, "--cost needs --decode risk, not %s", decode);
    }
    return EXIT_SUCCESS;
}

trellis_status open_input(const struct tagging *tagging, const char *path,
                          trellis_reader **ret_reader, trellis_error *error)
{
    return tagging->chain ? chain_open(tagging->chain, path, tagging->options, ret_reader, error)
                          : trellis_reader_open(path, tagging->options, ret_reader, error);
}

void close_input(const struct tagging *tagging, trellis_reader *reader)
{
    trellis_reader_close(reader);
    if (tagging->chain) {
        chain_close(tagging->chain);
    }
}

trellis_status check_first(const struct tagging *tagging, const char *path,
                           const trellis_sequence *sequence, trellis_error *error)
{
    bool checked = tagging->chain && tagging->chain->count > 0;
    return checked ? TRELLIS_OK
                   : check_input(tagging->model, tagging->options, path, sequence, error);
}

static trellis_status tag_file(const struct tagging *tagging, trellis_tagger *tagger,
                               const char *path, trellis_error *error)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    bool first = true;
    struct batch memory = {0};
    struct tag_result result;
    trellis_status status = open_input(tagging, path, &reader, error);
    if (!status) {
        status = trellis_tagger_bind(tagger, reader, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        batch_reset(&memory);
        if (first) {
            status = check_first(tagging, path, sequence, error);
            first = false;
        }
        if (!status) {
            status = tag_sequence(tagging, tagger, sequence, &memory, &result, error);
        }
        if (!status) {
            status = tagging->tagged(tagging->user, sequence, &result, error);
        }
    }
    batch_free(&memory);
    close_input(tagging, reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status tag_serially(const struct tagging *tagging, trellis_error *error)
{
    trellis_tagger *tagger = NULL;
    trellis_status status = trellis_tagger_create(tagging->model, tagging->options, &tagger, error);
    for (size_t i = 0; !status && i < tagging->path_count; i++) {
        status = tag_file(tagging, tagger, tagging->paths[i], error);
    }
    trellis_tagger_destroy(tagger);
    return status;
}

trellis_status tagging_run(const struct tagging *tagging, unsigned threads, trellis_error *error)
{
    return threads > 1 ? parallel_run(tagging, threads, error) : tag_serially(tagging, error);
}
