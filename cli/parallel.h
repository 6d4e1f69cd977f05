/* parallel.h - tags the sequences of some files in several threads, in the order of the input. */
#ifndef TRELLIS_CLI_PARALLEL_H
#define TRELLIS_CLI_PARALLEL_H

#include "tagging.h"

trellis_status parallel_run(const struct tagging *tagging, unsigned threads, trellis_error *error);

#endif
