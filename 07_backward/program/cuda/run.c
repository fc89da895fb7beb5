#include "07_backward/program/cuda/run.h"

#include "06_flash_tiled_cuda/kernels/device/copies.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "common/cuda/cpu.h"
#include "common/program/attention_report.h"

#include <math.h>
#include <stdlib.h>

// ---- arrays -------------------------------------------------------------------------------------

/* What a backward pass reads, in the type that its kernels want. */
static void load_inputs(struct backward_arrays *a, const struct device *machine,
                        const struct layer *layer)
{
    const struct attention_input *in = &layer->input;
    const enum dtype type = in->p.dtype;
    const size_t queries = attention_query_elements(&in->p), keys = attention_key_elements(&in->p);
    if (type == DTYPE_F32) {
        a->Q = device_copy(machine, in->Q, queries * sizeof(float), "Q");
        a->K = device_copy(machine, in->K, keys * sizeof(float), "K");
        a->V = device_copy(machine, in->V, keys * sizeof(float), "V");
        a->O = device_copy(machine, layer->kept.O, queries * sizeof(float), "O");
        a->dO = device_copy(machine, layer->dO, queries * sizeof(float), "dO");
    } else {
        a->Q16 = device_copy_rounded(machine, in->Q, queries, type, "Q");
        a->K16 = device_copy_rounded(machine, in->K, keys, type, "K");
        a->V16 = device_copy_rounded(machine, in->V, keys, type, "V");
        a->O16 = device_copy_rounded(machine, layer->kept.O, queries, type, "O");
        a->dO16 = device_copy_rounded(machine, layer->dO, queries, type, "dO");
    }
}

struct cuda_loaded cuda_load(const struct cuda_kernel *kernel, const struct backward_device *device,
                             const struct layer *layer)
{
    struct cuda_loaded l = { .device = device, .kernel = kernel, .p = layer->input.p };
    const struct device *machine = device->machine;
    const size_t queries = attention_query_elements(&l.p), keys = attention_key_elements(&l.p);
    const size_t rows = attention_rows(&l.p), size = sizeof(float);
    l.arrays = (struct backward_arrays){
        .lse = device_copy(machine, layer->kept.lse, rows * size, "lse"),
        .dQ = device_poisoned(machine, queries, "dQ"),
        .dK = device_poisoned(machine, keys, "dK"),
        .dV = device_poisoned(machine, keys, "dV"),
        .D = device_poisoned(machine, rows, "D"),
    };
    load_inputs(&l.arrays, machine, layer);
    if (kernel->whole) {
        l.arrays.P = machine->allocate(rows * l.p.Nk * size, "P");
        l.arrays.dS = machine->allocate(rows * l.p.Nk * size, "dS");
    }
    if (kernel->turns)
        l.arrays.turns = machine->allocate(turns_of(&l.p) * sizeof *l.arrays.turns, NULL);
    device_copy_masks(machine, &l.p);
    return l;
}

void cuda_launch(const struct cuda_loaded *l)
{
    l->device->launch[l->kernel - cuda_kernels](&l->p, &l->arrays);
}

void cuda_unload(struct cuda_loaded *l)
{
    const struct backward_arrays *a = &l->arrays;
    const void *const arrays[] = { a->Q,   a->K,    a->V,     a->O,          a->dO,
                                   a->lse, a->dQ,   a->dK,    a->dV,         a->D,
                                   a->P,   a->dS,   a->Q16,   a->K16,        a->V16,
                                   a->O16, a->dO16, a->turns, l->p.key_mask, l->p.block_mask };
    device_release_all(l->device->machine, arrays, sizeof arrays / sizeof arrays[0]);
    l->arrays = (struct backward_arrays){ 0 };
}

struct result cuda_run(const struct cuda_kernel *kernel, const struct backward_device *device,
                       const struct layer *layer)
{
    const size_t queries = attention_query_elements(&layer->input.p) * sizeof(float);
    const size_t keys = attention_key_elements(&layer->input.p) * sizeof(float);
    struct result r = result_new(&layer->input.p);
    struct cuda_loaded l = cuda_load(kernel, device, layer);
    cuda_launch(&l);
    device->machine->download(r.of[DQ], l.arrays.dQ, queries);
    device->machine->download(r.of[DK], l.arrays.dK, keys);
    device->machine->download(r.of[DV], l.arrays.dV, keys);
    cuda_unload(&l);
    return r;
}

