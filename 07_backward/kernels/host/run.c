#include "07_backward/kernels/host/run.h"

#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "07_backward/program.h"
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/lab/copies.h"
#include "common/program/attention_report.h"

#include <math.h>
#include <stdlib.h>

// ---- arrays -------------------------------------------------------------------------------------

static void load_inputs(struct backward_arrays *a, const struct device *device,
                        const struct lab *lab)
{
    const struct attention_input *in = &lab->input;
    const enum dtype type = in->p.dtype;
    const size_t queries = attention_query_elements(&in->p), keys = attention_key_elements(&in->p);
    if (type == DTYPE_F32) {
        a->Q = device_copy(device, in->Q, queries * sizeof(float), "Q");
        a->K = device_copy(device, in->K, keys * sizeof(float), "K");
        a->V = device_copy(device, in->V, keys * sizeof(float), "V");
        a->O = device_copy(device, lab->x.O, queries * sizeof(float), "O");
        a->dO = device_copy(device, lab->x.dO, queries * sizeof(float), "dO");
    } else {
        a->Q16 = device_copy_rounded(device, in->Q, queries, type, "Q");
        a->K16 = device_copy_rounded(device, in->K, keys, type, "K");
        a->V16 = device_copy_rounded(device, in->V, keys, type, "V");
        a->O16 = device_copy_rounded(device, lab->x.O, queries, type, "O");
        a->dO16 = device_copy_rounded(device, lab->x.dO, queries, type, "dO");
    }
}

struct on_device cuda_load(const struct step *kernel, const struct device *device,
                           const struct lab *lab)
{
    struct on_device l = { .device = device, .kernel = kernel, .p = lab->input.p };
    const size_t queries = attention_query_elements(&l.p), keys = attention_key_elements(&l.p);
    const size_t rows = attention_rows(&l.p), size = sizeof(float);
    const bool sums = kernel->stores & STORES_SUMS;  // names of 16-bit gradients
    l.arrays = (struct backward_arrays){
        .lse = device_copy(device, lab->x.lse, rows * size, "lse"),
        .dQ = device_poisoned(device, queries, sums ? "sums" : "dQ"),
        .dK = device_poisoned(device, keys, sums ? NULL : "dK"),
        .dV = device_poisoned(device, keys, sums ? NULL : "dV"),
        .D = device_poisoned(device, rows, "D"),
    };
    load_inputs(&l.arrays, device, lab);
    if (sums) {
        l.arrays.dQ16 = device_poisoned_16(device, queries, "dQ");
        l.arrays.dK16 = device_poisoned_16(device, keys, "dK");
        l.arrays.dV16 = device_poisoned_16(device, keys, "dV");
    }
    if (kernel->stores & STORES_SCORES) {
        l.arrays.P = device->allocate(rows * l.p.Nk * size, "P");
        l.arrays.dS = device->allocate(rows * l.p.Nk * size, "dS");
    }
    if (kernel->stores & STORES_COUNTERS)
        l.arrays.turns = device->allocate(turn_count(&l.p) * sizeof *l.arrays.turns, NULL);
    device_copy_masks(device, &l.p);
    return l;
}

