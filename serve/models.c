/* models.c - the models that are served, each in one shared copy, replaced while requests run. */
#include "models.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failure.h"

/* ---- the bytes of a file --------------------------------------------------------------------- */

static trellis_status read_all(int file, char *bytes, size_t size, const char *path,
                               trellis_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(file, bytes + done, size - done);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return fail(error, TRELLIS_IO, "%s: %s", path,
                        count < 0 ? strerror(errno) : "the file became shorter while it was read");
        }
        done += (size_t)count;
    }
    return TRELLIS_OK;
}

/* Memory of our own for the file, in whole pages that nobody can write to afterwards. */
static trellis_status read_file(int file, struct snapshot *snapshot, const char *path,
                                trellis_error *error)
{
    if (fstat(file, &snapshot->about) != 0) {
        return fail(error, TRELLIS_IO, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(snapshot->about.st_mode) || snapshot->about.st_size <= 0) {
        return fail(error, TRELLIS_MODEL, "%s: not a model file", path);
    }
    size_t size = (size_t)snapshot->about.st_size;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        return fail(error, TRELLIS_MEMORY, "%s: out of memory", path);
    }
    snapshot->bytes = bytes;
    snapshot->size = size;
    trellis_status status = read_all(file, bytes, size, path, error);
    mprotect(bytes, size, PROT_READ);
    return status;
}

/* ---- what the notes of a model say about its input ------------------------------------------- */

static size_t note_number(const trellis_model *model, const char *key)
{
    const char *note = trellis_model_note(model, key);
    return note ? strtoul(note, NULL, 10) : 0;
}

/* "1,3" -> bits 0 and 2. Columns beyond those that we count are left to the library. */
static uint64_t used_columns(const char *at)
{
    uint64_t used = 0;
    while (at && *at) {
        size_t column = strtoul(at, NULL, 10);
        used |= column >= 1 && column <= MAX_COLUMNS ? 1ULL << (column - 1) : 0;
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return used;
}

static trellis_status describe_input(struct snapshot *snapshot, trellis_error *error)
{
    const trellis_model *model = snapshot->model;
    const char *format = trellis_model_note(model, "input-format");
    const char *features = trellis_model_note(model, "features");
    const char *names = trellis_model_note(model, "input-names");
    snapshot->attributes = (format && strcmp(format, "crfsuite") == 0) ||
                           (features && strcmp(features, "none") == 0);
    snapshot->columns = note_number(model, "input-columns");
    if (snapshot->columns > MAX_COLUMNS) {
        return fail(error, TRELLIS_LIMIT, "the model was trained on %zu columns; the limit is %d",
                    snapshot->columns, MAX_COLUMNS);
    }
    snapshot->used = used_columns(trellis_model_note(model, "input-used"));
    if (names && snapshot->columns > 0) {
        size_t size = strlen(names) + snapshot->columns + 1;
        snapshot->column_names = calloc(size, 1);
        if (!snapshot->column_names) {
            return fail(error, TRELLIS_MEMORY, "out of memory");
        }
        for (size_t i = 0; names[i]; i++) {
            snapshot->column_names[i] = names[i] == ',' ? '\0' : names[i];
        }
    }
    return TRELLIS_OK;
}

const char *snapshot_column_name(const struct snapshot *snapshot, size_t index)
{
    const char *at = snapshot->column_names;
    if (!at || index >= snapshot->columns) {
        return NULL;
    }
    for (size_t i = 0; i < index; i++) {
        at += strlen(at) + 1; // there are `columns` zero bytes after the last name
    }
    return *at ? at : NULL;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

void snapshot_release(struct snapshot *snapshot)
{
    if (!snapshot || atomic_fetch_sub(&snapshot->users, 1) > 1) {
        return;
    }
    trellis_model_close(snapshot->model);
    if (snapshot->bytes) {
        munmap(snapshot->bytes, snapshot->size);
    }
    free(snapshot->column_names);
    free(snapshot);
}

/* A model that opens may still lack what tagging needs. */
static trellis_status try_tagger(const struct snapshot *snapshot, trellis_error *error)
{
    trellis_tagger *tagger;
    trellis_status status = trellis_tagger_create(snapshot->model, snapshot->limits, &tagger,
                                                  error);
    trellis_tagger_destroy(tagger);
    return status;
}

static trellis_status load(const char *path, struct snapshot *snapshot, trellis_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return fail(error, TRELLIS_IO, "%s: %s", path, strerror(errno));
    }
    trellis_error inner = {0};
    trellis_status status = read_file(file, snapshot, path, error);
    close(file);
    if (status) {
        return status;
    }
    status = trellis_model_open_bytes(snapshot->bytes, snapshot->size, TRELLIS_BORROW,
                                      &snapshot->model, &inner);
    if (!status) {
        status = trellis_model_verify(snapshot->model, &inner);
    }
    if (!status) {
        status = describe_input(snapshot, &inner);
    }
    if (!status) {
        status = try_tagger(snapshot, &inner);
    }
    return status ? fail(error, status, "%s: %s", path, inner.message) : TRELLIS_OK;
}

static trellis_status snapshot_open(struct models *models, const struct model_entry *entry,
                                    struct snapshot **ret_snapshot, trellis_error *error)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) {
        return fail(error, TRELLIS_MEMORY, "out of memory");
    }
    atomic_init(&snapshot->users, 1);
    snapshot->name = entry->name;
    snapshot->limits = models->limits;
    snapshot->loaded = time(NULL);
    trellis_status status = load(entry->path, snapshot, error);
    if (status) {
        snapshot_release(snapshot);
        return status;
    }
    snapshot->version = atomic_fetch_add(&models->version, 1) + 1;
    *ret_snapshot = snapshot;
    return TRELLIS_OK;
}

