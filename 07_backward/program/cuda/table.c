/* The table of the chapter's kernels, made of the rows of kernels/table.h. */
#include "07_backward/program/cuda/table.h"

#define STEP(constant, function, ...)                                                    \
    [constant] = { .name = "cuda_" #function,                                            \
                   .is_kernel = true,                                                    \
                   .runs = &(const struct runs){ .on = LAUNCHERS(backward_##function) }, \
                   __VA_ARGS__ },

const struct step cuda_kernels[CUDA_KERNELS] = {
#include "07_backward/kernels/table.h"
};

const struct step_table cuda_table = { cuda_kernels, CUDA_KERNELS, .first = -1, .width = 18 };

const struct step *cuda_kernel_wanted(const struct options *options)
{
    return options->step ? step_named(&cuda_table, options->step) : &cuda_kernels[CUDA_COMPLETE];
}

enum { MOST_D = 128 };  // for larger ones complete in 16 bits is another kernel

const char *cuda_kernel_formula(const struct step *kernel, const struct attention *p)
{
    if (kernel != &cuda_kernels[CUDA_COMPLETE] || p->dtype == DTYPE_F32)
        return kernel->formula;
    return p->d > MOST_D ? "2 Tc Nq d + Tr Nk d + …" : cuda_kernels[CUDA_MMA_SPLIT].formula;
}
