/* ranks.h - the processes that run a command together.
 *
 * There are two implementations: that of the command (cli/alone.c), which is one process, and that
 * of trellis-mpi (mpi/ranks.c), which is as many as mpirun has started.
 */
#ifndef TRELLIS_CLI_RANKS_H
#define TRELLIS_CLI_RANKS_H

#include <stdbool.h>

#include "trellis.h"

/* Before anything else in main(), and at its end: returns the exit status of the process, which is
 * not 0 where any rank has failed. */
void ranks_begin(int *argc, char ***argv);
int ranks_end(int result);

/* NULL where the process is alone. */
const trellis_ranks *ranks_given(void);
/* Whether this process writes the model and the log, and shows progress. */
bool ranks_first(void);
/* Whether this process prints a message. One that does not keeps the message for the others, should
 * it fail. */
bool ranks_print(const char *text);

#endif