/* ---- the registry ---------------------------------------------------------------------------- */

static bool is_name(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !strchr("._-", c)) {
            return false;
        }
    }
    return size > 0 && size <= MAX_NAME;
}

/* NAME=FILE, or FILE, whose name without folder and extension is then that of the model. */
static trellis_status name_entry(struct model_entry *entry, const char *specification,
                                 trellis_error *error)
{
    const char *equals = strchr(specification, '='), *slash = strrchr(specification, '/');
    const char *name = specification, *path = specification;
    size_t size;
    if (equals && is_name(specification, (size_t)(equals - specification))) {
        size = (size_t)(equals - specification);
        path = equals + 1;
    } else {
        name = slash ? slash + 1 : specification;
        const char *dot = strrchr(name, '.');
        size = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    }
    if (!is_name(name, size)) {
        return fail(error, TRELLIS_OPTION,
                    "-m %s: give the model a name of letters, digits, '.', '_' and '-' (at most "
                    "%d), as in -m NAME=FILE",
                    specification, MAX_NAME);
    }
    memcpy(entry->name, name, size);
    entry->path = strdup(path);
    return entry->path ? TRELLIS_OK : fail(error, TRELLIS_MEMORY, "out of memory");
}

static trellis_status add_entry(struct models *models, const char *specification,
                                trellis_error *error)
{
    struct model_entry *entry = &models->entries[models->count];
    trellis_status status = name_entry(entry, specification, error);
    models->count++;
    for (size_t i = 0; !status && i + 1 < models->count; i++) {
        if (strcmp(models->entries[i].name, entry->name) == 0) {
            status = fail(error, TRELLIS_OPTION,
                          "two models are named '%s'; name them with -m NAME=FILE", entry->name);
        }
    }
    if (!status) {
        status = snapshot_open(models, entry, &entry->current, error);
    }
    if (!status) {
        entry->seen = entry->current->about;
    }
    return status;
}

trellis_status models_create(struct models *models, const char *const *specifications, size_t count,
                             const trellis_options *limits, trellis_error *error)
{
    *models = (struct models){.entries = calloc(count, sizeof *models->entries), .limits = limits};
    pthread_mutex_init(&models->lock, NULL);
    trellis_status status = models->entries ? TRELLIS_OK
                                            : fail(error, TRELLIS_MEMORY, "out of memory");
    for (size_t i = 0; !status && i < count; i++) {
        status = add_entry(models, specifications[i], error);
    }
    return status;
}

void models_destroy(struct models *models)
{
    for (size_t i = 0; i < models->count; i++) {
        snapshot_release(models->entries[i].current);
        free(models->entries[i].path);
    }
    free(models->entries);
    pthread_mutex_destroy(&models->lock);
    *models = (struct models){0};
}

struct snapshot *models_acquire(struct models *models, trellis_text name)
{
    struct snapshot *found = NULL;
    pthread_mutex_lock(&models->lock);
    for (size_t i = 0; i < models->count && !found; i++) {
        struct model_entry *entry = &models->entries[i];
        bool same = strlen(entry->name) == name.size &&
                    memcmp(entry->name, name.data, name.size) == 0;
        found = name.size == 0 || same ? entry->current : NULL;
    }
    if (found) {
        atomic_fetch_add(&found->users, 1);
    }
    pthread_mutex_unlock(&models->lock);
    return found;
}

bool models_is_current(struct models *models, const struct snapshot *snapshot)
{
    bool current = false;
    pthread_mutex_lock(&models->lock);
    for (size_t i = 0; i < models->count; i++) {
        current = current || models->entries[i].current == snapshot;
    }
    pthread_mutex_unlock(&models->lock);
    return current;
}

/* ---- reloading ------------------------------------------------------------------------------- */

trellis_status models_reload(struct models *models, size_t index, trellis_error *error)
{
    struct model_entry *entry = &models->entries[index];
    struct snapshot *fresh = NULL, *old = NULL;
    trellis_error problem = {0};
    trellis_status status = snapshot_open(models, entry, &fresh, &problem);
    pthread_mutex_lock(&models->lock);
    if (!status) {
        old = entry->current;
        entry->current = fresh;
        entry->seen = fresh->about;
    }
    const char *reason = strstr(problem.message, ": "); // clients need not know the path
    snprintf(entry->problem, sizeof entry->problem, "%s", reason ? reason + 2 : "");
    pthread_mutex_unlock(&models->lock);
    atomic_fetch_add(status ? &models->failures : &models->reloads, 1);
    snapshot_release(old);
    if (status) {
        *error = problem;
    }
    return status;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool models_changed(struct models *models, size_t index)
{
    struct model_entry *entry = &models->entries[index];
    struct stat now;
    if (stat(entry->path, &now) != 0) {
        return false; // between two names of a file, or gone: what is loaded stays
    }
    bool rested = same_file(&now, &entry->seen);
    bool changed = rested && entry->pending;
    entry->pending = !rested;
    entry->seen = now;
    return changed;
}
