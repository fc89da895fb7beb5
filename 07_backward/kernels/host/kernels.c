/* Named cuda_…, because steps in C have the same names. */
#include "07_backward/kernels/kernels.h"
#include "07_backward/kernels/host/run.h"
#include "07_backward/program.h"

// clang-format off
DECLARE_LAUNCHERS(backward_launcher, backward_standard)
DECLARE_LAUNCHERS(backward_launcher, backward_recompute)
DECLARE_LAUNCHERS(backward_launcher, backward_deterministic)
DECLARE_LAUNCHERS(backward_launcher, backward_mma_split)
DECLARE_LAUNCHERS(backward_launcher, backward_mma)
DECLARE_LAUNCHERS(backward_launcher, backward_wgmma)
DECLARE_LAUNCHERS(backward_launcher, backward_bulk)
DECLARE_LAUNCHERS(backward_launcher, backward_roles)
DECLARE_LAUNCHERS(backward_launcher, backward_store)
DECLARE_LAUNCHERS(backward_launcher, backward_ordered)
DECLARE_LAUNCHERS(backward_launcher, backward_complete)
// clang-format on

static const struct step rows[] = {
    {
        .name = "cuda_standard",
        .idea = "P and dS stored in global memory",
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_standard) },
        .formula = "(10 d + 11) / pair + …",
        .predict = predict_cuda_standard,
        .f32 = { .most = 128 },
        .supports = SUPPORTS_CAUSAL,
        .stores = STORES_SCORES,
    },
    {
        .name = "cuda_recompute",
        .idea = "P from lse, dQ by atomic additions",
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_recompute) },
        .formula = "5 Tc Nq d + 3 Tr Nk d + …",
        .predict = predict_cuda_recompute,
        .f32 = { .most = 128 },
        .supports = SUPPORTS_CAUSAL,
        .any_order = true,
    },
    {
        .name = "cuda_deterministic",
        .idea = "two kernels, the same bits every time",
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_deterministic) },
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
        .predict = predict_cuda_deterministic,
        .f32 = { .most = 128 },
        .supports = SUPPORTS_CAUSAL,
    },
    {
        .name = "cuda_mma_split",
        .idea = "deterministic on tensor cores, in 16 bits",
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_mma_split) },
        .formula = "Tc Nq d + Tr Nk d + …",
        .predict = predict_cuda_mma_split,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL,
    },
    {
        .name = "cuda_mma",
        .idea = "… in one kernel, dS through shared memory",
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_mma) },
        .formula = "3 Tc Nq d + …",
        .predict = predict_cuda_mma,
        .f16 = { .only = { 64, 128 } },
        .supports = SUPPORTS_CAUSAL,
        .any_order = true,
    },
    {
        .name = "cuda_wgmma",
        .idea = "Hopper: TMA copies and warpgroup MMA",
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_wgmma) },
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
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_bulk) },
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
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_roles) },
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
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_store) },
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
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_ordered) },
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
        .is_kernel = true,
        .runs = &(const struct runs){ LAUNCHERS(backward_complete) },
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
        .predict = predict_cuda_complete,
        .f32 = { .most = 128 },
        .f16 = { .only = { 32, 64, 96, 128, 256 } },
        .supports = SUPPORTS_EVERYTHING,
    },
};

const struct step_table cuda_table = { rows, sizeof rows / sizeof rows[0], .first = -1,
                                       .width = 18 };
const struct step_table *kernel_table = &cuda_table;

const struct step *cuda_named(const char *name)
{
    return step_named(&cuda_table, name);
}
