/* models.h - the models that are served, each in one shared copy, replaced while requests run.
 *
 *     registry -> entry (name, file) -> snapshot (a model as it was loaded, counted)
 *
 * A request takes the snapshot that is current when it starts and works on that to its end. A
 * reload puts another in its place; the old one goes when the last one who works on it lets go.
 *
 * The bytes of a model are read into memory of our own, once for all threads, and their checksums
 * verified: a file that is overwritten in place cannot change or take away what is being used.
 */
#ifndef TRELLIS_SERVE_MODELS_H
#define TRELLIS_SERVE_MODELS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "trellis.h"

enum { MAX_COLUMNS = 64, MAX_NAME = 64 };

struct snapshot {
    trellis_model *model;
    void *bytes; // [size] of the file
    size_t size;
    const char *name;              // of the entry
    const trellis_options *limits; // on the input of requests; NULL: the defaults
    uint64_t version;              // unlike that of every other snapshot
    time_t loaded;
    struct stat about; // of the file that was read
    atomic_size_t users;
    bool attributes;    // trained on ready-made attributes
    size_t columns;     // of the training data, 0 if not known
    char *column_names; // [columns] of them, separated by zero bytes; NULL: they have none
    uint64_t used;      // bit i: templates use column i
};

struct model_entry {
    char name[MAX_NAME + 1];
    char *path;
    struct snapshot *current; // under the registry's lock
    struct stat seen;         // by the last look, for --watch
    bool pending;             // the file has changed and may still be written to
    char problem[sizeof((trellis_error){0}).message]; // of the last reload; empty if it succeeded
};

struct models {
    pthread_mutex_t lock;
    struct model_entry *entries; // [count]
    size_t count;
    const trellis_options *limits; // of every snapshot
    atomic_uint_fast64_t version;  // of the snapshot loaded last
    atomic_uint_fast64_t reloads, failures;
};

/* Opens models [count], each FILE or NAME=FILE. The options, which must outlive them, are the
 * limits on what they are used with; NULL: the defaults. */
trellis_status models_create(struct models *models, const char *const *specifications, size_t count,
                             const trellis_options *limits, trellis_error *error);
void models_destroy(struct models *models);

/* The current snapshot of a name, or of the first model if the name is empty; NULL if there is no
 * such model. To be given back with snapshot_release(). */
struct snapshot *models_acquire(struct models *models, trellis_text name);
void snapshot_release(struct snapshot *snapshot);
/* Whether it is still what models_acquire() gives. */
bool models_is_current(struct models *models, const struct snapshot *snapshot);
/* The name of column `index`; NULL if it has none. */
const char *snapshot_column_name(const struct snapshot *snapshot, size_t index);

/* Loads an entry again; on failure the old snapshot stays and *error says why. */
trellis_status models_reload(struct models *models, size_t index, trellis_error *error);
/* Whether the file of an entry was replaced or changed, and has rested since the last look. */
bool models_changed(struct models *models, size_t index);

#endif
