/* progress.h - how a training goes, on standard error: one line that is drawn over and over on a
 * terminal, one plain line per iteration elsewhere. */
#ifndef TRELLIS_CLI_PROGRESS_H
#define TRELLIS_CLI_PROGRESS_H

#include "command.h"

struct progress_view {
    bool quiet;
    bool terminal;
    bool drawn;         // there is a line on the terminal, without its end
    double drawn_at;    // seconds, when it was drawn last
    uint64_t last_told; // the last iteration that got a line of its own
};

void progress_begin(struct progress_view *view, bool quiet);
void progress_show(struct progress_view *view, const trellis_progress *progress);
/* Ends the line that is on the terminal, so that the last figures stay. */
void progress_end(struct progress_view *view);

/* "1:02:03", "2:03" or "3 s". */
void format_duration(char *text, size_t room, double seconds);

#endif
