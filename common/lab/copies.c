#include "common/lab/copies.h"

#include "common/cpu/memory.h"
#include "common/problem/block_mask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A NaN that no kernel produces, in either 16-bit type. */
static const uint16_t POISON_16 = 0x7fde;

// ---- arrays that are kept -----------------------------------------------------------------------

enum { MOST_KEPT = 400 };
static struct kept {
    size_t copy, bytes;
    const char *name;
    void *array;
} kept[MOST_KEPT];
static size_t keeping, kept_count;

void device_keep(const struct device *device, size_t copy)
{
    keeping = copy;
    while (copy == 0 && kept_count > 0)
        device->release(kept[--kept_count].array);
}

static void *find_kept(const char *name, size_t bytes)
{
    for (size_t k = 0; k < kept_count; k++)
        if (kept[k].copy == keeping && kept[k].bytes == bytes && strcmp(kept[k].name, name) == 0)
            return kept[k].array;
    return NULL;
}

static void *allocate_as(const struct device *device, size_t bytes, const char *name,
                         const char *counted_as)
{
    void *const array = device->allocate(bytes, counted_as);
    if (keeping && kept_count == MOST_KEPT) {
        fprintf(stderr, "device_keep: too many arrays to keep %s\n", name);
        abort();
    }
    if (keeping)
        kept[kept_count++] = (struct kept){ keeping, bytes, name, array };
    return array;
}

// ---- to the device ------------------------------------------------------------------------------

void *device_room(const struct device *device, size_t bytes, const char *name)
{
    void *const array = find_kept(name, bytes);
    return array ? array : allocate_as(device, bytes, name, name);
}

void *device_room_uncounted(const struct device *device, size_t bytes, const char *name)
{
    void *const array = find_kept(name, bytes);
    return array ? array : allocate_as(device, bytes, name, NULL);
}

static void *copy_as(const struct device *device, const void *host, size_t bytes, const char *name,
                     const char *counted_as)
{
    void *array = find_kept(name, bytes);
    if (!host || array)
        return array;
    array = allocate_as(device, bytes, name, counted_as);
    device->upload(array, host, bytes);
    return array;
}

void *device_copy(const struct device *device, const void *host, size_t bytes, const char *name)
{
    return copy_as(device, host, bytes, name, name);
}

uint16_t *device_copy_rounded(const struct device *device, const float *host, size_t n,
                              enum dtype type, const char *name)
{
    uint16_t *array = find_kept(name, n * sizeof(uint16_t));
    if (array)
        return array;
    uint16_t *const rounded = allocate(n, sizeof *rounded, name);
    for (size_t k = 0; k < n; k++)
        rounded[k] = dtype_bits(type, host[k]);
    array = device_copy(device, rounded, n * sizeof *rounded, name);
    free(rounded);
    return array;
}

void *device_poisoned(const struct device *device, size_t n, size_t size, const char *name)
{
    void *array = find_kept(name, n * size);
    if (array)
        return array;
    void *const poison = allocate(n, size, name);
    if (size == sizeof(float))
        poison_fill(poison, n);
    else
        for (size_t k = 0; k < n; k++)
            ((uint16_t *)poison)[k] = POISON_16;
    array = device_copy(device, poison, n * size, name);
    free(poison);
    return array;
}

void device_copy_masks(const struct device *device, struct attention *p)
{
    p->key_mask = copy_as(device, p->key_mask, p->B * p->Nk, "key mask", NULL);
    if (p->block_mask)
        p->block_mask = copy_as(device, p->block_mask, block_mask_rows(p) * block_mask_columns(p),
                                "block mask", NULL);
}

// ---- and back -----------------------------------------------------------------------------------

void device_download(const struct device *device, void *host, const void *array, size_t bytes)
{
    if (!keeping)
        device->download(host, array, bytes);
}

void device_download_16(const struct device *device, float *host, const uint16_t *array, size_t n,
                        enum dtype type)
{
    if (keeping)
        return;
    uint16_t *numbers = allocate(n, sizeof *numbers, "numbers");
    device->download(numbers, array, n * sizeof *numbers);
    for (size_t k = 0; k < n; k++)
        if (numbers[k] == POISON_16)
            poison_fill(&host[k], 1);
        else
            host[k] = dtype_number(type, numbers[k]);
    free(numbers);
}

void device_release_all(const struct device *device, const void *const *arrays, size_t n)
{
    for (size_t k = 0; k < n && !keeping; k++)
        if (arrays[k])
            device->release((void *)arrays[k]);
}
