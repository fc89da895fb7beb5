/*
 * A kernel of this chapter as a step: its arrays are copied to the current device, it is launched there, and what it has written is
 * copied back.
 */
#ifndef FLASH_TILED_CUDA_RUN_H
#define FLASH_TILED_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/kernels.h"
#include "common/cuda/cpu.h"
#include "common/lab/lab.h"

#include <stdbool.h>

/* As an attention_step. The kernel's launchers are those of its three builds (common/lab/device.h). */
void kernel_run(const struct step *kernel, kernel_launcher *const launchers[BUILDS],
                const struct attention *p, struct tile_size size, struct tensors x);

/* Runs a kernel's step in the instrumented build, with this watch of the emulator. */
void kernel_instrumented(attention_step *run, enum cuda_watch watch, const struct attention *p,
                         struct tile_size size, struct tensors x);

/* The lab's one kernel so; and --timeline: the units of one block over time. */
void kernel_observe(const struct lab *lab, enum cuda_watch watch);
void kernel_timeline(const struct lab *lab);

/* Tile number n in the order in which persistent blocks take them: its head, and its first query. False: there is none. */
bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0);

#endif
