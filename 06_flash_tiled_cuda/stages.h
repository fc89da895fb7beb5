/*
 * Running a kernel on a device, and holding it against the reference, chapter 05, and the kernel before.
 */
#ifndef FLASH_TILED_CUDA_STAGES_H
#define FLASH_TILED_CUDA_STAGES_H

#include "attention_check.h"
#include "chapter.h"
#include "options.h"

/*
 * The device that --device asks for. Where that is a GPU, and there is none, or one that is too old for
 * --dtype, it says so and ends the program with EXIT_SKIPPED.
 */
const struct device *device_choose(const struct options *options);

/* The same where the GPU is `gpu`, or, because of `why_none`, NULL. */
const struct device *device_among(const struct options *options, const struct device *gpu,
                                  const char *why_none);

/* Why numbers of this type are none for the device, in static memory; NULL: they are. */
const char *device_lacks(const struct device *device, enum dtype type);

/* Is there room in a block's shared memory for the tile, with two stages of K and V? */
bool device_holds(const struct device *device, const struct tile *tile);

/* "on the CPU, standing in for a GPU", or the GPU's name; the text is good until the next call. */
const char *device_text(const struct device *device);

/*
 * What the kernel lacks for this problem, as it is written on the command line, in a text that is good
 * until the next call; or NULL.
 */
const char *kernel_lacks(const struct kernel *kernel, const struct attention *p);

/* The same, and the device must be one that the kernel is for; and what is said of that: NULL, if it is. */
const char *kernel_lacks_on(const struct kernel *kernel, const struct attention *p,
                            const struct device *device);
const char *kernel_lacks_device(const struct kernel *kernel, const struct device *device);

/*
 * The device for this kernel: `chosen`, or, where that is a GPU that the kernel is not for, the CPU. If the GPU was asked
 * for, it says so and ends the program with EXIT_SKIPPED.
 */
const struct device *device_for(const struct kernel *kernel, const struct device *chosen,
                                const struct options *options);

/* Are there numbers of this type among those that the kernel's arithmetic is for? */
bool kernel_knows_type(const struct kernel *kernel, enum dtype type);

/* A problem in a device's memory, with all that the kernel needs there, O and lse poisoned. kernel_launch starts it. */
struct loaded {
    const struct device *device;
    const struct kernel *kernel;
    struct attention p;
    struct device_arrays arrays;
};
struct loaded kernel_load(const struct kernel *kernel, const struct device *device,
                          const struct attention_input *input);

/* The same for several kernels, one of which kernel_take makes the one that is started. */
struct loaded kernel_load_for(const struct kernel *const *some, size_t count,
                              const struct device *device, const struct attention_input *input);
void kernel_take(struct loaded *loaded, const struct kernel *kernel,
                 const struct attention_input *input);
void kernel_launch(const struct loaded *loaded);
void kernel_unload(struct loaded *loaded);

/* How many of its blocks start: of a kernel whose blocks stay, no more than the device has multiprocessors. */
size_t kernel_blocks(const struct kernel *kernel, struct shape shape, const struct device *device);

/* Tile number n in the order in which blocks that stay take them: its head, and its first query. False: there is none. */
bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0);

/* O as it is now, as float32 whatever the kernel writes; what it has not written is poison. */
void kernel_output(const struct loaded *loaded, float *O);

struct result {
    float *O, *lse;
};

/* Runs the kernel on the device, into poisoned memory. */
struct result kernel_run(const struct kernel *kernel, const struct device *device,
                         const struct attention_input *input);
void result_free(struct result *r);

/*
 * How a kernel compares; and the stage before: the kernel before that can do the problem, or if there is
 * none, chapter 05.
 */
struct verdict {
    struct attention_errors errors;
    const char *before;
    double previous;  // the largest difference from it
};

/*
 * Compares a kernel's result with the reference, with chapter 05's complete, and with the nearest
 * earlier kernel that can do the problem, which is run on the same device. `tell` says whether the part
 * "Compared with" is printed.
 */
struct verdict kernel_check(const struct kernel *kernel, const struct device *device,
                            const struct attention_input *input, struct attention_check *check,
                            const struct result *r, bool tell);

#endif
