/* training_sources.c - where a training reads its data: what the caller gave, or files that options
 * name. */
#include <sys/stat.h>

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

/* A pipe gives each byte to one rank. What is missing is told by whoever reads it. */
static trellis_status refuse_pipes(const trellis_source *sources, size_t count,
                                   trellis_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = sources[i].path;
        struct stat about;
        bool standard = path && strcmp(path, "-") == 0;
        if (standard || (path && stat(path, &about) == 0 &&
                         (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)))) {
            return tr_fail(error, TRELLIS_OPTION,
                           "cannot read %s on several ranks: give a file, which all of them see",
                           standard ? "standard input" : path);
        }
    }
    return TRELLIS_OK;
}

static trellis_status refuse_all_pipes(const struct tr_training_sources *sources,
                                       trellis_error *error)
{
    trellis_status status = refuse_pipes(sources->train, sources->train_count, error);
    status = status ? status : refuse_pipes(sources->dev, sources->dev_count, error);
    return status ? status : refuse_pipes(sources->unlabelled, sources->unlabelled_count, error);
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
    if (!status && !tr_ranks_alone(&training->ranks)) {
        status = refuse_all_pipes(to, error);
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
