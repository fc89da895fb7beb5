#include "06_flash_tiled_cuda/kernels/device/copies.h"

#include "common/cpu/memory.h"
#include "common/problem/block_mask.h"

#include <stdlib.h>

/* A NaN that no kernel makes: in either type of 16 bits. */
static const uint16_t POISON_16 = 0x7fde;

void *device_copy(const struct device *device, const void *host, size_t bytes, const char *name)
{
    if (!host)
        return NULL;
    void *array = device->allocate(bytes, name);
    device->upload(array, host, bytes);
    return array;
}

uint16_t *device_copy_rounded(const struct device *device, const float *host, size_t n,
                              enum dtype type, const char *name)
{
    uint16_t *rounded = allocate(n, sizeof *rounded, name);
    for (size_t k = 0; k < n; k++)
        rounded[k] = dtype_bits(type, host[k]);
    uint16_t *array = device_copy(device, rounded, n * sizeof *rounded, name);
    free(rounded);
    return array;
}

float *device_poisoned(const struct device *device, size_t n, const char *name)
{
    float *poison = allocate(n, sizeof *poison, name);
    poison_fill(poison, n);
    float *array = device_copy(device, poison, n * sizeof *poison, name);
    free(poison);
    return array;
}

uint16_t *device_poisoned_16(const struct device *device, size_t n, const char *name)
{
    uint16_t *poison = allocate(n, sizeof *poison, name);
    for (size_t k = 0; k < n; k++)
        poison[k] = POISON_16;
    uint16_t *array = device_copy(device, poison, n * sizeof *poison, name);
    free(poison);
    return array;
}

void device_download_16(const struct device *device, float *host, const uint16_t *array, size_t n,
                        enum dtype type)
{
    uint16_t *numbers = allocate(n, sizeof *numbers, "numbers");
    device->download(numbers, array, n * sizeof *numbers);
    for (size_t k = 0; k < n; k++)
        if (numbers[k] == POISON_16)
            poison_fill(&host[k], 1);
        else
            host[k] = dtype_number(type, numbers[k]);
    free(numbers);
}

void device_copy_masks(const struct device *device, struct attention *p)
{
    p->key_mask = device_copy(device, p->key_mask, p->B * p->Nk, NULL);
    if (p->block_mask)
        p->block_mask =
            device_copy(device, p->block_mask, block_mask_rows(p) * block_mask_columns(p), NULL);
}

void device_release_all(const struct device *device, const void *const *arrays, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (arrays[k])
            device->release((void *)arrays[k]);
}
