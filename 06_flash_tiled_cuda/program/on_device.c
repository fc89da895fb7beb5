#include "06_flash_tiled_cuda/program/on_device.h"

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/device/copies.h"
#include "06_flash_tiled_cuda/kernels/parts/queue.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "common/cuda/cpu.h"

void kernel_take(struct on_device *l, const struct step *kernel,
                 const struct attention_input *input)
{
    const struct kernel_shape shape = kernel_shape_of(kernel, input);
    l->kernel = kernel;
    l->arrays.Br = shape.Br;
    l->arrays.Bc = shape.Bc;
}

struct on_device kernel_load_for(const struct step *const *some, size_t count,
                                 const struct device *device, const struct attention_input *input)
{
    struct on_device l = { .device = device, .p = input->p };
    struct attention *p = &l.p;
    const size_t n = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t rows = attention_rows(p), size = sizeof(float);
    if (p->dtype == DTYPE_F32) {
        l.arrays.Q = device_copy(device, input->Q, n * size, "Q");
        l.arrays.K = device_copy(device, input->K, keys * size, "K");
        l.arrays.V = device_copy(device, input->V, keys * size, "V");
        l.arrays.O = device_poisoned(device, n, "O");
    } else {
        l.arrays.Q16 = device_copy_rounded(device, input->Q, n, p->dtype, "Q");
        l.arrays.K16 = device_copy_rounded(device, input->K, keys, p->dtype, "K");
        l.arrays.V16 = device_copy_rounded(device, input->V, keys, p->dtype, "V");
        l.arrays.O16 = device_poisoned_16(device, n, "O");
    }
    l.arrays.lse = device_poisoned(device, rows, "lse");
    unsigned stores = 0;
    for (size_t k = 0; k < count; k++) {
        stores |= some[k]->stores;
    }
    if (stores & STORES_SCORES) {
        l.arrays.S = device->allocate(rows * p->Nk * size, "S");
        l.arrays.P = device->allocate(rows * p->Nk * size, "P");
    }
    if (stores & STORES_STATISTICS) {
        l.arrays.m = device->allocate(rows * size, "m");
        l.arrays.l = device->allocate(rows * size, "l");
    }
    if (stores & STORES_COUNTERS)
        l.arrays.next = device->allocate(sizeof *l.arrays.next, NULL);
    device_copy_masks(device, p);
    kernel_take(&l, some[0], input);
    return l;
}

struct on_device kernel_load(const struct step *kernel, const struct device *device,
                             const struct attention_input *input)
{
    return kernel_load_for(&kernel, 1, device, input);
}

void kernel_launch(const struct on_device *l)
{
    cuda_cpu_capability(step_capability(l->kernel, l->p.dtype));
    l->kernel->runs->on[l->device->build](&l->p, &l->arrays, l->stream);
}

void kernel_unload(struct on_device *l)
{
    const void *const arrays[] = { l->arrays.Q,   l->arrays.K,    l->arrays.V,   l->arrays.O,
                                   l->arrays.lse, l->arrays.S,    l->arrays.P,   l->arrays.m,
                                   l->arrays.l,   l->arrays.Q16,  l->arrays.K16, l->arrays.V16,
                                   l->arrays.O16, l->arrays.next, l->p.key_mask, l->p.block_mask };
    device_release_all(l->device, arrays, sizeof arrays / sizeof arrays[0]);
    l->arrays = (struct device_arrays){ 0 };
}

void kernel_output(const struct on_device *l, float *O)
{
    const size_t n = attention_query_elements(&l->p);
    if (l->p.dtype == DTYPE_F32)
        l->device->download(O, l->arrays.O, n * sizeof *O);
    else
        device_download_16(l->device, O, l->arrays.O16, n, l->p.dtype);
}

size_t kernel_blocks(const struct step *kernel, struct kernel_shape shape,
                     const struct device *device)
{
    struct device_facts facts;
    device->facts(&facts);
    const size_t most = (size_t)facts.processors;
    return kernel->stores & STORES_COUNTERS && most < shape.blocks ? most : shape.blocks;
}

bool device_holds(const struct device *device, const struct kernel_tile *tile)
{
    struct device_facts facts;
    device->facts(&facts);
    return tile_bytes(tile) <= facts.shared_at_most;
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
