#include "06_flash_tiled_cuda/kernels/device/run.h"

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/parts/queue.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "common/lab/copies.h"

static struct device_arrays upload(const struct device *device, const struct step *kernel,
                                   const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t rows = attention_rows(p), size = sizeof(float);
    struct device_arrays a = { .Q = NULL };
    if (p->dtype == DTYPE_F32) {
        a.Q = device_copy(device, x.Q, queries * size, "Q");
        a.K = device_copy(device, x.K, keys * size, "K");
        a.V = device_copy(device, x.V, keys * size, "V");
        a.O = device_poisoned(device, queries, sizeof *a.O, "O");
    } else {
        a.Q16 = device_copy_rounded(device, x.Q, queries, p->dtype, "Q");
        a.K16 = device_copy_rounded(device, x.K, keys, p->dtype, "K");
        a.V16 = device_copy_rounded(device, x.V, keys, p->dtype, "V");
        a.O16 = device_poisoned(device, queries, sizeof *a.O16, "O");
    }
    if (x.lse)
        a.lse = device_poisoned(device, rows, sizeof *a.lse, "lse");
    if (kernel->stores & STORES_SCORES) {
        a.S = device_room(device, rows * p->Nk * size, "S");
        a.P = device_room(device, rows * p->Nk * size, "P");
    }
    if (kernel->stores & STORES_STATISTICS) {
        a.m = device_room(device, rows * size, "m");
        a.l = device_room(device, rows * size, "l");
    }
    if (kernel->stores & STORES_COUNTERS)
        a.next = device_room_uncounted(device, sizeof *a.next, "next");
    return a;
}

static void download(const struct device *device, const struct device_arrays *a,
                     const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p);
    if (p->dtype == DTYPE_F32)
        device_download(device, x.O, a->O, queries * sizeof *x.O);
    else
        device_download_16(device, x.O, a->O16, queries, p->dtype);
    if (x.lse)
        device_download(device, x.lse, a->lse, attention_rows(p) * sizeof *x.lse);
}

static void release(const struct device *device, const struct device_arrays *a,
                    const struct attention *p)
{
    const void *const arrays[] = { a->Q,   a->K,    a->V,        a->O,         a->lse, a->S,
                                   a->P,   a->m,    a->l,        a->Q16,       a->K16, a->V16,
                                   a->O16, a->next, p->key_mask, p->block_mask };
    device_release_all(device, arrays, sizeof arrays / sizeof arrays[0]);
}

void kernel_run(const struct step *kernel, kernel_launcher *const launchers[BUILDS],
                const struct attention *p, struct tile_size size, struct tensors x)
{
    const struct device *const device = device_current() ? device_current() : &device_cpu;
    struct device_arrays a = upload(device, kernel, p, x);
    struct attention there = *p;
    device_copy_masks(device, &there);
    a.Br = size.Br;
    a.Bc = size.Bc;
    cuda_cpu_capability(step_capability(kernel, p->dtype));
    launchers[device->build](&there, &a, device_stream());
    download(device, &a, p, x);
    release(device, &a, &there);
}

void kernel_instrumented(attention_step *run, enum cuda_watch watch, const struct attention *p,
                         struct tile_size size, struct tensors x)
{
    const struct device *const usual = device_current();
    device_use(&device_instrumented, NULL);
    cuda_cpu_watch(watch);
    run(p, size, x);
    cuda_cpu_watch(0);
    device_use(usual, NULL);
}

void kernel_observe(const struct lab *lab, enum cuda_watch watch)
{
    struct tensors x = outputs_new(&lab->input.p, lab->x);
    kernel_instrumented(lab->only->run, watch, &lab->input.p, lab->size, x);
    outputs_free(&x);
}

void kernel_timeline(const struct lab *lab)
{
    kernel_observe(lab, CUDA_WATCH_TIMELINE);
    cuda_cpu_print_timeline(lab->only->name, lab->o.timeline);
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
