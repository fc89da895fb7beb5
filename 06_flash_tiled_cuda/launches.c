#include "launches.h"

#include "kernels/queue.h"
#include "kernels/tiles.h"
#include "memory.h"
#include "tolerance.h"

#include <stdlib.h>

/* A copy of an array in the device's memory; NULL of NULL. Masks have no name: they are not counted. */
static void *copy_of(const struct device *device, const void *host, size_t bytes, const char *name)
{
    if (!host)
        return NULL;
    void *array = device->allocate(bytes, name);
    device->upload(array, host, bytes);
    return array;
}

static float *poisoned(const struct device *device, size_t n, const char *name)
{
    float *poison = allocate(n, sizeof *poison, name);
    tolerance_poison(poison, n);
    float *array = copy_of(device, poison, n * sizeof *poison, name);
    free(poison);
    return array;
}

/* A copy of numbers rounded to 16 bits. */
static void *narrow_copy_of(const struct device *device, const float *host, size_t n,
                            enum dtype type, const char *name)
{
    uint16_t *narrow = allocate(n, sizeof *narrow, name);
    for (size_t k = 0; k < n; k++)
        narrow[k] = dtype_bits(type, host[k]);
    void *array = copy_of(device, narrow, n * sizeof *narrow, name);
    free(narrow);
    return array;
}

/* A NaN that no kernel makes: in either type of 16 bits. */
static const uint16_t NARROW_POISON = 0x7fde;

static uint16_t *narrow_poisoned(const struct device *device, size_t n, const char *name)
{
    uint16_t *poison = allocate(n, sizeof *poison, name);
    for (size_t k = 0; k < n; k++)
        poison[k] = NARROW_POISON;
    uint16_t *array = copy_of(device, poison, n * sizeof *poison, name);
    free(poison);
    return array;
}

static size_t blocks_of(size_t n, size_t size)
{
    return (n - 1) / size + 1;
}

void kernel_take(struct loaded *l, const struct kernel *kernel, const struct attention_input *input)
{
    const struct shape shape = kernel_shape_of(kernel, input);
    l->kernel = kernel;
    l->arrays.Br = shape.Br;
    l->arrays.Bc = shape.Bc;
}

struct loaded kernel_load_for(const struct kernel *const *some, size_t count,
                              const struct device *device, const struct attention_input *input)
{
    struct loaded l = { .device = device, .p = input->p };
    struct attention *p = &l.p;
    const size_t n = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t rows = attention_rows(p), size = sizeof(float);
    if (p->dtype == DTYPE_F32) {
        l.arrays.Q = copy_of(device, input->Q, n * size, "Q");
        l.arrays.K = copy_of(device, input->K, keys * size, "K");
        l.arrays.V = copy_of(device, input->V, keys * size, "V");
        l.arrays.O = poisoned(device, n, "O");
    } else {
        l.arrays.Q16 = narrow_copy_of(device, input->Q, n, p->dtype, "Q");
        l.arrays.K16 = narrow_copy_of(device, input->K, keys, p->dtype, "K");
        l.arrays.V16 = narrow_copy_of(device, input->V, keys, p->dtype, "V");
        l.arrays.O16 = narrow_poisoned(device, n, "O");
    }
    l.arrays.lse = poisoned(device, rows, "lse");
    bool scores = false, statistics = false, counter = false;
    for (size_t k = 0; k < count; k++) {
        scores = scores || some[k]->scores;
        statistics = statistics || some[k]->statistics;
        counter = counter || some[k]->stays;
    }
    if (scores) {
        l.arrays.S = device->allocate(rows * p->Nk * size, "S");
        l.arrays.P = device->allocate(rows * p->Nk * size, "P");
    }
    if (statistics) {
        l.arrays.m = device->allocate(rows * size, "m");
        l.arrays.l = device->allocate(rows * size, "l");
    }
    if (counter)
        l.arrays.next = device->allocate(sizeof *l.arrays.next, NULL);
    p->key_mask = copy_of(device, p->key_mask, p->B * p->Nk, NULL);
    if (p->block_mask)
        p->block_mask =
            copy_of(device, p->block_mask,
                    blocks_of(p->Nq, p->mask_rows) * blocks_of(p->Nk, p->mask_cols), NULL);
    kernel_take(&l, some[0], input);
    return l;
}

struct loaded kernel_load(const struct kernel *kernel, const struct device *device,
                          const struct attention_input *input)
{
    return kernel_load_for(&kernel, 1, device, input);
}

void kernel_launch(const struct loaded *l)
{
    l->device->launch[l->kernel - kernels](&l->p, &l->arrays);
}

static void release(const struct device *device, const void *array)
{
    if (array)
        device->release((void *)array);
}

void kernel_unload(struct loaded *l)
{
    const void *const arrays[] = { l->arrays.Q,   l->arrays.K,    l->arrays.V,   l->arrays.O,
                                   l->arrays.lse, l->arrays.S,    l->arrays.P,   l->arrays.m,
                                   l->arrays.l,   l->arrays.Q16,  l->arrays.K16, l->arrays.V16,
                                   l->arrays.O16, l->arrays.next, l->p.key_mask, l->p.block_mask };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        release(l->device, arrays[k]);
    l->arrays = (struct device_arrays){ 0 };
}

void kernel_output(const struct loaded *l, float *O)
{
    const size_t n = attention_query_elements(&l->p);
    if (l->p.dtype == DTYPE_F32) {
        l->device->download(O, l->arrays.O, n * sizeof *O);
        return;
    }
    uint16_t *narrow = allocate(n, sizeof *narrow, "O");
    l->device->download(narrow, l->arrays.O16, n * sizeof *narrow);
    for (size_t k = 0; k < n; k++)
        if (narrow[k] == NARROW_POISON)
            tolerance_poison(&O[k], 1);
        else
            O[k] = dtype_number(l->p.dtype, narrow[k]);
    free(narrow);
}

size_t kernel_blocks(const struct kernel *kernel, struct shape shape, const struct device *device)
{
    struct device_facts facts;
    device->facts(&facts);
    const size_t most = (size_t)facts.processors;
    return kernel->stays && most < shape.blocks ? most : shape.blocks;
}

bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0)
{
    if (n >= queue_length(p, TENSOR_BR))
        return false;
    const struct queued tile = queue_at(p, TENSOR_BR, (unsigned)n);
    *head = tile.head;
    *i0 = tile.i0;
    return true;
}
