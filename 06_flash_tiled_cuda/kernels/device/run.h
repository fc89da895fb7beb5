/*
 * A kernel of this chapter as a step: its arrays are copied to the current device, it is launched there, and what it has written is
 * copied back.
 */
#ifndef FLASH_TILED_CUDA_RUN_H
#define FLASH_TILED_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/kernels.h"
#include "common/program/step.h"

#include <stdbool.h>

/* As an attention_step. The kernel's launchers are those of its three builds (common/lab/device.h). */
void kernel_run(const struct step *kernel, kernel_launcher *const launchers[BUILDS],
                const struct attention *p, struct tile_size size, struct tensors x);

/* The same in the instrumented build, with accesses to all arrays of x counted. */
void kernel_run_watched(const struct step *kernel, kernel_launcher *const launchers[BUILDS],
                        const struct attention *p, struct tile_size size, struct tensors x);

/* Tile number n in the order in which persistent blocks take them: its head, and its first query. False: there is none. */
bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0);

#endif
