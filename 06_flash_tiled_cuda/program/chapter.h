/*
 * Chapter 06 as a program: its table of kernels, and what one kernel did when it was counted.
 */
#ifndef FLASH_TILED_CUDA_CHAPTER_H
#define FLASH_TILED_CUDA_CHAPTER_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "06_flash_tiled_cuda/kernels/kernels.h"
#include "common/problem/attention_input.h"
#include "common/program/report.h"
#include "common/program/step.h"

#include <stdbool.h>

/* A kernel of this chapter has a launcher for each build. */
struct runs {
    kernel_launcher *on[BUILDS];
};

#define STEP(constant, name, ...) DECLARE_LAUNCHERS(kernel_launcher, name)
#include "06_flash_tiled_cuda/kernels/table.h"
#undef STEP

enum kernel_name {
#define STEP(constant, name, ...) constant,
#include "06_flash_tiled_cuda/kernels/table.h"
#undef STEP
    KERNELS
};
extern const struct step kernels[KERNELS];
extern const struct step_table table;

/* The shared memory of a tile in bytes: Q, and two stages of K and V. */
size_t tile_bytes(const struct kernel_tile *tile);

/*
 * How the kernel is started for an input, with the tile that this asks for if the kernel has it, else with its own.
 */
struct kernel_shape kernel_shape_of(const struct step *kernel, const struct attention_input *input);

/* Is the problem small enough for a run on the CPU with every access instrumented? */
bool kernel_can_be_counted(const struct attention *p);

/* Runs the kernel, every access instrumented, with its output thrown away. */
struct count count_kernel(const struct step *kernel, const struct attention_input *input);

void predict_naive(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_tensor(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_wgmma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a);

#endif
