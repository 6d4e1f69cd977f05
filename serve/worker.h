/* worker.h - what one thread needs to answer requests: a tagger for each model, kept from request
 * to request. */
#ifndef TRELLIS_SERVE_WORKER_H
#define TRELLIS_SERVE_WORKER_H

#include "models.h"

/* How labels are predicted; the options of a tagger. */
struct decoding {
    char decode[16];  // "" for the default
    double threshold; // 0: none
};

/* Names of columns [count]; NULL for a column without a name. */
struct column_list {
    const char *names[MAX_COLUMNS];
    size_t count;
};

/* One model of a worker. */
struct worker_model {
    struct snapshot *snapshot;
    trellis_tagger *tagger;
    trellis_explainer *explainer;
    struct decoding decoding; // of the tagger
    char bound[1024];         // the columns that the tagger is bound to
};

struct worker {
    struct models *models;
    struct worker_model *slots; // [models->count]
    uint64_t version;           // of the registry when stale snapshots were last dropped
};

/* False on allocation failure. */
bool worker_create(struct worker *worker, struct models *models);
void worker_destroy(struct worker *worker);
/* Lets go of snapshots that have been replaced. */
void worker_refresh(struct worker *worker);

/* The worker's part of the current snapshot of a model, until the next call; NULL if there is no
 * such model. */
struct worker_model *worker_model(struct worker *worker, trellis_text name);
/* A tagger with these settings, bound to these columns, until the next call. */
trellis_status worker_tagger(struct worker_model *slot, const struct decoding *decoding,
                             const struct column_list *columns, trellis_tagger **ret_tagger,
                             trellis_error *error);
trellis_status worker_explainer(struct worker_model *slot, const struct column_list *columns,
                                trellis_explainer **ret_explainer, trellis_error *error);

#endif
