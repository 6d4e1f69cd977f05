/* group_kernels_avx2.c - the kernels of groups for AVX2 with FMA; compiled with -mavx2 -mfma. */
#define GROUP_KERNELS tr_group_kernels_avx2
#define LANES 8
#include "lattice/group_kernels_body.h"
