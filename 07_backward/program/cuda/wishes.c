/*
 * What the command line asks of the kernels, and whether they can do it.
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

/* What the steps in C know and a kernel does not. */
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

/* The kernel that is asked for, which must be able to do problem p. */
static void check_kernel(const struct options *o, const struct attention *p)
{
    const struct step *kernel = cuda_kernel_wanted(o);
    if (!kernel)
        options_fail("--kernel",
                     "expected list, all or one of the steps that list names, found '%s'",
                     o->kernel);
    step_require(kernel, p, o);
}

void cuda_check_wishes(const struct options *o, const struct attention *p)
{
    const bool all = o->kernel && strcmp(o->kernel, "all") == 0;
    if (!cuda_is_wanted(o) && !all && (o->device || o->dtype != DTYPE_F32 || o->timeline))
        options_fail(o->device               ? "--device"
                     : o->dtype != DTYPE_F32 ? "--dtype"
                                             : "--timeline",
                     "expected a CUDA kernel with it, and %s is a step in C", o->kernel);
    if (o->timeline && (all || !cuda_can_be_counted(p)))
        options_fail("--timeline", all ? "expected one --kernel with it, not all"
                                       : "expected a smaller problem, of at most 10 million rows x "
                                         "keys x d: all accesses are instrumented");
    options_check_excluded(kernel_name_of, CUDA_KERNELS);
    if (!cuda_is_wanted(o) && !all)
        return;
    const struct device *device = device_choose(o);
    if (o->threads)
        cuda_cpu_threads(o->threads);
    if (all)
        return;
    check_kernel(o, p);
    device = device_for(cuda_kernel_wanted(o), device, o);
    check_tiles(o);
    if (o->bench && device == &device_cpu)
        options_fail("--bench",
                     "expected a GPU with a CUDA kernel: how long a CPU takes that stands "
                     "in for one says nothing");
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
