/* row_kernels_avx512.c - the row kernels for AVX-512; compiled with its flags. */
#define ROW_KERNELS tr_row_kernels_avx512
#include "dataset/row_kernels_body.h"
