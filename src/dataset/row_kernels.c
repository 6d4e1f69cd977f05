/* row_kernels.c - chooses the row kernels for this processor. */
#include "dataset/row_kernels.h"

#include "base/kernels.h"

const struct tr_row_kernels *tr_row_kernels(void)
{
#if defined(__x86_64__)
    const struct tr_kernels *kernels = tr_kernels();
    if (kernels == &tr_kernels_avx512) {
        return &tr_row_kernels_avx512;
    }
    if (kernels == &tr_kernels_avx2) {
        return &tr_row_kernels_avx2;
    }
#endif
    return &tr_row_kernels_baseline;
}
