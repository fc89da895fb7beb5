/* The table of the chapter's kernels. */
#include "07_backward/program/cuda/table.h"

#include <string.h>

const struct cuda_kernel cuda_kernels[CUDA_KERNELS] = {
    [CUDA_STANDARD] = {
        .name = "cuda_standard",
        .idea = "P and dS whole in global memory",
        .predict = predict_cuda_standard,
        .formula = "(10 d + 11) a pair + …",
        .whole = true,
    },
    [CUDA_RECOMPUTE] = {
        .name = "cuda_recompute",
        .idea = "P again from L, dQ by atomic additions",
        .predict = predict_cuda_recompute,
        .formula = "5 Tc Nq d + 3 Tr Nk d + …",
        .atomics = true,
    },
    [CUDA_DETERMINISTIC] = {
        .name = "cuda_deterministic",
        .idea = "two kernels, the same bits every time",
        .predict = predict_cuda_deterministic,
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
    },
    [CUDA_MMA_SPLIT] = {
        .name = "cuda_mma_split",
        .idea = "deterministic on tensor cores, in 16 bits",
        .predict = predict_cuda_mma_split,
        .formula = "Tc Nq d + Tr Nk d + …",
        .tensor = true,
    },
    [CUDA_MMA] = {
        .name = "cuda_mma",
        .idea = "… in one kernel, dS through shared memory",
        .predict = predict_cuda_mma,
        .formula = "3 Tc Nq d + …",
        .atomics = true,
        .tensor = true,
    },
    [CUDA_WGMMA] = {
        .name = "cuda_wgmma",
        .idea = "Hopper's units copy and multiply",
        .predict = predict_cuda_boxes,
        .formula = "3 Tc Nq d + …",
        .atomics = true,
        .tensor = true,
        .hopper = true,
    },
    [CUDA_BULK] = {
        .name = "cuda_bulk",
        .idea = "… and add dQ, a row at a time",
        .predict = predict_cuda_boxes,
        .formula = "3 Tc Nq d + …",
        .atomics = true,
        .tensor = true,
        .hopper = true,
    },
    [CUDA_ORDERED] = {
        .name = "cuda_ordered",
        .idea = "… in turns: the same bits every time",
        .predict = predict_cuda_boxes,
        .formula = "3 Tc Nq d + …",
        .turns = true,
        .tensor = true,
        .hopper = true,
    },
    [CUDA_COMPLETE] = {
        .name = "cuda_complete",
        .idea = "every option",
        .predict = predict_cuda_complete,
        .formula = "5 Tc Nq d + 5 Tr Nk d + …",
        .options = true,
    },
};

const struct cuda_kernel *cuda_kernel_named(const char *name)
{
    if (!name)
        return &cuda_kernels[CUDA_COMPLETE];
    for (const struct cuda_kernel *k = cuda_kernels; k < cuda_kernels + CUDA_KERNELS; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

enum { MOST_D = 128 };  // for larger ones complete in 16 bits is another kernel

const char *cuda_kernel_formula(const struct cuda_kernel *kernel, const struct attention *p)
{
    if (!kernel->options || p->dtype == DTYPE_F32)
        return kernel->formula;
    return p->d > MOST_D ? "2 Tc Nq d + Tr Nk d + …" : cuda_kernels[CUDA_MMA_SPLIT].formula;
}
