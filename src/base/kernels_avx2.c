/* kernels_avx2.c - the kernels for AVX2 with FMA; compiled with -mavx2 -mfma. */
#define KERNELS tr_kernels_avx2
#define KERNELS_NAME "avx2"
#define LANES 8
#include "base/kernels_body.h"
