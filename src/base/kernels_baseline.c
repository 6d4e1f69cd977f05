/* kernels_baseline.c - the kernels for every processor: four lanes, as SSE2 and NEON have. */
#define KERNELS tr_kernels_baseline
#define KERNELS_NAME "baseline"
#define LANES 4
#include "base/kernels_body.h"
