/* counts.c - how often the values of a view were seen in training, for rare() and frequent().
 *
 * Values are stored as hashes. When counting ends, each (view, n) that a template uses becomes a
 * table of the values seen more than n times, and the counts are dropped. For unknown(x, n) rare
 * words stand for unseen ones during training; at its end the table becomes one of all values.
 */
#include "features/compiled.h"

void tr_counter_free(struct tr_counter *counter)
{
    free(counter->values);
    free(counter->counts);
    *counter = (struct tr_counter){.view = counter->view};
}

static size_t find_slot(const uint64_t *values, size_t slots, uint64_t value)
{
    size_t slot = value & (slots - 1);
    while (values[slot] && values[slot] != value) {
        slot = (slot + 1) & (slots - 1);
    }
    return slot;
}

static bool grow(struct tr_counter *counter)
{
    size_t slots = counter->slots ? counter->slots * 2 : 1024;
    uint64_t *values = tr_alloc(slots, sizeof *values);
    uint32_t *counts = tr_alloc(slots, sizeof *counts);
    if (!values || !counts) {
        free(values);
        free(counts);
        return false;
    }
    for (size_t i = 0; i < counter->slots; i++) {
        if (counter->values[i]) {
            size_t slot = find_slot(values, slots, counter->values[i]);
            values[slot] = counter->values[i];
            counts[slot] = counter->counts[i];
        }
    }
    free(counter->values);
    free(counter->counts);
    counter->values = values;
    counter->counts = counts;
    counter->slots = slots;
    return true;
}

bool tr_counter_add(struct tr_counter *counter, uint64_t value)
{
    if (counter->used * 2 >= counter->slots && !grow(counter)) {
        return false;
    }
    size_t slot = find_slot(counter->values, counter->slots, value);
    counter->used += counter->values[slot] == 0;
    counter->values[slot] = value;
    counter->counts[slot] += counter->counts[slot] < UINT32_MAX;
    return true;
}

bool tr_features_needs_counts(const trellis_features *features)
{
    return features->counting;
}

/* The table of the values whose count passes the limit. */
static trellis_status keep_frequent(struct tr_resource *resource, const struct tr_counter *counter,
                                    uint32_t limit, trellis_error *error)
{
    uint64_t *kept = tr_alloc(counter->used, sizeof *kept);
    if (!kept) {
        return tr_fail_memory(error);
    }
    size_t count = 0;
    for (size_t i = 0; i < counter->slots; i++) {
        if (counter->values[i] && counter->counts[i] > limit) {
            kept[count++] = counter->values[i];
        }
    }
    trellis_status status = tr_resource_set(resource, kept, count, error);
    free(kept);
    return status;
}

size_t tr_features_bytes(const trellis_features *features)
{
    size_t bytes = 0, most = 0;
    for (size_t i = 0; i < features->counters.size; i++) {
        const struct tr_counter *counter = &features->counters.at[i];
        size_t held = counter->slots * (sizeof *counter->values + sizeof *counter->counts);
        bytes += held;
        most = held > most ? held : most; // its hashes are copied and sorted
    }
    for (size_t i = 0; i < features->learned.size; i++) {
        size_t working;
        bytes += tr_learned_names_bytes(&features->learned.at[i], &working);
        most = working > most ? working : most;
    }
    for (size_t i = 0; i < features->resources.size; i++) {
        bytes += features->resources.at[i].owned ? features->resources.at[i].data.size : 0;
    }
    return bytes + most;
}

static void drop_counts(trellis_features *features)
{
    for (size_t i = 0; i < features->counters.size; i++) {
        tr_counter_free(&features->counters.at[i]);
    }
}

bool tr_features_has_unknown(const trellis_features *features)
{
    for (size_t i = 0; i < features->resources.size; i++) {
        if (features->resources.at[i].kind == TR_KNOWN) {
            return true;
        }
    }
    return false;
}

trellis_status tr_features_end_count(trellis_features *features, trellis_error *error)
{
    if (!features->counting) {
        return TRELLIS_OK;
    }
    for (size_t i = 0; i < features->resources.size; i++) {
        struct tr_resource *resource = &features->resources.at[i];
        if (resource->kind == TR_COUNTED || resource->kind == TR_KNOWN) {
            trellis_status status = keep_frequent(
                resource, &features->counters.at[resource->counter], resource->limit, error);
            if (status) {
                return status;
            }
        }
    }
    if (!tr_features_has_unknown(features)) {
        drop_counts(features);
    }
    features->counting = false;
    features->generation++;
    return TRELLIS_OK;
}

trellis_status tr_features_end_training(trellis_features *features, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < features->resources.size; i++) {
        struct tr_resource *resource = &features->resources.at[i];
        if (resource->kind == TR_KNOWN) {
            status = keep_frequent(resource, &features->counters.at[resource->counter], 0, error);
        }
    }
    drop_counts(features);
    features->generation++;
    return status ? status : tr_learned_names_finish(features, error);
}
