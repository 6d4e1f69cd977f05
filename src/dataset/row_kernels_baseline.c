/* row_kernels_baseline.c - the row kernels for every processor. */
#define ROW_KERNELS tr_row_kernels_baseline
#include "dataset/row_kernels_body.h"
