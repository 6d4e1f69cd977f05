/* group_kernels_baseline.c - the kernels of groups for every processor. */
#define GROUP_KERNELS tr_group_kernels_baseline
#define LANES 4
#include "lattice/group_kernels_body.h"
