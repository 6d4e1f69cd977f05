/* group_kernels_avx512.c - the kernels of groups for AVX-512, in whole registers; compiled with its flags. */
#define GROUP_KERNELS tr_group_kernels_avx512
#define LANES 16
#include "lattice/group_kernels_body.h"
