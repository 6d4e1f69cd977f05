/* kernels_avx512.c - the kernels for AVX-512; compiled with -mavx512f -mavx512bw -mavx512vl -mfma.
 *
 * Rows are padded to 8 floats, not 16: 22 labels then take 24 columns instead of 32. So these are
 * eight lanes too, with twice the registers and the mask instructions of AVX-512.
 */
#define KERNELS tr_kernels_avx512
#define KERNELS_NAME "avx512"
#define LANES 8
#include "base/kernels_body.h"
