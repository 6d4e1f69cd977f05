/* group_kernels.c - chooses the kernels of groups for this processor. */
#include "lattice/group_kernels.h"

const struct tr_group_kernels *tr_group_kernels_like(const struct tr_kernels *kernels)
{
#if defined(__x86_64__)
    if (kernels == &tr_kernels_avx512) {
        return &tr_group_kernels_avx512;
    }
    if (kernels == &tr_kernels_avx2) {
        return &tr_group_kernels_avx2;
    }
#else
    (void)kernels;
#endif
    return &tr_group_kernels_baseline;
}
