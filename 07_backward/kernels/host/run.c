#include "07_backward/kernels/host/run.h"

#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "common/cuda/cpu.h"
#include "common/lab/copies.h"

#include <math.h>

// ---- one run ------------------------------------------------------------------------------------

static void load_inputs(struct backward_arrays *a, const struct device *device,
                        const struct attention *p, struct tensors x)
{
    const enum dtype type = p->dtype;
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    if (type == DTYPE_F32) {
        a->Q = device_copy(device, x.Q, queries * sizeof(float), "Q");
        a->K = device_copy(device, x.K, keys * sizeof(float), "K");
        a->V = device_copy(device, x.V, keys * sizeof(float), "V");
        a->O = device_copy(device, x.O, queries * sizeof(float), "O");
        a->dO = device_copy(device, x.dO, queries * sizeof(float), "dO");
    } else {
        a->Q16 = device_copy_rounded(device, x.Q, queries, type, "Q");
        a->K16 = device_copy_rounded(device, x.K, keys, type, "K");
        a->V16 = device_copy_rounded(device, x.V, keys, type, "V");
        a->O16 = device_copy_rounded(device, x.O, queries, type, "O");
        a->dO16 = device_copy_rounded(device, x.dO, queries, type, "dO");
    }
}

struct on_device cuda_load(const struct step *kernel, const struct device *device,
                           const struct attention *p, struct tensors x)
{
    struct on_device l = { .device = device, .kernel = kernel, .p = *p };
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t rows = attention_rows(p), size = sizeof(float);
    struct backward_arrays *const a = &l.arrays;
    load_inputs(a, device, p, x);
    a->lse = device_copy(device, x.lse, rows * size, "lse");
    a->D = device_poisoned(device, rows, sizeof *a->D, "D");
    if (kernel->stores & STORES_SUMS) {
        a->dQ = device_poisoned(device, queries, sizeof *a->dQ, "sums");
        a->dQ16 = device_poisoned(device, queries, sizeof *a->dQ16, "dQ");
        a->dK16 = device_poisoned(device, keys, sizeof *a->dK16, "dK");
        a->dV16 = device_poisoned(device, keys, sizeof *a->dV16, "dV");
    } else {
        a->dQ = device_poisoned(device, queries, sizeof *a->dQ, "dQ");
        a->dK = device_poisoned(device, keys, sizeof *a->dK, "dK");
        a->dV = device_poisoned(device, keys, sizeof *a->dV, "dV");
    }
    if (kernel->stores & STORES_SCORES) {
        a->P = device_room(device, rows * p->Nk * size, "P");
        a->dS = device_room(device, rows * p->Nk * size, "dS");
    }
    if (kernel->stores & STORES_COUNTERS)
        a->turns = device_room_uncounted(device, turn_count(p) * sizeof *a->turns, "turns");
    device_copy_masks(device, &l.p);
    return l;
}

void cuda_launch(const struct on_device *l)
{
    l->kernel->runs->on[l->device->build](&l->p, &l->arrays, l->stream);
}

void cuda_download(const struct on_device *l, struct tensors x)
{
    const struct backward_arrays *a = &l->arrays;
    const size_t queries = attention_query_elements(&l->p), keys = attention_key_elements(&l->p);
    if (l->kernel->stores & STORES_SUMS) {
        device_download_16(l->device, x.dQ, a->dQ16, queries, l->p.dtype);
        device_download_16(l->device, x.dK, a->dK16, keys, l->p.dtype);
        device_download_16(l->device, x.dV, a->dV16, keys, l->p.dtype);
    } else {
        device_download(l->device, x.dQ, a->dQ, queries * sizeof *x.dQ);
        device_download(l->device, x.dK, a->dK, keys * sizeof *x.dK);
        device_download(l->device, x.dV, a->dV, keys * sizeof *x.dV);
    }
}

