/* row_kernels_avx2.c - the row kernels for AVX2 with FMA; compiled with -mavx2 -mfma. */
#define ROW_KERNELS tr_row_kernels_avx2
#include "dataset/row_kernels_body.h"
