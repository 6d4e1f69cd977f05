/* patience.h - an interruption that comes when it has been asked for so many times.
 *
 * To be included after cmocka.h.
 */
#ifndef TRELLIS_TESTS_PATIENCE_H
#define TRELLIS_TESTS_PATIENCE_H

#include "base/interruption.h"

struct patience {
    size_t asked, most; // answers no, the first `most` times
};

static bool is_over(const void *user)
{
    struct patience *patience = (struct patience *)(uintptr_t)user;
    return patience->asked++ >= patience->most;
}

#endif
