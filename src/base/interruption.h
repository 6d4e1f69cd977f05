/* interruption.h - whether somebody wants long work to end before it is done. */
#ifndef TRELLIS_BASE_INTERRUPTION_H
#define TRELLIS_BASE_INTERRUPTION_H

#include <stdbool.h>
#include <stddef.h>

/* Asked often, by any thread. Once true it stays true: what ended early is thrown away. */
struct tr_interruption {
    bool (*asked)(const void *user);
    const void *user;
};

/* May be NULL: nobody does. */
static inline bool tr_interrupted(const struct tr_interruption *interruption)
{
    return interruption && interruption->asked(interruption->user);
}

#endif
