#include "07_backward/program/cuda/device_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const char *const why_not = device_gpu.why_not();
    if (!why_not && !is_too_old(&device_gpu, o->dtype))
        return &backward_gpu;
    const char *const why =
        why_not ? why_not : "--dtype bf16 and f16 need compute capability 8.0 or later";
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
