/* progress.h - reports to the person who waits: a callback, the time since the beginning, and an
 * answer. */
#ifndef TRELLIS_TRAIN_PROGRESS_H
#define TRELLIS_TRAIN_PROGRESS_H

#include <time.h>

#include "base/error.h"

struct tr_report {
    trellis_progress_function progress; // NULL: nobody is told
    void *user;
    struct timespec began;
    const trellis_cancellation *cancellation; // or NULL
    const trellis_cancellation *siblings;     // of several seeds; or NULL
    bool asked;                               // the caller wants to stop
    bool interrupted;                         // and so do all ranks
};

/* Figures none of which is known. */
trellis_progress tr_figures_unknown(trellis_phase phase);

#endif
