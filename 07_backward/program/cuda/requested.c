/*
 * The options that the command line requests of the kernels, and whether they support them.
 */
#include "07_backward/program/cuda/program.h"
#include "07_backward/program/cuda/run.h"
#include "07_backward/program/cuda/speed.h"
#include "common/cuda/cpu.h"

#include <stdio.h>

void cuda_list(bool only_names, enum dtype type)
{
    step_list(&cuda_table, only_names, type);
}

static const char *kernel_name_of(size_t k)
{
    return cuda_kernels[k].name;
}

/* A kernel has no options that only the steps in C have. */
static void check_tiles(const struct options *o)
{
    const char *const option = o->br      ? "--br"
                               : o->bc    ? "--bc"
                               : o->sram  ? "--sram"
                               : o->trace ? "--trace"
                                          : NULL;
    if (option)
        options_fail(option, "expected a step in C with it, and not a CUDA kernel, whose tiles are "
                             "its own");
}

void cuda_check_requested(const struct options *o, const struct attention *p)
{
    const bool all = o->step && strcmp(o->step, "all") == 0;
    if (!cuda_is_wanted(o) && !all && (o->device || o->dtype != DTYPE_F32 || o->timeline))
        options_fail(o->device               ? "--device"
                     : o->dtype != DTYPE_F32 ? "--dtype"
                                             : "--timeline",
                     "expected a CUDA kernel with it, found '%s'", o->step);
    if (o->timeline && !cuda_can_be_counted(p))
        options_fail("--timeline", "expected a smaller problem, of at most 10 million rows x "
                                   "keys x d: all accesses are instrumented");
    options_check_excluded(kernel_name_of, CUDA_KERNELS);
    if (!cuda_is_wanted(o) && !all)
        return;
    const struct device *device = device_choose(o);
    if (o->threads)
        cuda_cpu_threads(o->threads);
    if (all)
        return;
    const struct step *kernel = step_chosen(&cuda_table, o, cuda_kernels[CUDA_COMPLETE].name, p);
    device = device_for(kernel, device, o);
    check_tiles(o);
    if (o->bench && device == &device_cpu)
        options_fail("--bench",
                     "expected a GPU with a CUDA kernel: a time measured on the CPU in its place "
                     "would mean nothing");
}

bool cuda_bench(const struct options *o)
{
    options_check_excluded(kernel_name_of, CUDA_KERNELS);
    const struct device *device = device_choose(o);
    if (device == &device_cpu)
        return false;
    report_start("07", "Backward", "its kernels on a GPU, checked, then timed", o->quiet);
    cuda_bench_ladder(device, o);
    return true;
}
