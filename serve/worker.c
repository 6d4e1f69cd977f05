/* worker.c - what one thread needs to answer requests: a tagger for each model, kept from request
 * to request. */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

static void slot_clear(struct worker_model *slot)
{
    trellis_tagger_destroy(slot->tagger);
    trellis_explainer_destroy(slot->explainer);
    snapshot_release(slot->snapshot);
    *slot = (struct worker_model){0};
}

bool worker_create(struct worker *worker, struct models *models)
{
    *worker = (struct worker){.models = models,
                              .slots = calloc(models->count, sizeof *worker->slots)};
    return worker->slots;
}

void worker_destroy(struct worker *worker)
{
    for (size_t i = 0; worker->slots && i < worker->models->count; i++) {
        slot_clear(&worker->slots[i]);
    }
    free(worker->slots);
    worker->slots = NULL;
}

void worker_refresh(struct worker *worker)
{
    uint64_t version = atomic_load(&worker->models->version);
    if (version == worker->version) {
        return;
    }
    worker->version = version;
    for (size_t i = 0; i < worker->models->count; i++) {
        struct worker_model *slot = &worker->slots[i];
        if (slot->snapshot && !models_is_current(worker->models, slot->snapshot)) {
            slot_clear(slot);
        }
    }
}

struct worker_model *worker_model(struct worker *worker, trellis_text name)
{
    struct snapshot *snapshot = models_acquire(worker->models, name);
    if (!snapshot) {
        return NULL;
    }
    size_t index = 0;
    while (strcmp(worker->models->entries[index].name, snapshot->name) != 0) {
        index++;
    }
    struct worker_model *slot = &worker->slots[index];
    if (slot->snapshot == snapshot) {
        snapshot_release(snapshot); // the slot holds it already
    } else {
        slot_clear(slot);
        slot->snapshot = snapshot;
    }
    return slot;
}

/* ---- taggers --------------------------------------------------------------------------------- */

static trellis_status decoding_options(const struct decoding *decoding,
                                       const trellis_options *limits, trellis_options **ret_options,
                                       trellis_error *error)
{
    char threshold[32];
    snprintf(threshold, sizeof threshold, "%.17g", decoding->threshold);
    trellis_status status = trellis_options_copy(limits, ret_options, error);
    if (!status && decoding->decode[0]) {
        status = trellis_options_set(*ret_options, "decode", decoding->decode, error);
    }
    if (!status && decoding->threshold > 0) {
        status = trellis_options_set(*ret_options, "threshold", threshold, error);
    }
    return status;
}

static trellis_status make_tagger(struct worker_model *slot, const struct decoding *decoding,
                                  trellis_error *error)
{
    trellis_options *options = NULL;
    trellis_tagger_destroy(slot->tagger);
    slot->tagger = NULL;
    slot->bound[0] = '\0';
    trellis_status status = decoding_options(decoding, slot->snapshot->limits, &options, error);
    if (!status) {
        status = trellis_tagger_create(slot->snapshot->model, options, &slot->tagger, error);
    }
    trellis_options_destroy(options);
    slot->decoding = *decoding;
    return status;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Writes the columns as a text that is never empty; false if they do not fit. */
static bool columns_key(const struct column_list *columns, char *key, size_t room)
{
    size_t used = (size_t)snprintf(key, room, "%zu", columns->count);
    for (size_t i = 0; i < columns->count && used < room; i++) {
        const char *name = columns->names[i] ? columns->names[i] : "";
        used += (size_t)snprintf(key + used, room - used, "\t%s", name);
    }
    return used < room;
}

static trellis_status no_sequence(void *user, const trellis_sequence **ret_sequence,
                                  trellis_error *error)
{
    (void)user, (void)error;
    *ret_sequence = NULL;
    return TRELLIS_END;
}

/* A reader that has these names and no sequences. */
static trellis_status columns_reader(const struct column_list *columns, trellis_reader **ret_reader,
                                     trellis_error *error)
{
    trellis_source source = {.struct_size = sizeof source,
                             .next = no_sequence,
                             .column_names = columns->names,
                             .column_count = columns->count};
    return trellis_reader_open_source(&source, NULL, ret_reader, error);
}

trellis_status worker_tagger(struct worker_model *slot, const struct decoding *decoding,
                             const struct column_list *columns, trellis_tagger **ret_tagger,
                             trellis_error *error)
{
    char key[sizeof slot->bound];
    trellis_status status = TRELLIS_OK;
    if (!slot->tagger || strcmp(slot->decoding.decode, decoding->decode) != 0 ||
        slot->decoding.threshold != decoding->threshold) {
        status = make_tagger(slot, decoding, error);
    }
    bool keep = columns_key(columns, key, sizeof key);
    if (!status && (!keep || strcmp(key, slot->bound) != 0)) {
        trellis_reader *reader;
        slot->bound[0] = '\0';
        status = columns_reader(columns, &reader, error);
        if (!status) {
            status = trellis_tagger_bind(slot->tagger, reader, error);
        }
        trellis_reader_close(reader);
        if (!status && keep) {
            memcpy(slot->bound, key, sizeof key);
        }
    }
    *ret_tagger = status ? NULL : slot->tagger;
    return status;
}

trellis_status worker_explainer(struct worker_model *slot, const struct column_list *columns,
                                trellis_explainer **ret_explainer, trellis_error *error)
{
    trellis_reader *reader = NULL;
    trellis_status status = TRELLIS_OK;
    if (!slot->explainer) {
        status = trellis_explainer_create(slot->snapshot->model, slot->snapshot->limits,
                                          &slot->explainer, error);
    }
    if (!status) {
        status = columns_reader(columns, &reader, error);
    }
    if (!status) {
        status = trellis_explainer_bind(slot->explainer, reader, error);
    }
    trellis_reader_close(reader);
    *ret_explainer = status ? NULL : slot->explainer;
    return status;
}
