/* state_registry.c - the variables that a checkpoint saves and restores. */
#include "base/state_registry.h"

#include <float.h>
#include <math.h>

static void keep(struct tr_state_registry *registry, const char *name, struct tr_kept kept)
{
    if (registry) {
        memcpy(kept.name, name, 4);
        registry->failed |= !tr_push(&registry->kept, kept);
    }
}

void tr_keep_floats(struct tr_state_registry *registry, const char *name, float *at, size_t count)
{
    keep(registry, name, tr_kept_floats(at, count, false));
}

void tr_keep_logs(struct tr_state_registry *registry, const char *name, float *at, size_t count)
{
    keep(registry, name, tr_kept_floats(at, count, true));
}

void tr_keep_doubles(struct tr_state_registry *registry, const char *name, double *at, size_t count)
{
    tr_keep_between(registry, name, at, count, -DBL_MAX, DBL_MAX);
}

void tr_keep_between(struct tr_state_registry *registry, const char *name, double *at, size_t count,
                     double lowest, double highest)
{
    keep(registry, name,
         (struct tr_kept){.kind = TR_KEPT_DOUBLES,
                          .at = at,
                          .count = count,
                          .lowest = lowest,
                          .highest = highest});
}

void tr_keep_whole(struct tr_state_registry *registry, const char *name, uint64_t *at, size_t count,
                   uint64_t max)
{
    keep(registry, name,
         (struct tr_kept){.kind = TR_KEPT_WHOLE, .at = at, .count = count, .max = max});
}

void tr_keep_order(struct tr_state_registry *registry, const char *name, uint32_t *at, size_t count)
{
    keep(registry, name, (struct tr_kept){.kind = TR_KEPT_ORDER, .at = at, .count = count});
}

void tr_keep_form(struct tr_state_registry *registry, const char *name, void *at,
                  const struct tr_kept_form *form)
{
    keep(registry, name, (struct tr_kept){.kind = TR_KEPT_FORM, .at = at, .form = form});
}

void tr_registry_clear(struct tr_state_registry *registry)
{
    if (registry) {
        registry->kept.size = 0;
    }
}

void tr_registry_free(struct tr_state_registry *registry)
{
    free(registry->kept.at);
    *registry = (struct tr_state_registry){0};
}

trellis_status tr_registry_load(struct tr_state_registry *registry, bool *ret_loaded,
                                trellis_error *error)
{
    *ret_loaded = false;
    if (!registry) {
        return TRELLIS_OK;
    }
    return registry->failed ? tr_fail_memory(error) : registry->load(registry, ret_loaded, error);
}

trellis_status tr_registry_save(struct tr_state_registry *registry, trellis_error *error)
{
    if (!registry) {
        return TRELLIS_OK;
    }
    return registry->failed ? tr_fail_memory(error) : registry->save(registry, error);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static size_t element_size(enum tr_kept_kind kind)
{
    return kind == TR_KEPT_FLOATS || kind == TR_KEPT_ORDER ? 4 : 8;
}

struct tr_kept tr_kept_floats(float *at, size_t count, bool logs)
{
    return (struct tr_kept){.kind = TR_KEPT_FLOATS,
                            .at = at,
                            .count = count,
                            .lowest = logs ? -INFINITY : -FLT_MAX,
                            .highest = FLT_MAX};
}

void tr_kept_write(const struct tr_kept *kept, struct tr_buffer *buffer)
{
    if (kept->kind == TR_KEPT_FORM) {
        kept->form->write(kept->at, buffer);
    } else {
        tr_buffer_add(buffer, kept->at, kept->count * element_size(kept->kind));
    }
}

static bool floats_fit(const struct tr_kept *kept)
{
    const float *at = kept->at;
    bool fit = true;
    for (size_t i = 0; fit && i < kept->count; i++) {
        fit = (double)at[i] >= kept->lowest && (double)at[i] <= kept->highest;
    }
    return fit;
}

static bool doubles_fit(const struct tr_kept *kept)
{
    const double *at = kept->at;
    bool fit = true;
    for (size_t i = 0; fit && i < kept->count; i++) {
        fit = at[i] >= kept->lowest && at[i] <= kept->highest;
    }
    return fit;
}

static bool whole_fit(const uint64_t *at, size_t count, uint64_t max)
{
    bool fit = true;
    for (size_t i = 0; fit && i < count; i++) {
        fit = at[i] <= max;
    }
    return fit;
}

static trellis_status order_fits(const uint32_t *at, size_t count, bool *ret_fits,
                                 trellis_error *error)
{
    bool *seen = tr_alloc(count, sizeof *seen);
    if (!seen) {
        return tr_fail_memory(error);
    }
    *ret_fits = true;
    for (size_t i = 0; *ret_fits && i < count; i++) {
        *ret_fits = at[i] < count && !seen[at[i]];
        if (*ret_fits) {
            seen[at[i]] = true;
        }
    }
    free(seen);
    return TRELLIS_OK;
}

trellis_status tr_kept_read(const struct tr_kept *kept, trellis_text content, bool *ret_fits,
                            trellis_error *error)
{
    *ret_fits = true;
    if (kept->kind == TR_KEPT_FORM) {
        return kept->form->read(kept->at, content, error);
    }
    if (content.size != kept->count * element_size(kept->kind)) {
        *ret_fits = false;
        return TRELLIS_OK;
    }
    if (content.size) {
        memcpy(kept->at, content.data, content.size);
    }
    switch (kept->kind) {
    case TR_KEPT_FLOATS:
        *ret_fits = floats_fit(kept);
        break;
    case TR_KEPT_DOUBLES:
        *ret_fits = doubles_fit(kept);
        break;
    case TR_KEPT_WHOLE:
        *ret_fits = whole_fit(kept->at, kept->count, kept->max);
        break;
    case TR_KEPT_ORDER:
        return order_fits(kept->at, kept->count, ret_fits, error);
    case TR_KEPT_FORM:
        break;
    }
    return TRELLIS_OK;
}
