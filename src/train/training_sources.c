/* training_sources.c - where a training reads its data: what the caller gave, or files that options
 * name. */
#include "base/structs.h"
#include "train/train.h"

/* Copies sources that lie in the caller's struct_size; without any, a file, if `path` is not
 * empty. */
static trellis_status take(const trellis_source *given, size_t count, const char *path,
                           trellis_source **ret_sources, size_t *ret_count, trellis_error *error)
{
    const char *next = (const char *)given;
    bool file = count == 0 && *path;
    *ret_count = file ? 1 : count;
    *ret_sources = tr_alloc(*ret_count, sizeof **ret_sources);
    if (!*ret_sources) {
        return tr_fail_memory(error);
    }
    if (file) {
        **ret_sources = (trellis_source){.struct_size = sizeof **ret_sources, .path = path};
    }
    for (size_t i = 0; i < count; i++, next += given->struct_size) {
        trellis_source *source = &(*ret_sources)[i];
        if (!tr_struct_take(source, sizeof *source, next)) {
            return tr_fail(error, TRELLIS_OPTION, "a source: struct_size is not set");
        }
        source->struct_size = sizeof *source;
    }
    return TRELLIS_OK;
}

trellis_status tr_training_take_sources(struct tr_training *training,
                                        const trellis_options *options,
                                        const trellis_training *given, trellis_error *error)
{
    struct tr_training_sources *to = &training->sources;
    const char *from = tr_option_text(options, "from");
    trellis_status status = take(given->train, given->train_count, "", &to->train, &to->train_count,
                                 error);
    if (!status) {
        status = take(given->dev, given->dev_count, tr_option_text(options, "dev"), &to->dev,
                      &to->dev_count, error);
    }
    if (!status) {
        status = take(given->unlabelled, given->unlabelled_count,
                      tr_option_text(options, "unlabelled"), &to->unlabelled, &to->unlabelled_count,
                      error);
    }
    if (!status && !given->from && *from) {
        status = trellis_model_open(from, &to->opened, error);
    }
    to->from = given->from ? given->from : to->opened;
    to->from_name = given->from ? "the given model" : tr_option_text(options, "from");
    to->templates = given->templates;
    return status;
}

void tr_training_free_sources(struct tr_training_sources *sources)
{
    free(sources->train);
    free(sources->dev);
    free(sources->unlabelled);
    trellis_model_close(sources->opened);
}