void cuda_launch(const struct on_device *l)
{
    l->kernel->runs->on[l->device->build](&l->p, &l->arrays, l->stream);
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

static struct result result_new(const struct attention *p)
{
    const struct tensors x = outputs_new(p, (struct tensors){ .dO = &(const float){ 0.0f } });
    return (struct result){ { x.dQ, x.dK, x.dV }, DTYPE_F32 };
}

struct result cuda_download(const struct on_device *l)
{
    const struct backward_arrays *a = &l->arrays;
    const float *const wide[] = { a->dQ, a->dK, a->dV };
    const uint16_t *const narrow[] = { a->dQ16, a->dK16, a->dV16 };
    struct result r = result_new(&l->p);
    r.type = l->kernel->stores & STORES_SUMS ? l->p.dtype : DTYPE_F32;
    for (size_t g = 0; g < GRADIENTS; g++) {
        const size_t n = g == DQ ? attention_query_elements(&l->p) : attention_key_elements(&l->p);
        if (r.type == DTYPE_F32)
            l->device->download(r.of[g], wide[g], n * sizeof(float));
        else
            device_download_16(l->device, r.of[g], narrow[g], n, r.type);
    }
    return r;
}

struct result cuda_run(const struct step *kernel, const struct device *device,
                       const struct lab *lab)
{
    struct on_device l = cuda_load(kernel, device, lab);
    cuda_launch(&l);
    struct result r = cuda_download(&l);
    cuda_unload(&l);
    return r;
}

DECLARE_LAUNCHERS(kernel_launcher, complete)

/* The default tile of chapter 06's complete; in float32 its only one. */
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
    struct result first = cuda_run(kernel, device, lab), differs = result_new(p);
    for (size_t k = 0; k < runs; k++) {
        cuda_cpu_schedule(CUDA_RANDOM, k + 1);
        struct result again = cuda_run(kernel, device, lab);
        for (size_t g = 0; g < GRADIENTS; g++) {
            const size_t n = g == DQ ? attention_query_elements(p) : attention_key_elements(p);
            for (size_t e = 0; e < n; e++) {
                const double off = fabs((double)again.of[g][e] - (double)first.of[g][e]);
                const bool before = k > 0 && differs.of[g][e] == 1.0f;
                differs.of[g][e] = before || off > 0.0 ? 1.0f : 0.0f;
                spread.elements[g] += !before && off > 0.0;
                spread.most[g] = fmax(spread.most[g], off);
            }
        }
        result_free(&again);
    }
    cuda_cpu_schedule(CUDA_ASCENDING, 0);
    cuda_cpu_threads(0);
    result_free(&differs);
    result_free(&first);
    return spread;
}

// ---- comparisons --------------------------------------------------------------------------------

const struct step *cuda_kernel_before(const struct step *kernel, const struct attention *p,
                                      const struct device *device)
{
    while (kernel > cuda_table.steps) {
        kernel--;
        if (!step_unsupported_on(kernel, p, device))
            return kernel;
    }
    return NULL;
}

void cuda_previous_keep(struct cuda_previous *previous, const char *name, struct result *r)
{
    result_free(&previous->result);
    *previous = (struct cuda_previous){ name, *r };
    *r = (struct result){ .of = { NULL } };
}

struct cuda_previous cuda_previous_run(const struct step *kernel, const struct device *device,
                                       const struct lab *lab)
{
    if (!kernel)
        return (struct cuda_previous){ .name = NULL };
    return (struct cuda_previous){ kernel->name, cuda_run(kernel, device, lab) };
}

struct result complete_on_the_cpu(const struct lab *lab)
{
    const struct step *complete = step_named(&table, "complete");
    return backward_run(complete, lab, complete->usual);
}

struct cuda_verdict cuda_check(const struct gradient_check *check,
                               const struct cuda_previous *previous, const struct result *on_cpu,
                               const struct result *r, bool tell)
{
    const char *const complete = "complete";
    struct gradient_check of_type = *check;
    of_type.stored = r->type;
    const struct attention_errors other =
        tell && !previous->name ? gradient_check_report(&of_type, r->of, complete, on_cpu->of)
                                : gradient_check_errors(&of_type, r->of, on_cpu->of);
    struct cuda_verdict v = { other, complete, other.previous, other.right };
    if (!previous->name)
        return v;
    v.errors = tell ? gradient_check_report(&of_type, r->of, previous->name, previous->result.of)
                    : gradient_check_errors(&of_type, r->of, previous->result.of);
    v.before = previous->name;
    v.right &= v.errors.right;
    if (tell)
        report_line("complete, on the CPU, is at most %.1e off", v.from_complete);
    return v;
}

void cuda_report_types(enum dtype type)
{
    if (type != DTYPE_F32)
        report_line("gradients are float32, and those of %s %s", "cuda_store", dtype_name(type));
}
