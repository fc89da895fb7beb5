/*
 * The program where its CUDA kernels are not linked in: they are not listed, and refused. All of this is weak, so
 * that the functions in cuda/ take its place where they are there.
 */
#include "07_backward/program/cuda/program.h"

#define WEAK __attribute__((weak))

WEAK void cuda_check_requested(const struct options *o, const struct attention *p)
{
    (void)p;
    if (cuda_is_wanted(o) || o->device || o->dtype != DTYPE_F32 || o->timeline)
        options_fail(o->device               ? "--device"
                     : o->dtype != DTYPE_F32 ? "--dtype"
                     : o->timeline           ? "--timeline"
                                             : "--step",
                     "expected a program with CUDA kernels; make 07 builds one");
}

WEAK void cuda_list(bool only_names, enum dtype type)
{
    (void)only_names, (void)type;
}

WEAK void cuda_print_kernel(const struct layer *layer, const struct options *options)
{
    (void)layer, (void)options;
}

WEAK void cuda_print_kernels(const struct layer *layer, const struct options *options, char *csv)
{
    (void)layer, (void)options, (void)csv;
}

WEAK bool cuda_bench(const struct options *options)
{
    (void)options;
    return false;
}

WEAK struct trainer cuda_trainer(const struct options *options)
{
    cuda_check_requested(options, NULL);
    return (struct trainer){ NULL, NULL, NULL };
}
