/* row_kernels.c - chooses the row kernels for this processor. */
#include "dataset/row_kernels.h"

const struct tr_row_kernels *tr_row_kernels_like(const struct tr_kernels *kernels)
{
#if defined(__x86_64__)
    if (kernels == &tr_kernels_avx512) {
        return &tr_row_kernels_avx512;
    }
    if (kernels == &tr_kernels_avx2) {
        return &tr_row_kernels_avx2;
    }
#else
    (void)kernels;
#endif
    return &tr_row_kernels_baseline;
}

const struct tr_row_kernels *tr_row_kernels(void)
{
    return tr_row_kernels_like(tr_kernels());
}
