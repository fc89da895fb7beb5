#include "06_flash_tiled_cuda/program/device_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSOR_MAJOR = 8 };  // compute capability from which mma, ldmatrix and cp.async are there

const char *device_lacks(const struct device *device, enum dtype type)
{
    static char text[200];
    struct device_facts facts;
    if (type == DTYPE_F32 || device == &device_cpu || device == &device_watched)
        return NULL;
    device->facts(&facts);
    if (facts.major >= TENSOR_MAJOR)
        return NULL;
    snprintf(text, sizeof text,
             "--dtype %s needs a GPU of compute capability 8.0 or later, and %s has %d.%d",
             dtype_name(type), facts.name, facts.major, facts.minor);
    return text;
}

const struct device *device_among(const struct options *o, const struct device *gpu,
                                  const char *why_none)
{
    if (o->device && strcmp(o->device, "cpu") == 0)
        return &device_cpu;
    const char *const lacks = gpu ? device_lacks(gpu, o->dtype) : NULL;
    if (gpu && !lacks)
        return gpu;
    if (!o->device || strcmp(o->device, "gpu") != 0)
        return &device_cpu;
    if (lacks)
        fprintf(stderr, "06_flash_tiled_cuda: SKIPPED: %s\n", lacks);
    else
        fprintf(stderr, "06_flash_tiled_cuda: SKIPPED: no GPU (%s)\n", why_none);
    exit(EXIT_SKIPPED);
}

const struct device *device_choose(const struct options *o)
{
#ifdef WITH_GPU
    const char *const why_not = device_gpu.why_not();
    return device_among(o, why_not ? NULL : &device_gpu, why_not);
#else
    return device_among(o, NULL,
                        "this program was built without nvcc; make cuda builds one with it");
#endif
}

bool device_holds(const struct device *device, const struct tile *tile)
{
    struct device_facts facts;
    device->facts(&facts);
    return tile_bytes(tile) <= facts.shared_at_most;
}

const char *device_text(const struct device *device)
{
    static char text[140];
    struct device_facts facts;
    if (device == &device_cpu)
        return "on the CPU, standing in for a GPU";
    device->facts(&facts);
    snprintf(text, sizeof text, "on a GPU: %s", facts.name);
    return text;
}

enum { HOPPER_MAJOR = 9 };

const char *kernel_lacks_device(const struct kernel *kernel, const struct device *device)
{
    static char text[180];
    struct device_facts facts;
    device->facts(&facts);
    if (!kernel->hopper || device == &device_cpu || device == &device_watched ||
        (facts.major == HOPPER_MAJOR && facts.minor == 0))
        return NULL;
    snprintf(text, sizeof text, "%s, of compute capability %d.%d (it is for 9.0)", facts.name,
             facts.major, facts.minor);
    return text;
}

const struct device *device_for(const struct kernel *kernel, const struct device *chosen,
                                const struct options *o)
{
    const char *lacks = kernel_lacks_device(kernel, chosen);
    if (!lacks)
        return chosen;
    if (!o->device || strcmp(o->device, "gpu") != 0)
        return &device_cpu;
    fprintf(stderr, "06_flash_tiled_cuda: SKIPPED: --kernel %s does not know %s\n", kernel->name,
            lacks);
    exit(EXIT_SKIPPED);
}
