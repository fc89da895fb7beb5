/*
 * Running a kernel on a device, counting its accesses, and holding its gradients against others.
 */
#ifndef BACKWARD_CUDA_RUN_H
#define BACKWARD_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "07_backward/kernels/kernels.h"
#include "07_backward/steps/forward.h"

/* A kernel has a launcher for each build. */
struct runs {
    backward_launcher *on[BUILDS];
};

/* kernels.c: all of them; and the one of this name, NULL: there is no such. */
extern const struct step_table cuda_table;
const struct step *cuda_named(const char *name);

/* The predictions of their accesses to global memory, and of how many bytes more they need there. */
void predict_cuda_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_deterministic(const struct attention *p, struct tile_size size,
                                struct accesses *a);
void predict_cuda_mma_split(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_mma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_store(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_complete(const struct attention *p, struct tile_size size, struct accesses *a);

/* The formula of its accesses, short, for a problem's type and d. */
const char *cuda_kernel_formula(const struct step *kernel, const struct attention *p);

/* A problem in a device's memory, with all that the kernel needs there, its gradients poisoned. */
struct on_device {
    const struct device *device;
    const struct step *kernel;
    struct attention p;
    struct backward_arrays arrays;
    cudaStream_t stream;  // on which it is started; NULL: the default one
};
struct on_device cuda_load(const struct step *kernel, const struct device *device,
                           const struct lab *lab);
void cuda_launch(const struct on_device *loaded);
void cuda_unload(struct on_device *loaded);

/* What a kernel has left there; result_free() it. */
struct result cuda_download(const struct on_device *loaded);

/* Runs the kernel on the device, into poisoned memory; result_free() what it gives. */
struct result cuda_run(const struct step *kernel, const struct device *device,
                       const struct lab *lab);

/* Chapter 06's complete on the device: lab->x.O and .lse, for which there is room. It must know the lab's d and type. */
void cuda_forward(const struct device *device, const struct lab *lab);

/* Is the problem small enough for a run on the CPU with every access instrumented? */
bool cuda_can_be_counted(const struct attention *p);

/* Runs the kernel, every access instrumented, with its output thrown away. */
struct count cuda_count(const struct step *kernel, const struct lab *lab);

/* The nearest earlier kernel that supports the problem on the device; NULL: there is none. */
const struct step *cuda_kernel_before(const struct step *kernel, const struct attention *p,
                                      const struct device *device);

/* The result of an earlier kernel, which later ones are compared with; no name: there is none. */
struct cuda_previous {
    const char *name;
    struct result result;
};

/* r, which becomes empty, takes the place of what was kept. */
void cuda_previous_keep(struct cuda_previous *previous, const char *name, struct result *r);

/* Runs that kernel, unless it is NULL; and chapter 07's complete in C. result_free what they give. */
struct cuda_previous cuda_previous_run(const struct step *kernel, const struct device *device,
                                       const struct lab *lab);
struct result complete_on_the_cpu(const struct lab *lab);

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
struct cuda_verdict cuda_check(const struct gradient_check *check,
                               const struct cuda_previous *previous, const struct result *on_cpu,
                               const struct result *r, bool tell);

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
                                  const struct lab *lab, size_t runs);

#endif
