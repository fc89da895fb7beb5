/* Kernels with one mistake each, and a list of them per file. */
#ifndef COMMON_CUDA_TESTS_BUGS_CUH
#define COMMON_CUDA_TESTS_BUGS_CUH

#include "common/cuda/cpu.h"
#include "common/cuda/device.h"

#include <string.h>

enum { THREADS = 64 };

/* THREADS elements each. */
struct arrays {
    float *in, *out;
};

struct bug {
    const char *name;
    void (*run)(arrays a);
};

/* False if `name` is not in the list. */
static inline bool run_bug(const bug *list, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++) {
        if (strcmp(list[k].name, name) != 0)
            continue;
        arrays a = {};
        float host[THREADS] = {};
        CHECK_CUDA(cudaMalloc(&a.in, sizeof host));
        CHECK_CUDA(cudaMalloc(&a.out, sizeof host));
        cuda_name(a.in, "in");
        cuda_name(a.out, "out");
        CHECK_CUDA(cudaMemcpy(a.in, host, sizeof host, cudaMemcpyHostToDevice));
        list[k].run(a);
        CHECK_LAUNCH("the kernel with the mistake");
        CHECK_CUDA(cudaFree(a.in));
        CHECK_CUDA(cudaFree(a.out));
        return true;
    }
    return false;
}

#endif
