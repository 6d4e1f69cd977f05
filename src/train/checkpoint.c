/* checkpoint.c - a training that can be resumed after an interruption.
 *
 *     CKPT   fingerprint, phase, iterations done, of the best iterate: whether there is one,
 *            iterations since,
 *            its own number, score, objective, dev figures, likelihood; the random numbers
 *     BEST   its weights            NOTE   the notes so far
 *     SLCT   in the second phase: the weights that the first one ended with
 *     ...    what the learner has named
 */
#include "train/checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/output.h"
#include "model/image.h"

/* The section CKPT, as it is written; figures that a learner does not have are NaN. */
struct standing {
    uint64_t fingerprint;
    uint64_t phase; // 0, or 1 once features have been selected
    uint64_t done;
    uint64_t has_best, since_best, best_iteration;
    double best_score, smoothed, highest, objective, dev_accuracy, dev_f1, likelihood;
    struct tr_random random;
};

struct tr_checkpoint {
    struct tr_state_registry registry; // first: the registry is handed back to us
    struct tr_training *training;
    const char *path;
    uint64_t every, saved; // iterations: from one to the next, and when it was written last
    uint64_t fingerprint, phase;
    float *selection; // [selection_size] SLCT
    size_t selection_size;
    struct tr_image image; // to resume from
    struct standing standing;
    bool pending; // `image` is there, and was not loaded yet
};

/* ---- what must be the same ------------------------------------------------------------------- */

static void mix(uint64_t *fingerprint, const void *data, size_t size)
{
    *fingerprint = tr_fold(*fingerprint ^ tr_hash64(data, size), 0x9E3779B97F4A7C15u) + size;
}

static void mix_number(uint64_t *fingerprint, uint64_t number)
{
    mix(fingerprint, &number, sizeof number);
}

static void mix_dataset(uint64_t *fingerprint, const struct tr_dataset *data)
{
    mix_number(fingerprint, data->fingerprint);
    mix_number(fingerprint, tr_dataset_all_sequences(data));
    mix_number(fingerprint, tr_dataset_all_tokens(data));
}

/* Options that only say when to stop may change from one run to the next. */
static bool is_free(const char *option)
{
    static const char *const names[] = {"epochs", "patience", "epsilon", "delta", "gap"};
    bool free_to_change = tr_is_run_option(option);
    for (size_t i = 0; !free_to_change && i < TR_COUNT(names); i++) {
        free_to_change = strcmp(option, names[i]) == 0;
    }
    return free_to_change;
}

static trellis_status find_fingerprint(const struct tr_training *training,
                                       uint64_t *ret_fingerprint, trellis_error *error)
{
    struct tr_buffer templates = {0};
    trellis_status status = tr_features_write(training->data.features, &templates, error);
    uint64_t f = 0;
    mix(&f, trellis_version(), strlen(trellis_version()));
    mix(&f, templates.data, templates.size);
    mix(&f, training->settings.algorithm->name, strlen(training->settings.algorithm->name));
    mix_dataset(&f, &training->data.train);
    mix_dataset(&f, &training->data.dev);
    mix_number(&f, training->layout.size);
    mix(&f, training->data.tag_dictionary_block.data, training->data.tag_dictionary_block.size);
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        const char *value = tr_option_text(training->settings.options, option->name);
        if (option->groups & TRELLIS_GROUP_TRAIN && !is_free(option->name)) {
            mix(&f, option->name, strlen(option->name));
            mix(&f, value, strlen(value));
        }
    }
    mix_number(&f, (uint64_t)tr_option_integer(training->settings.options, "seed"));
    tr_buffer_free(&templates);
    *ret_fingerprint = f;
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct standing standing_of(const struct tr_checkpoint *c)
{
    const struct tr_training *t = c->training;
    return (struct standing){.fingerprint = c->fingerprint,
                             .phase = c->phase,
                             .done = t->done,
                             .has_best = t->best.known,
                             .since_best = t->since_best,
                             .best_iteration = t->best.figures.iteration,
                             .best_score = t->best.score,
                             .smoothed = t->smoothed,
                             .highest = t->highest,
                             .objective = t->best.figures.objective,
                             .dev_accuracy = t->best.figures.dev_accuracy,
                             .dev_f1 = t->best.figures.dev_f1,
                             .likelihood = t->best.figures.likelihood,
                             .random = t->random};
}

static void add_section(struct tr_image_writer *writer, const char *name, const void *data,
                        size_t size)
{
    tr_image_section(writer, name);
    tr_buffer_add(&writer->bytes, data, size);
}

