/* launch.h - starts the service of `trellis serve`. */
#ifndef TRELLIS_CLI_LAUNCH_H
#define TRELLIS_CLI_LAUNCH_H

#include "arguments.h"

/* Returns the exit status. There are two: that of the command (cli/launch.c) runs the program
 * trellis-serve, that of trellis-serve (serve/launch.c) serves. */
int launch_service(const struct arguments *arguments);

#endif
