/* kernels.c - which of the kernel sets this processor can run. */
#include "base/kernels.h"

static bool runs(const struct tr_kernels *kernels)
{
#if defined(__x86_64__)
    if (kernels == &tr_kernels_avx512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
    }
    if (kernels == &tr_kernels_avx2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
#endif
    return kernels == &tr_kernels_baseline;
}

const struct tr_kernels *tr_kernels_at(size_t index)
{
    static const struct tr_kernels *const best_first[] = {
#if defined(__x86_64__)
        &tr_kernels_avx512,
        &tr_kernels_avx2,
#endif
        &tr_kernels_baseline,
        NULL
    };
    for (size_t i = 0; best_first[i]; i++) {
        if (runs(best_first[i]) && index-- == 0) {
            return best_first[i];
        }
    }
    return NULL;
}

const struct tr_kernels *tr_kernels(void)
{
    return tr_kernels_at(0);
}
