/*
 * Running a kernel on a device, counting its accesses, and holding its gradients against others.
 */
#ifndef BACKWARD_CUDA_RUN_H
#define BACKWARD_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "07_backward/program/cuda/table.h"
#include "07_backward/program/stages.h"

/* A layer in a device's memory, with all that the kernel needs there, its gradients poisoned. */
struct on_device {
    const struct device *device;
    const struct step *kernel;
    struct attention p;
    struct backward_arrays arrays;
    cudaStream_t stream;  // on which it is started; NULL: the default one
};
struct on_device cuda_load(const struct step *kernel, const struct device *device,
                           const struct layer *layer);
void cuda_launch(const struct on_device *loaded);
void cuda_unload(struct on_device *loaded);

/* What a kernel has left there; result_free() it. */
struct result cuda_download(const struct on_device *loaded);

/* Runs the kernel on the device, into poisoned memory; result_free() what it gives. */
struct result cuda_run(const struct step *kernel, const struct device *device,
                       const struct layer *layer);

/* Chapter 06's complete on the device: layer->kept.O and .lse, for which there is room. It must know the layer's d and type. */
void cuda_forward(const struct device *device, const struct layer *layer);

/* Is the problem small enough for a run on the CPU with every access instrumented? */
bool cuda_can_be_counted(const struct attention *p);

/* Runs the kernel, every access instrumented, with its output thrown away. */
struct count cuda_count(const struct step *kernel, const struct layer *layer);

/* The nearest earlier kernel that supports the problem on the device; NULL: there is none. */
const struct step *cuda_kernel_before(const struct step *kernel, const struct attention *p,
                                      const struct device *device);

/* Runs that kernel, unless it is NULL; and chapter 07's complete in C. result_free what they give. */
struct previous cuda_previous_run(const struct step *kernel, const struct device *device,
                                  const struct layer *layer);
struct result complete_on_the_cpu(const struct layer *layer);

/*
 * How a kernel compares: with the reference, with the previous kernel, and with chapter 07's complete on the CPU. `errors` is
 * about the first two, and where there is no previous kernel complete takes its place; `right` about all three.
 */
struct cuda_verdict {
    struct attention_errors errors;
    const char *before;
    double from_complete;
    bool right;
};
struct cuda_verdict cuda_check(const struct gradient_check *check, const struct previous *previous,
                               const struct result *on_cpu, const struct result *r, bool tell);

/* A line under a table of kernels: in which types their gradients are. */
void cuda_report_types(enum dtype type);

/*
 * The kernel again and again, on the CPU with threads and blocks in an order drawn anew each time: how many elements
 * of each gradient ever differ from the first run's, and by how much at most.
 */
struct cuda_spread {
    size_t elements[GRADIENTS];
    double most[GRADIENTS];
};
struct cuda_spread cuda_run_again(const struct step *kernel, const struct device *device,
                                  const struct layer *layer, size_t runs);

#endif
