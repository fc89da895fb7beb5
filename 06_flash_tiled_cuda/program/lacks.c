#include "06_flash_tiled_cuda/program/lacks.h"

#include "06_flash_tiled_cuda/program/device_choice.h"

#include <stdio.h>

enum { MOST_HEADS = 65535, MOST_D = 128, MOST_D_16 = 256, MOST_N = 1000000 };

bool kernel_knows_type(const struct kernel *kernel, enum dtype type)
{
    return kernel->options || kernel->tensor == (type != DTYPE_F32);
}

static bool is_one_of_five(size_t d)
{
    return d == 16 || d == 32 || d == 64 || d == 96 || d == 128;
}

const char *kernel_lacks(const struct kernel *kernel, const struct attention *p)
{
    static char text[60];
    if (p->B * p->H > MOST_HEADS)
        return "more than 65 535 heads";
    if (p->Nq > MOST_N || p->Nk > MOST_N)
        return "more than 1 000 000 queries or keys";
    if (!kernel_knows_type(kernel, p->dtype)) {
        snprintf(text, sizeof text, "--dtype %s", dtype_name(p->dtype));
        return text;
    }
    if (kernel->tensor && p->d != 64 && p->d != 128) {
        snprintf(text, sizeof text, "d = %zu (d is 64 or 128)", p->d);
        return text;
    }
    if (kernel->options && p->dtype != DTYPE_F32) {
        const size_t d = p->d;
        if (d == 32 || d == 64 || d == 96 || d == 128 || d == MOST_D_16)
            return NULL;
        snprintf(text, sizeof text, "d = %zu (d is 32, 64, 96, 128 or 256 with --dtype %s)", d,
                 dtype_name(p->dtype));
        return text;
    }
    if (p->d > MOST_D || (!kernel->options && !is_one_of_five(p->d))) {
        snprintf(text, sizeof text, "d = %zu (%s)", p->d,
                 kernel->options ? "d is at most 128" : "d is 16, 32, 64, 96 or 128");
        return text;
    }
    if (kernel->options)
        return NULL;
    if (p->dropout_threshold > 0)
        return "--dropout";
    if (p->window_left >= 0 || p->window_right >= 0)
        return "--window";
    if (p->block_mask)
        return "--block-mask";
    return p->key_mask ? "--key-mask" : NULL;
}

const char *kernel_lacks_on(const struct kernel *kernel, const struct attention *p,
                            const struct device *device)
{
    const char *lacks = options_left_out(kernel->name) ? "that it is left out" : NULL;
    lacks = lacks ? lacks : kernel_lacks(kernel, p);
    return lacks ? lacks : kernel_lacks_device(kernel, device);
}
