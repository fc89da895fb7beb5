/*
 * Which device chapter 07's kernels run on: the one that is asked for, and whether it is one for them.
 */
#ifndef BACKWARD_CUDA_DEVICE_CHOICE_H
#define BACKWARD_CUDA_DEVICE_CHOICE_H

#include "07_backward/program/cuda/table.h"
#include "common/program/options.h"

/* Chapter 06's device, its memory and its clock, with this chapter's kernels on it. */
struct backward_device {
    const struct device *machine;
    kernel_launcher *forward;  // chapter 06's complete
    backward_launcher *launch[CUDA_KERNELS];
};
extern const struct backward_device backward_cpu, backward_watched;

/*
 * The device that --device asks for. Where that is a GPU, and there is none, it says so and ends the program
 * with EXIT_SKIPPED.
 */
const struct backward_device *backward_device_choose(const struct options *options);

/*
 * What the kernel lacks on this device, in a text that is good until the next call, or NULL: on another GPU it is not
 * asked for.
 */
const char *cuda_kernel_lacks_device(const struct cuda_kernel *kernel,
                                     const struct backward_device *device);

/*
 * The device for a kernel, `chosen` if that can run it; else the CPU, but where a GPU is demanded the program ends with
 * EXIT_SKIPPED.
 */
const struct backward_device *backward_device_for(const struct cuda_kernel *kernel,
                                                  const struct backward_device *chosen,
                                                  const struct options *options);

/* "on the CPU, standing in for a GPU", or the GPU's name; the text is good until the next call. */
const char *backward_device_text(const struct backward_device *device);

#endif
