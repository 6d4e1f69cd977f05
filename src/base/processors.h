/* processors.h - how many processors this process may use. */
#ifndef TRELLIS_BASE_PROCESSORS_H
#define TRELLIS_BASE_PROCESSORS_H

#include "base/error.h"

/* Processors that a cgroup with this quota may use at once, from the two numbers of its cpu.max
 * ("max 100000", "150000 100000"): 0 where there is no limit. */
unsigned tr_quota_processors(const char *cpu_max);

#endif
