/* Named cuda_…, because steps in C have the same names. */
#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "07_backward/kernels/host/run.h"
#include "07_backward/program.h"

/* Defines run_NAME and watch_NAME for the kernel cuda_NAME. */
#define KERNEL(name)                                                                             \
    DECLARE_LAUNCHERS(backward_launcher, backward_##name)                                        \
    static void run_##name(const struct attention *p, struct tile_size size, struct tensors x)   \
    {                                                                                            \
        (void)size;                                                                              \
        cuda_step(cuda_named("cuda_" #name), p, x);                                              \
    }                                                                                            \
    static void watch_##name(const struct attention *p, struct tile_size size, struct tensors x) \
    {                                                                                            \
        kernel_instrumented(run_##name, CUDA_WATCH_TRAFFIC, p, size, x);                         \
    }
// clang-format off
KERNEL(standard)
KERNEL(recompute)
KERNEL(deterministic)
KERNEL(mma_split)
KERNEL(mma)
KERNEL(wgmma)
KERNEL(bulk)
KERNEL(roles)
KERNEL(store)
KERNEL(ordered)
KERNEL(complete)
// clang-format on

#define RUNS(name)                                                                   \
    .is_kernel = true, .run = run_##name, .watched = watch_##name, .stored = stored, \
    .runs = &(const struct runs)                                                     \
    {                                                                                \
        LAUNCHERS(backward_##name)                                                   \
    }

/* Bytes stored in full besides gradients. */
static size_t stored(const struct step *kernel, const struct attention *p)
{
    const unsigned stores = kernel->stores;
    return sizeof(float) * attention_rows(p) * (stores & STORES_SCORES ? 2 * p->Nk : 1) +
           (stores & STORES_COUNTERS ? turn_count(p) * sizeof(unsigned) : 0) +
           (stores & STORES_SUMS ? dQ_bytes(p) : 0);
}

static const struct step rows[] = {
    {
        .name = "cuda_standard",
        .idea = "P and dS stored in global memory",
        RUNS(standard),
        .formula = "(10 d + 11) / pair + …",
        .predict = predict_cuda_standard,
        .f32 = { .most = 128 },
        .supports = SUPPORTS_CAUSAL,
        .stores = STORES_SCORES,
    },
    {
        .name = "cuda_recompute",
        .idea = "P from lse, dQ by atomic additions",
        RUNS(recompute),
        .formula = "5 Tc Nq d + 3 Tr Nk d + …",
        .predict = predict_cuda_recompute,
        .f32 = { .most = 128 },
        .supports = SUPPORTS_CAUSAL,
        .any_order = true,
    },
    {
        .name = "cuda_deterministic",
        .idea = "two kernels, the same bits every time",
        RUNS(deterministic),
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
        .predict = predict_cuda_deterministic,
        .f32 = { .most = 128 },
        .supports = SUPPORTS_CAUSAL,
    },
    {
        .name = "cuda_mma_split",
        .idea = "deterministic on tensor cores, in 16 bits",
        RUNS(mma_split),
        .formula = "Tc Nq d + Tr Nk d + …",
        .predict = predict_cuda_mma_split,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL,
    },
    {
        .name = "cuda_mma",
        .idea = "… in one kernel, dS through shared memory",
        RUNS(mma),
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_mma,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL,
        .any_order = true,
    },
    {
        .name = "cuda_wgmma",
        .idea = "Hopper: TMA copies and warpgroup MMA",
        RUNS(wgmma),
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_boxes,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
        .compute_capability = 90,
        .any_order = true,
    },
    {
        .name = "cuda_bulk",
        .idea = "… and bulk additions to dQ, four boxes a tile",
        RUNS(bulk),
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_boxes,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
        .compute_capability = 90,
        .any_order = true,
    },
    {
        .name = "cuda_roles",
        .idea = "… and warps with roles, one barrier a round",
        RUNS(roles),
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_boxes,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
        .compute_capability = 90,
        .any_order = true,
    },
    {
        .name = "cuda_store",
        .idea = "… and gradients in 16 bits, stored by TMA",
        RUNS(store),
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_store,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
        .stores = STORES_SUMS,
        .compute_capability = 90,
        .any_order = true,
    },
    {
        .name = "cuda_ordered",
        .idea = "roles in a fixed order: the same bits every time",
        RUNS(ordered),
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_boxes,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
        .stores = STORES_COUNTERS,
        .compute_capability = 90,
    },
    {
        .name = "cuda_complete",
        .idea = "every option but --softcap",
        RUNS(complete),
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
        .formula_16 = "Tc Nq d + Tr Nk d + …",
        .predict = predict_cuda_complete,
        .f32 = { .most = 128 },
        .f16 = { .only = { 32, 64, 96, 128, 256 } },
        .supports = SUPPORTS_EVERYTHING,
    },
};

const struct step_table cuda_table = { rows, sizeof rows / sizeof rows[0], .first = -1,
                                       .width = 18 };
const struct step_table *kernel_table = &cuda_table;

const struct chapter cuda_chapter = {
    .number = "07",
    .title = "Backward",
    .idea = "its kernels on a GPU, checked, then timed",
    .table = &cuda_table,
    .backward = true,
    .unsupported = step_unsupported_here,
};

const struct step *cuda_named(const char *name)
{
    return step_named(&cuda_table, name);
}
