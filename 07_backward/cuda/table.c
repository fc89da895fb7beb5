/* The table of the chapter's kernels, and the devices that they run on. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cuda_kernel cuda_kernels[CUDA_KERNELS] = {
    [CUDA_STANDARD] = {
        .name = "cuda_standard",
        .idea = "P and dS whole in global memory",
        .predict = predict_cuda_standard,
        .formula = "(10 d + 11) a pair + …",
        .whole = true,
    },
    [CUDA_RECOMPUTE] = {
        .name = "cuda_recompute",
        .idea = "P again from L, dQ by atomic additions",
        .predict = predict_cuda_recompute,
        .formula = "5 Tc Nq d + 3 Tr Nk d + …",
        .atomics = true,
    },
    [CUDA_DETERMINISTIC] = {
        .name = "cuda_deterministic",
        .idea = "two kernels, the same bits every time",
        .predict = predict_cuda_deterministic,
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
    },
    [CUDA_MMA_SPLIT] = {
        .name = "cuda_mma_split",
        .idea = "deterministic on tensor cores, in 16 bits",
        .predict = predict_cuda_mma_split,
        .formula = "Tc Nq d + Tr Nk d + …",
        .tensor = true,
    },
    [CUDA_MMA] = {
        .name = "cuda_mma",
        .idea = "… in one kernel, dS through shared memory",
        .predict = predict_cuda_mma,
        .formula = "3 Tc Nq d + …",
        .atomics = true,
        .tensor = true,
    },
    [CUDA_WGMMA] = {
        .name = "cuda_wgmma",
        .idea = "Hopper's units copy and multiply",
        .predict = predict_cuda_boxes,
        .formula = "3 Tc Nq d + …",
        .atomics = true,
        .tensor = true,
        .hopper = true,
    },
    [CUDA_BULK] = {
        .name = "cuda_bulk",
        .idea = "… and add dQ, a row at a time",
        .predict = predict_cuda_boxes,
        .formula = "3 Tc Nq d + …",
        .atomics = true,
        .tensor = true,
        .hopper = true,
    },
    [CUDA_ORDERED] = {
        .name = "cuda_ordered",
        .idea = "… in turns: the same bits every time",
        .predict = predict_cuda_boxes,
        .formula = "3 Tc Nq d + …",
        .turns = true,
        .tensor = true,
        .hopper = true,
    },
    [CUDA_COMPLETE] = {
        .name = "cuda_complete",
        .idea = "every option",
        .predict = predict_cuda_complete,
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
        .options = true,
    },
};

// ---- devices ------------------------------------------------------------------------------------

#define LAUNCHERS(build)                                                                        \
    {                                                                                           \
        [CUDA_STANDARD] = backward_standard_##build,                                            \
        [CUDA_RECOMPUTE] = backward_recompute_##build,                                          \
        [CUDA_DETERMINISTIC] = backward_deterministic_##build,                                  \
        [CUDA_MMA_SPLIT] = backward_mma_split_##build, [CUDA_MMA] = backward_mma_##build,       \
        [CUDA_WGMMA] = backward_wgmma_##build, [CUDA_BULK] = backward_bulk_##build,             \
        [CUDA_ORDERED] = backward_ordered_##build, [CUDA_COMPLETE] = backward_complete_##build, \
    }

const struct backward_device backward_cpu = { &device_cpu, complete_cpu, LAUNCHERS(cpu) };
const struct backward_device backward_watched = { &device_watched, complete_watched,
                                                  LAUNCHERS(watched) };
#ifdef WITH_GPU
static const struct backward_device backward_gpu = { &device_gpu, complete_gpu, LAUNCHERS(gpu) };
#endif

#ifdef WITH_GPU
/* Tensor cores, as the kernels for 16 bits use them, came with compute capability 8.0. */
static bool is_too_old(const struct device *gpu, enum dtype type)
{
    struct device_facts facts;
    gpu->facts(&facts);
    return type != DTYPE_F32 && facts.major < 8;
}
#endif

const struct backward_device *backward_device_choose(const struct options *o)
{
    const bool wanted = o->device && strcmp(o->device, "gpu") == 0;
    if (o->device && strcmp(o->device, "cpu") == 0)
        return &backward_cpu;
#ifdef WITH_GPU
    const bool there = device_gpu.is_there(), old = there && is_too_old(&device_gpu, o->dtype);
    if (there && !old)
        return &backward_gpu;
    const char *const why = old ? "--dtype bf16 and f16 need compute capability 8.0 or later"
                                : "the CUDA runtime finds none";
#else
    const char *const why = "this program was built without nvcc; make cuda builds one with it";
#endif
    if (!wanted)
        return &backward_cpu;
    fprintf(stderr, "07_backward: SKIPPED: no GPU (%s)\n", why);
    exit(EXIT_SKIPPED);
}

enum { HOPPER_MAJOR = 9 };

const char *cuda_kernel_lacks_device(const struct cuda_kernel *kernel,
                                     const struct backward_device *device)
{
    static char text[180];
    struct device_facts facts;
    device->machine->facts(&facts);
    if (!kernel->hopper || device == &backward_cpu || device == &backward_watched ||
        (facts.major == HOPPER_MAJOR && facts.minor == 0))
        return NULL;
    snprintf(text, sizeof text, "%s, of compute capability %d.%d (it is for 9.0)", facts.name,
             facts.major, facts.minor);
    return text;
}

const struct backward_device *backward_device_for(const struct cuda_kernel *kernel,
                                                  const struct backward_device *chosen,
                                                  const struct options *o)
{
    const char *const lacks = cuda_kernel_lacks_device(kernel, chosen);
    if (!lacks)
        return chosen;
    if (!o->device || strcmp(o->device, "gpu") != 0)
        return &backward_cpu;
    fprintf(stderr, "07_backward: SKIPPED: --kernel %s does not know %s\n", kernel->name, lacks);
    exit(EXIT_SKIPPED);
}

const char *backward_device_text(const struct backward_device *device)
{
    static char text[140];
    struct device_facts facts;
    if (device == &backward_cpu)
        return "on the CPU, standing in for a GPU";
    device->machine->facts(&facts);
    snprintf(text, sizeof text, "on a GPU: %s", facts.name);
    return text;
}

// ---- what a kernel can do -----------------------------------------------------------------------

enum { MOST_HEADS = 65535, MOST_D = 128, MOST_N = 1000000 };

bool cuda_kernel_knows_type(const struct cuda_kernel *kernel, enum dtype type)
{
    return kernel->options || kernel->tensor == (type != DTYPE_F32);
}

const char *cuda_kernel_formula(const struct cuda_kernel *kernel, const struct attention *p)
{
    if (!kernel->options || p->dtype == DTYPE_F32)
        return kernel->formula;
    return p->d > MOST_D ? "2 Tc Nq d + Tr Nk d + …" : cuda_kernels[CUDA_MMA_SPLIT].formula;
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

const struct cuda_kernel *cuda_kernel_before(const struct cuda_kernel *kernel,
                                             const struct attention *p)
{
    for (const struct cuda_kernel *k = kernel; k-- > cuda_kernels;)
        if (!cuda_kernel_lacks(k, p))
            return k;
    return NULL;
}
