/* progress.h - training progress, on standard error: one line that is redrawn on a terminal,
 * otherwise one line per iteration. */
#ifndef TRELLIS_CLI_PROGRESS_H
#define TRELLIS_CLI_PROGRESS_H

#include "command.h"

struct progress_view {
    bool quiet;
    bool terminal;
    bool drawn;            // there is an unfinished line on the terminal
    double drawn_at;       // seconds, when it was last drawn
    uint64_t last_printed; // the last iteration that was printed as a line
};

void progress_begin(struct progress_view *view, bool quiet);
void progress_show(struct progress_view *view, const trellis_progress *progress);
/* Ends the line on the terminal, so that the last figures stay visible. */
void progress_end(struct progress_view *view);

/* "1:02:03", "2:03" or "3 s". */
void format_duration(char *text, size_t room, double seconds);

#endif
