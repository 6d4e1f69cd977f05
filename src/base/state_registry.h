/* state_registry.h - which variables are the state of a long computation, so that it can be gone on with later.
 *
 * A method names them once they have their room, asks whether there is a state to go on from, and offers
 * to be written down at the head of its loop:
 *
 *     tr_keep_doubles(registry, "WGHT", w, size);
 *     status = tr_registry_load(registry, &loaded, error);      // fills them in, where there is something
 *     if (!loaded) { begin anew }
 *     for (;;) {
 *         status = tr_registry_save(registry, error);           // where it is due
 *         ...
 *
 * Whoever owns the registry decides where to and how often. What is read back is not trusted: sizes, ranges
 * and finiteness are checked here, so that a method can use it as if it were its own. A registry of NULL
 * keeps nothing.
 */
#ifndef TRELLIS_BASE_STATE_REGISTRY_H
#define TRELLIS_BASE_STATE_REGISTRY_H

#include "base/text.h"

/* How something that is not an array of numbers is written and read; read() checks what it is given. */
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
    uint64_t most;          // of TR_KEPT_WHOLE
    double lowest, highest; // of TR_KEPT_FLOATS and TR_KEPT_DOUBLES
    const struct tr_kept_form *form;
};

struct tr_state_registry {
    TR_ARRAY(struct tr_kept) kept;
    bool failed; // memory ran out while naming
    trellis_status (*save)(struct tr_state_registry *registry, trellis_error *error);
    trellis_status (*load)(struct tr_state_registry *registry, bool *ret_loaded,
                           trellis_error *error);
};

/* Names are four letters, each once. */
void tr_keep_floats(struct tr_state_registry *registry, const char *name, float *at, size_t count);
/* Logarithms: minus infinity is one of them. */
void tr_keep_logs(struct tr_state_registry *registry, const char *name, float *at, size_t count);
void tr_keep_doubles(struct tr_state_registry *registry, const char *name, double *at,
                     size_t count);
void tr_keep_between(struct tr_state_registry *registry, const char *name, double *at, size_t count,
                     double lowest, double highest);
/* Whole numbers from 0 to `most`. */
void tr_keep_whole(struct tr_state_registry *registry, const char *name, uint64_t *at, size_t count,
                   uint64_t most);
/* 0 .. count-1 in some order. */
void tr_keep_order(struct tr_state_registry *registry, const char *name, uint32_t *at,
                   size_t count);
void tr_keep_form(struct tr_state_registry *registry, const char *name, void *at,
                  const struct tr_kept_form *form);
/* Forgets all names; to be called before what they name is freed. */
void tr_registry_clear(struct tr_state_registry *registry);
void tr_registry_free(struct tr_state_registry *registry);

trellis_status tr_registry_load(struct tr_state_registry *registry, bool *ret_loaded,
                                trellis_error *error);
trellis_status tr_registry_save(struct tr_state_registry *registry, trellis_error *error);

/* For the owner: floats that need no name, ... */
struct tr_kept tr_kept_floats(float *at, size_t count, bool logs);
/* ... the bytes of one variable, and back. False where they do not fit. */
void tr_kept_write(const struct tr_kept *kept, struct tr_buffer *buffer);
trellis_status tr_kept_read(const struct tr_kept *kept, trellis_text content, bool *ret_fits,
                            trellis_error *error);

#endif
