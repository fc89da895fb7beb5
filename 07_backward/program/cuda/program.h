/*
 * The chapter's kernels on the command line.
 *
 * The chapter is whole without them too, and then needs nothing but a C compiler: without_cuda.c has these
 * functions as well, which refuse, and which give way where cuda/ is linked in.
 */
#ifndef BACKWARD_CUDA_PROGRAM_H
#define BACKWARD_CUDA_PROGRAM_H

#include "07_backward/program/stages.h"

#include <string.h>

/* Does the command line ask for one of them, by name, or by a device or a type that only they know? */
static inline bool cuda_is_wanted(const struct options *o)
{
    return o->step ? strncmp(o->step, "cuda_", 5) == 0
                   : o->device != NULL || o->dtype != DTYPE_F32 || o->timeline != NULL;
}

/* Ends the program unless what the command line asks of them can be done for problem p; the device must be there. */
void cuda_check_requested(const struct options *options, const struct attention *p);

/* Their names; with their ideas too, unless only names are wanted. */
void cuda_list(bool only_names, enum dtype type);

/* The one that is asked for, told whole; or a line for each of them, here and in `csv`, as print_steps. */
void cuda_print_kernel(const struct layer *layer, const struct options *options);
void cuda_print_kernels(const struct layer *layer, const struct options *options, char *csv);

/* The ladder of the kernels on a GPU, if the one that the command line asks for is there; else it returns false. */
bool cuda_bench(const struct options *options);

/* A training step's two passes: layer->kept from its input, and the gradients from both. */
struct trainer {
    const char *name;
    void (*forward)(struct layer *layer);
    struct result (*backward)(const struct layer *layer);
};

/* Chapter 06's complete and this chapter's cuda_complete, on the device that is asked for, which must be there. */
struct trainer cuda_trainer(const struct options *options);

#endif
