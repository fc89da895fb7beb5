/*
 * Chapter 06's program: its kernels, and what main calls besides the lab (common/lab/lab.h).
 */
#ifndef FLASH_TILED_CUDA_PROGRAM_H
#define FLASH_TILED_CUDA_PROGRAM_H

#include "common/lab/lab.h"

/* kernels.c: the kernels, in order, and the chapter for --help and titles. */
extern const struct step_table table;
extern const struct chapter chapter;

/* predict.c: add the accesses that the kernels should make, for p in tiles of this size, to `a`. */
void predict_naive(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_wgmma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a);

/*
 * story.c: prints what `make 06` shows before its input, by run_kernels; prints the part of
 * --story, and returns the exit status.
 */
void tell_screen(void (*run_kernels)(struct lab *lab));
int tell_part(const struct options *options);

/*
 * reports.c: chooses a device that the kernel runs on; exits if the kernel does not support a
 * requested option.
 */
void check_requested(struct lab *lab);

/*
 * Prints the accesses of the one kernel by source line; measures and prints the device, and returns
 * the exit status.
 */
void print_profile(const struct lab *lab);
int print_device(const struct lab *lab);

#endif
