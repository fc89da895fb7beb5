/*
 * The parts of chapter 06's program: its kernels, and what its main calls besides the lab (common/lab/lab.h).
 */
#ifndef FLASH_TILED_CUDA_PROGRAM_H
#define FLASH_TILED_CUDA_PROGRAM_H

#include "common/lab/lab.h"

/* kernels.c: the kernels, in order, and the chapter for --help and titles. */
extern const struct step_table table;
extern const struct chapter chapter;

/* predict.c: the accesses of each way of going through the tiles. */
void predict_naive(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_tensor(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_wgmma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a);

/* story.c: what `make 06` shows before its input, with run_kernels; and the part of --story, with its exit status. */
void tell_screen(void (*run_kernels)(struct lab *lab));
int tell_part(const struct options *options);

/* reports.c: chooses a device that the kernel is for, and ends the program if the kernel lacks a requested option. */
void check_requested(struct lab *lab);

/* The kernel's accesses by source line; the device, without any kernel. */
void print_profile(const struct lab *lab);
int print_device(const struct lab *lab);

#endif