static trellis_status make_image(const struct tr_checkpoint *c, struct tr_image_writer *writer,
                                 trellis_error *error)
{
    const struct tr_training *t = c->training;
    struct standing standing = standing_of(c);
    tr_image_begin(writer, (uint32_t)c->registry.kept.size + 4);
    add_section(writer, TR_CHECKPOINT_SECTION, &standing, sizeof standing);
    add_section(writer, "BEST", t->best.weights, t->layout.size * sizeof *t->best.weights);
    add_section(writer, "NOTE", t->notes.data, t->notes.size);
    if (c->phase) {
        add_section(writer, "SLCT", c->selection, c->selection_size * sizeof *c->selection);
    }
    for (size_t i = 0; i < c->registry.kept.size; i++) {
        tr_image_section(writer, c->registry.kept.at[i].name);
        tr_kept_write(&c->registry.kept.at[i], &writer->bytes);
    }
    return tr_image_finish(writer, error);
}

/* A pipe would stop the training until somebody reads, and nothing could resume from it. */
static trellis_status write_file(const char *path, struct tr_buffer bytes, trellis_error *error)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode)
               ? tr_fail(error, TRELLIS_IO, "cannot write %s: it is not a regular file", path)
               : tr_output_replace(path, bytes.data, bytes.size, error);
}

static trellis_status save(struct tr_state_registry *registry, trellis_error *error)
{
    struct tr_checkpoint *c = (struct tr_checkpoint *)registry;
    uint64_t done = c->training->done;
    if (done <= c->saved || done % c->every || c->training->ranks.rank != 0) {
        return TRELLIS_OK;
    }
    struct tr_image_writer writer;
    trellis_status status = make_image(c, &writer, error);
    if (status) {
        return status;
    }
    trellis_error reason = {0};
    if (write_file(c->path, writer.bytes, &reason)) {
        /* Not worth losing what was learned: the one before is still there. */
        tr_training_note(c->training, "warning: no checkpoint after iteration %llu: %s",
                         (unsigned long long)done, reason.message);
    }
    tr_buffer_free(&writer.bytes);
    c->saved = done;
    return TRELLIS_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static trellis_status damaged(const struct tr_checkpoint *c, const char *how, trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "%s: the checkpoint is damaged: %s", c->path, how);
}

static trellis_status read_floats(const struct tr_checkpoint *c, const char *name, float *at,
                                  size_t count, trellis_error *error)
{
    struct tr_kept kept = tr_kept_floats(at, count, tr_training_can(c->training, TR_GENERATIVE));
    trellis_text content;
    bool fits = false;
    trellis_status status = TRELLIS_OK;
    if (tr_image_find(&c->image, name, &content)) {
        status = tr_kept_read(&kept, content, &fits, error);
    }
    return status || fits ? status : damaged(c, "its weights do not fit the data", error);
}

/* Notes are pairs of texts that each end with a zero byte. */
static trellis_status read_notes(struct tr_checkpoint *c, trellis_error *error)
{
    struct tr_buffer *notes = &c->training->notes;
    trellis_text content = {"", 0};
    size_t zeros = 0;
    bool found = tr_image_find(&c->image, "NOTE", &content);
    for (size_t i = 0; i < content.size; i++) {
        zeros += content.data[i] == 0;
    }
    if (!found || zeros % 2 || (content.size && content.data[content.size - 1])) {
        return damaged(c, "its notes do not fit", error);
    }
    notes->size = 0;
    tr_buffer_add(notes, content.data, content.size);
    return notes->failed ? tr_fail_memory(error) : TRELLIS_OK;
}

static trellis_status read_kept(const struct tr_checkpoint *c, trellis_error *error)
{
    for (size_t i = 0; i < c->registry.kept.size; i++) {
        const struct tr_kept *kept = &c->registry.kept.at[i];
        trellis_text content;
        bool fits = false;
        trellis_status status = TRELLIS_OK;
        if (tr_image_find(&c->image, kept->name, &content)) {
            status = tr_kept_read(kept, content, &fits, error);
        }
        if (status || !fits) {
            return status ? status : damaged(c, "the state of the learner does not fit", error);
        }
    }
    return TRELLIS_OK;
}

static void restore(struct tr_training *t, const struct standing *standing)
{
    t->done = standing->done;
    t->best.known = standing->has_best;
    t->since_best = standing->since_best;
    t->best.score = standing->best_score;
    t->smoothed = standing->smoothed;
    t->highest = standing->highest;
    t->random = standing->random;
    t->best.figures = tr_training_figures(t);
    t->best.figures.iteration = standing->best_iteration;
    t->best.figures.objective = standing->objective;
    t->best.figures.dev_accuracy = standing->dev_accuracy;
    t->best.figures.dev_f1 = standing->dev_f1;
    t->best.figures.likelihood = standing->likelihood;
}

