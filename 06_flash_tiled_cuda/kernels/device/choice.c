#include "06_flash_tiled_cuda/kernels/device/choice.h"

#include <stdio.h>
#include <string.h>

enum { HOPPER = 90 };  // its kernels run on no other GPU, not even on later ones

static int capability_of(const struct device_facts *facts)
{
    return 10 * facts->major + facts->minor;
}

const char *device_unsupported(const struct device *device, enum dtype type)
{
    static char text[200];
    struct device_facts facts;
    if (type == DTYPE_F32 || device->build != BUILD_GPU)
        return NULL;
    device->facts(&facts);
    const int wanted = type == DTYPE_F16 ? 75 : 80;
    if (capability_of(&facts) >= wanted)
        return NULL;
    snprintf(text, sizeof text,
             "--dtype %s needs a GPU of compute capability %d.%d or later, and %s has %d.%d",
             dtype_name(type), wanted / 10, wanted % 10, facts.name, facts.major, facts.minor);
    return text;
}

int step_capability(const struct step *kernel, enum dtype type)
{
    if (kernel->compute_capability)
        return kernel->compute_capability;
    return type == DTYPE_F32 ? 75 : 80;
}

static const char *wrong_device(const struct step *kernel, enum dtype type,
                                const struct device *device)
{
    static char text[180];
    const int wanted = step_capability(kernel, type);
    struct device_facts facts;
    if (device->build != BUILD_GPU)
        return NULL;
    device->facts(&facts);
    const int has = capability_of(&facts);
    if (wanted == HOPPER ? has == wanted : has >= wanted)
        return NULL;
    snprintf(text, sizeof text, "%s, of compute capability %d.%d (it is for %d.%d%s)", facts.name,
             facts.major, facts.minor, wanted / 10, wanted % 10,
             wanted == HOPPER ? "" : " or later");
    return text;
}

const char *step_wrong_device(const struct step *kernel, const struct device *device)
{
    const bool float32 = step_takes_type(kernel, DTYPE_F32);
    return wrong_device(kernel, float32 ? DTYPE_F32 : DTYPE_F16, device);
}

const char *step_unsupported_here(const struct step *kernel, const struct attention *p)
{
    if (options_excluded(kernel->name))
        return "an excluded kernel";
    const char *const unsupported = step_unsupported(kernel, p);
    return unsupported ? unsupported : wrong_device(kernel, p->dtype, device_current());
}

const struct device *device_among(const struct options *o, const struct device *gpu,
                                  const char *why_none)
{
    if (o->device && strcmp(o->device, "cpu") == 0)
        return &device_cpu;
    const char *const unsupported = gpu ? device_unsupported(gpu, o->dtype) : NULL;
    if (gpu && !unsupported)
        return gpu;
    if (!o->device || strcmp(o->device, "gpu") != 0)
        return &device_cpu;
    if (unsupported)
        options_skip("%s", unsupported);
    options_skip("no GPU (%s)", why_none);
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

const struct device *device_for(const struct step *kernel, const struct device *chosen,
                                const struct options *o)
{
    const char *const wrong = wrong_device(kernel, o->dtype, chosen);
    if (!wrong)
        return chosen;
    if (o->device && strcmp(o->device, "gpu") == 0)
        options_skip("--step %s is not for %s", kernel->name, wrong);
    return &device_cpu;
}

size_t tile_bytes(const struct kernel_tile *tile)
{
    return (tile->Br + 4 * tile->Bc) * tile->d * sizeof(uint16_t);
}

bool device_holds(const struct device *device, const struct kernel_tile *tile)
{
    struct device_facts facts;
    device->facts(&facts);
    return tile_bytes(tile) <= facts.shared_at_most;
}
