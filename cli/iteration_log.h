/* iteration_log.h - writes the figures of each iteration to a file, one JSON object per line. */
#ifndef TRELLIS_CLI_ITERATION_LOG_H
#define TRELLIS_CLI_ITERATION_LOG_H

#include <stdio.h>

#include "trellis.h"

void iteration_log_write(FILE *file, const trellis_progress *progress);

#endif