void cuda_unload(struct on_device *l)
{
    const struct backward_arrays *a = &l->arrays;
    const void *const arrays[] = { a->Q,     a->K,          a->V,           a->O,    a->dO,
                                   a->lse,   a->dQ,         a->dK,          a->dV,   a->D,
                                   a->P,     a->dS,         a->Q16,         a->K16,  a->V16,
                                   a->O16,   a->dO16,       a->dQ16,        a->dK16, a->dV16,
                                   a->turns, l->p.key_mask, l->p.block_mask };
    device_release_all(l->device, arrays, sizeof arrays / sizeof arrays[0]);
    l->arrays = (struct backward_arrays){ 0 };
}

static void run(const struct step *kernel, const struct device *device, cudaStream_t stream,
                const struct attention *p, struct tensors x)
{
    struct on_device l = cuda_load(kernel, device, p, x);
    l.stream = stream;
    cuda_launch(&l);
    cuda_download(&l, x);
    cuda_unload(&l);
}

void cuda_step(const struct step *kernel, const struct attention *p, struct tensors x)
{
    run(kernel, device_current(), device_stream(), p, x);
}

struct result cuda_run(const struct step *kernel, const struct device *device,
                       const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const struct tensors x = outputs_new(p, lab->x);
    run(kernel, device, NULL, p, x);
    return (struct result){ { x.dQ, x.dK, x.dV }, step_stored(kernel, p) };
}

DECLARE_LAUNCHERS(kernel_launcher, complete)

/* Chapter 06's default for complete. */
static struct tile_size tile_of_forward(const struct attention *p)
{
#define TILE(d, Br, Bc, bands, blocks) { d, Br, Bc },
    static const size_t tiles[][3] = { COMPLETE16_TILES(TILE) };
#undef TILE
    for (size_t k = 0; k < sizeof tiles / sizeof tiles[0]; k++)
        if (tiles[k][0] == p->d)
            return (struct tile_size){ tiles[k][1], tiles[k][2] };
    return (struct tile_size){ 0, 0 };
}

void cuda_forward(const struct device *device, const struct lab *lab)
{
    static const struct step kernel = { .name = "complete", .is_kernel = true };
    static kernel_launcher *const launchers[BUILDS] = LAUNCHERS(complete);
    const struct attention *p = &lab->input.p;
    device_use(device, NULL);
    kernel_run(&kernel, launchers, p, tile_of_forward(p), lab->x);
}

// ---- repeated runs ------------------------------------------------------------------------------

struct cuda_spread cuda_run_again(const struct step *kernel, const struct device *device,
                                  const struct lab *lab, size_t runs)
{
    const struct attention *p = &lab->input.p;
    struct cuda_spread spread = { { 0 }, { 0 } };
    cuda_cpu_threads(1);  // so the drawn order is the real one
    struct result first = cuda_run(kernel, device, lab);
    struct tensors marks = outputs_new(p, lab->x);
    float *const differs[GRADIENTS] = { marks.dQ, marks.dK, marks.dV };
    for (size_t k = 0; k < runs; k++) {
        cuda_cpu_schedule(CUDA_RANDOM, k + 1);
        struct result again = cuda_run(kernel, device, lab);
        for (size_t g = 0; g < GRADIENTS; g++) {
            const size_t n = g == DQ ? attention_query_elements(p) : attention_key_elements(p);
            for (size_t e = 0; e < n; e++) {
                const double off = fabs((double)again.of[g][e] - (double)first.of[g][e]);
                const bool before = k > 0 && differs[g][e] == 1.0f;
                differs[g][e] = before || off > 0.0 ? 1.0f : 0.0f;
                spread.elements[g] += !before && off > 0.0;
                spread.most[g] = fmax(spread.most[g], off);
            }
        }
        result_free(&again);
    }
    cuda_cpu_schedule(CUDA_ASCENDING, 0);
    cuda_cpu_threads(0);
    outputs_free(&marks);
    result_free(&first);
    return spread;
}
