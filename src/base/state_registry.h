/* state_registry.h - the variables that a checkpoint saves and restores.
 *
 * A learner or optimiser registers its state once the arrays are allocated, loads an earlier state
 * if there is one, and offers to save at the head of its loop:
 *
 *     tr_keep_doubles(registry, "WGHT", w, size);
 *     status = tr_registry_load(registry, &loaded, error);      // fills the variables if it can resume
 *     if (!loaded) { start from scratch }
 *     for (;;) {
 *         status = tr_registry_save(registry, error);           // writes a checkpoint if one is due
 *         ...
 *
 * The owner of the registry decides where and how often to save. What is read back is not trusted:
 * sizes, ranges and finiteness are checked here, so the learner can use it without checks of its
 * own. With a registry of NULL nothing is saved or loaded.
 */
#ifndef TRELLIS_BASE_STATE_REGISTRY_H
#define TRELLIS_BASE_STATE_REGISTRY_H

#include "base/text.h"

/* How a variable that is not an array of numbers is written and read; read() checks its input. */
struct tr_kept_form {
    void (*write)(const void *at, struct tr_buffer *buffer);
    trellis_status (*read)(void *at, trellis_text content, trellis_error *error);
};

enum tr_kept_kind { TR_KEPT_FLOATS, TR_KEPT_DOUBLES, TR_KEPT_WHOLE, TR_KEPT_ORDER, TR_KEPT_FORM };

struct tr_kept {
    char name[5];
    enum tr_kept_kind kind;
    void *at;
    size_t count;
    uint64_t max;           // of TR_KEPT_WHOLE
    double lowest, highest; // of TR_KEPT_FLOATS and TR_KEPT_DOUBLES
    const struct tr_kept_form *form;
};

struct tr_state_registry {
    TR_ARRAY(struct tr_kept) kept;
    bool failed; // an allocation failed while registering
    trellis_status (*save)(struct tr_state_registry *registry, trellis_error *error);
    trellis_status (*load)(struct tr_state_registry *registry, bool *ret_loaded,
                           trellis_error *error);
};

/* Registers an array. Names have four letters and are unique. */
void tr_keep_floats(struct tr_state_registry *registry, const char *name, float *at, size_t count);
/* Logarithms: minus infinity is allowed. */
void tr_keep_logs(struct tr_state_registry *registry, const char *name, float *at, size_t count);
void tr_keep_doubles(struct tr_state_registry *registry, const char *name, double *at,
                     size_t count);
void tr_keep_between(struct tr_state_registry *registry, const char *name, double *at, size_t count,
                     double lowest, double highest);
/* Whole numbers from 0 to `max`. */
void tr_keep_whole(struct tr_state_registry *registry, const char *name, uint64_t *at, size_t count,
                   uint64_t max);
/* A permutation of 0 .. count-1. */
void tr_keep_order(struct tr_state_registry *registry, const char *name, uint32_t *at,
                   size_t count);
void tr_keep_form(struct tr_state_registry *registry, const char *name, void *at,
                  const struct tr_kept_form *form);
/* Forgets all variables; to be called before they are freed. */
void tr_registry_clear(struct tr_state_registry *registry);
void tr_registry_free(struct tr_state_registry *registry);

trellis_status tr_registry_load(struct tr_state_registry *registry, bool *ret_loaded,
                                trellis_error *error);
trellis_status tr_registry_save(struct tr_state_registry *registry, trellis_error *error);

/* For the owner of a registry: a variable without a name, ... */
struct tr_kept tr_kept_floats(float *at, size_t count, bool logs);
/* ... its bytes, and back. *ret_fits is false if the size or a value is not valid. */
void tr_kept_write(const struct tr_kept *kept, struct tr_buffer *buffer);
trellis_status tr_kept_read(const struct tr_kept *kept, trellis_text content, bool *ret_fits,
                            trellis_error *error);

#endif
