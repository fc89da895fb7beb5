#include "common/lab/device.h"

#include "common/program/step.h"

#include <stdio.h>

static const struct device *current;
static cudaStream_t current_stream;

void device_use(const struct device *device, cudaStream_t stream)
{
    current = device;
    current_stream = stream;
}

const struct device *device_current(void)
{
    return current;
}

cudaStream_t device_stream(void)
{
    return current_stream;
}

const char *device_text(const struct device *device)
{
    static char text[140];
    struct device_facts facts;
    if (device->build != BUILD_GPU)
        return "on the CPU, standing in for a GPU";
    device->facts(&facts);
    snprintf(text, sizeof text, "on a GPU: %s", facts.name);
    return text;
}

size_t step_blocks(const struct step *kernel, size_t blocks, const struct device *device)
{
    struct device_facts facts;
    device->facts(&facts);
    const size_t most = (size_t)facts.processors;
    return kernel->stores & STORES_COUNTERS && most < blocks ? most : blocks;
}