/* Q, K, V and room for O, in the type that chapter 06's complete wants, and the tile that it takes if nobody asks. */
static struct device_arrays load_forward(const struct device *machine,
                                         const struct attention_input *in)
{
#define TILE(d, Br, Bc, bands, blocks) { d, Br, Bc },
    static const size_t tiles[][3] = { COMPLETE16_TILES(TILE) };
#undef TILE
    const struct attention *p = &in->p;
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    struct device_arrays a = { .lse = machine->allocate(attention_rows(p) * sizeof(float), "lse") };
    if (p->dtype == DTYPE_F32) {
        a.Q = device_copy(machine, in->Q, queries * sizeof(float), "Q");
        a.K = device_copy(machine, in->K, keys * sizeof(float), "K");
        a.V = device_copy(machine, in->V, keys * sizeof(float), "V");
        a.O = machine->allocate(queries * sizeof(float), "O");
        return a;
    }
    a.Q16 = device_copy_rounded(machine, in->Q, queries, p->dtype, "Q");
    a.K16 = device_copy_rounded(machine, in->K, keys, p->dtype, "K");
    a.V16 = device_copy_rounded(machine, in->V, keys, p->dtype, "V");
    a.O16 = machine->allocate(queries * sizeof *a.O16, "O");
    size_t k = 0;
    while (tiles[k][0] != p->d && k + 1 < sizeof tiles / sizeof tiles[0])
        k++;  // past the last there is none: the launcher aborts then
    a.Br = tiles[k][1];
    a.Bc = tiles[k][2];
    return a;
}

/* O of a device's forward pass, as float32. */
static void download_output(float *O, const struct device *machine, const struct device_arrays *a,
                            size_t n, enum dtype type)
{
    if (type == DTYPE_F32)
        machine->download(O, a->O, n * sizeof *O);
    else
        device_download_16(machine, O, a->O16, n, type);
}

void cuda_forward(const struct backward_device *device, const struct layer *layer)
{
    const struct device *machine = device->machine;
    struct attention p = layer->input.p;
    const struct device_arrays a = load_forward(machine, &layer->input);
    device_copy_masks(machine, &p);
    device->forward(&p, &a);
    download_output(layer->kept.O, machine, &a, attention_query_elements(&p), p.dtype);
    machine->download(layer->kept.lse, a.lse, attention_rows(&p) * sizeof(float));
    const void *const all[] = { a.Q,   a.K,   a.V,   a.O,        a.lse,       a.Q16,
                                a.K16, a.V16, a.O16, p.key_mask, p.block_mask };
    device_release_all(machine, all, sizeof all / sizeof all[0]);
}

// ---- again and again ----------------------------------------------------------------------------

struct cuda_spread cuda_run_again(const struct cuda_kernel *kernel,
                                  const struct backward_device *device, const struct layer *layer,
                                  size_t runs)
{
    const struct attention *p = &layer->input.p;
    struct cuda_spread spread = { { 0 }, { 0 } };
    cuda_cpu_threads(1);  // so that the order drawn is the order there is
    struct result first = cuda_run(kernel, device, layer), differs = result_new(p);
    for (size_t k = 0; k < runs; k++) {
        cuda_cpu_schedule(CUDA_RANDOM, k + 1);
        struct result again = cuda_run(kernel, device, layer);
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

struct cuda_verdict cuda_check(const struct cuda_kernel *kernel,
                               const struct backward_device *device, const struct layer *layer,
                               const struct gradient_check *check, const struct result *r,
                               bool tell)
{
    const struct step *complete = &steps[COMPLETE];
    const struct cuda_kernel *earlier = cuda_kernel_before(kernel, &layer->input.p, device);
    struct result on_cpu = step_run(complete, layer, complete->usual);
    const struct attention_errors other =
        tell && !earlier ? gradient_check_report(check, r->of, complete->name, on_cpu.of)
                         : gradient_check_errors(check, r->of, on_cpu.of);
    struct cuda_verdict v = { other, complete->name, other.previous, other.right };
    result_free(&on_cpu);
    if (!earlier)
        return v;
    struct result before = cuda_run(earlier, device, layer);
    v.errors = tell ? gradient_check_report(check, r->of, earlier->name, before.of)
                    : gradient_check_errors(check, r->of, before.of);
    v.before = earlier->name;
    v.right &= v.errors.right;
    result_free(&before);
    if (tell)
        report_line("complete, on the CPU, is at most %.1e off", v.from_complete);
    return v;
}