static trellis_status load(struct tr_state_registry *registry, bool *ret_loaded,
                           trellis_error *error)
{
    struct tr_checkpoint *c = (struct tr_checkpoint *)registry;
    struct tr_training *t = c->training;
    if (!tr_checkpoint_is_pending(c)) {
        return TRELLIS_OK;
    }
    trellis_status status = read_floats(c, "BEST", t->best.weights, t->layout.size, error);
    if (!status) {
        status = read_notes(c, error);
    }
    if (!status) {
        status = read_kept(c, error);
    }
    if (status) {
        return status;
    }
    restore(t, &c->standing);
    c->saved = t->done;
    c->pending = false;
    *ret_loaded = true;
    tr_training_note(t, "resumed after iteration %llu, from %s", (unsigned long long)t->done,
                     c->path);
    return TRELLIS_OK;
}

/* Reads what the pipeline itself has to know; the rest is read once the learner has allocated
 * it. */
static trellis_status open_image(struct tr_checkpoint *c, trellis_error *error)
{
    trellis_text content;
    trellis_status status = tr_image_open(c->path, "checkpoint", &c->image, error);
    if (!status) {
        status = tr_image_check(&c->image, c->path, "checkpoint", error);
    }
    if (!status) { // all of it will be read
        status = tr_image_verify(&c->image, c->path, "checkpoint", error);
    }
    if (!status && !tr_image_find(&c->image, TR_CHECKPOINT_SECTION, &content)) {
        status = tr_fail(error, TRELLIS_MODEL, "%s is a model, not the checkpoint of a training",
                         c->path);
    }
    if (status) {
        return status;
    }
    if (content.size != sizeof c->standing) {
        return damaged(c, "its header does not fit", error);
    }
    memcpy(&c->standing, content.data, sizeof c->standing);
    const uint64_t *random = c->standing.random.state;
    if (c->standing.fingerprint != c->fingerprint) {
        return tr_fail(
            error, TRELLIS_MODEL,
            "%s is the checkpoint of another training: the data, the options or the "
            "version of the program differ; give those it was started with, or remove it "
            "to start from scratch",
            c->path);
    }
    if (c->standing.phase > 1 || c->standing.has_best > 1 || c->standing.done == 0 ||
        !(random[0] | random[1] | random[2] | random[3])) {
        return damaged(c, "its header does not fit", error);
    }
    c->pending = true;
    return TRELLIS_OK;
}

trellis_status tr_checkpoint_open(struct tr_training *training, trellis_error *error)
{
    const char *path = tr_option_text(training->settings.options, "checkpoint");
    bool resume = tr_option_flag(training->settings.options, "resume");
    if (!*path) {
        return resume ? tr_fail(error, TRELLIS_OPTION,
                                "--resume needs --checkpoint, the file to resume from")
                      : TRELLIS_OK;
    }
    struct tr_checkpoint *c = training->checkpoint = tr_alloc(1, sizeof *c);
    if (!c) {
        return tr_fail_memory(error);
    }
    training->registry = &c->registry;
    c->registry = (struct tr_state_registry){.save = save, .load = load};
    c->training = training;
    c->path = path;
    c->every = (uint64_t)tr_option_integer(training->settings.options, "every");
    trellis_status status = find_fingerprint(training, &c->fingerprint, error);
    bool there = access(path, F_OK) == 0;
    if (!status && resume) {
        status = tr_training_same(training, there, "does not see the same checkpoint as", error);
    }
    if (!status && resume && !there) {
        tr_training_note(training, "there is no checkpoint %s yet: starting from scratch", path);
        resume = false;
    }
    return !status && resume ? open_image(c, error) : status;
}

void tr_checkpoint_destroy(struct tr_checkpoint *checkpoint)
{
    if (checkpoint) {
        tr_image_close(&checkpoint->image);
        tr_registry_free(&checkpoint->registry);
        free(checkpoint->selection);
        free(checkpoint);
    }
}

bool tr_checkpoint_is_pending(const struct tr_checkpoint *checkpoint)
{
    return checkpoint && checkpoint->pending && checkpoint->standing.phase == checkpoint->phase;
}

/* ---- two phases ------------------------------------------------------------------------------ */

trellis_status tr_checkpoint_selection(struct tr_checkpoint *checkpoint, trellis_error *error)
{
    struct tr_checkpoint *c = checkpoint;
    if (!c) {
        return TRELLIS_OK;
    }
    c->selection_size = c->training->layout.size;
    c->selection = tr_alloc(c->selection_size, sizeof *c->selection);
    if (!c->selection) {
        return tr_fail_memory(error);
    }
    memcpy(c->selection, c->training->best.weights, c->selection_size * sizeof *c->selection);
    c->phase = 1;
    c->saved = 0;
    return TRELLIS_OK;
}

trellis_status tr_checkpoint_selected(struct tr_checkpoint *checkpoint, bool *ret_selected,
                                      trellis_error *error)
{
    struct tr_checkpoint *c = checkpoint;
    *ret_selected = c && c->pending && c->standing.phase == 1;
    if (!*ret_selected) {
        return TRELLIS_OK;
    }
    c->training->best.known = true;
    return read_floats(c, "SLCT", c->training->best.weights, c->training->layout.size, error);
}
