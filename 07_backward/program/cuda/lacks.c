#include "07_backward/program/cuda/lacks.h"

#include <stdio.h>

enum { MOST_HEADS = 65535, MOST_D = 128, MOST_N = 1000000 };

bool cuda_kernel_knows_type(const struct cuda_kernel *kernel, enum dtype type)
{
    return kernel->options || kernel->tensor == (type != DTYPE_F32);
}

const char *cuda_kernel_lacks(const struct cuda_kernel *kernel, const struct attention *p)
{
    static char text[80];
    if (p->B * p->H > MOST_HEADS)
        return "more than 65 535 heads";
    if (p->Nq > MOST_N || p->Nk > MOST_N)
        return "more than 1 000 000 queries or keys";
    if (!cuda_kernel_knows_type(kernel, p->dtype)) {
        snprintf(text, sizeof text, "--dtype %s", dtype_name(p->dtype));
        return text;
    }
    if (kernel->tensor && p->d != 64 && p->d != 128) {
        snprintf(text, sizeof text, "d = %zu (d is 64 or 128)", p->d);
        return text;
    }
    const bool narrow = kernel->options && p->dtype != DTYPE_F32;
    if (narrow && (p->d % 32 != 0 || p->d > MOST_D) && p->d != 256) {
        snprintf(text, sizeof text, "d = %zu (d is 32, 64, 96, 128 or 256 with --dtype %s)", p->d,
                 dtype_name(p->dtype));
        return text;
    }
    if (!narrow && p->d > MOST_D) {
        snprintf(text, sizeof text, "d = %zu (d is at most %d)", p->d, MOST_D);
        return text;
    }
    if (kernel->options)
        return NULL;
    if (p->dropout_threshold > 0)
        return "--dropout";
    if (p->Hkv != p->H && !kernel->hopper)
        return "--kv-heads";
    if (p->window_left >= 0 || p->window_right >= 0)
        return "--window";
    if (p->block_mask)
        return "--block-mask";
    return p->key_mask ? "--key-mask" : NULL;
}

const char *cuda_kernel_lacks_on(const struct cuda_kernel *kernel, const struct attention *p,
                                 const struct backward_device *device)
{
    const char *lacks = options_left_out(kernel->name) ? "that it is left out" : NULL;
    lacks = lacks ? lacks : cuda_kernel_lacks(kernel, p);
    return lacks ? lacks : cuda_kernel_lacks_device(kernel, device);
}

const struct cuda_kernel *cuda_kernel_before(const struct cuda_kernel *kernel,
                                             const struct attention *p,
                                             const struct backward_device *device)
{
    for (const struct cuda_kernel *k = kernel; k-- > cuda_kernels;)
        if (!cuda_kernel_lacks_on(k, p, device))
            return k;
    return NULL;
}
