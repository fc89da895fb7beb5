/*
 * A kernel of this chapter as a step: copies its arrays to the current device, launches it there,
 * and copies its outputs back.
 */
#ifndef FLASH_TILED_CUDA_RUN_H
#define FLASH_TILED_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/kernels.h"
#include "common/cuda/cpu.h"
#include "common/lab/lab.h"

#include <stdbool.h>

/*
 * An attention_step on the current device; `launchers` are the kernel's, one per build
 * (common/lab/device.h).
 */
void kernel_run(const struct step *kernel, kernel_launcher *const launchers[BUILDS],
                const struct attention *p, struct tile_size size, struct tensors x);

/* Runs a kernel's step in the instrumented build, with this check of the emulator. */
void kernel_instrumented(attention_step *run, enum cuda_watch watch, const struct attention *p,
                         struct tile_size size, struct tensors x);

/*
 * Runs the lab's one kernel like this, and discards its output; prints --timeline, the units of its
 * first block over time.
 */
void kernel_observe(const struct lab *lab, enum cuda_watch watch);
void kernel_timeline(const struct lab *lab);

/*
 * Tile number n in the order in which persistent blocks take them: its head and its first query.
 * False if there is none. Wrong versions change it, so it is not in the tests.
 */
bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0);

#endif
