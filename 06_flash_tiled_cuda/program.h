/*
 * The parts of chapter 06's program: its kernels, and what its main calls besides the lab (common/lab/lab.h).
 */
#ifndef FLASH_TILED_CUDA_PROGRAM_H
#define FLASH_TILED_CUDA_PROGRAM_H

#include "common/lab/lab.h"

/* kernels.c: the kernels, in order, and what the program says of itself. */
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

/* story.c: what `make 06` shows before its input, the kernels run by run_kernels; and what --story asks for, with its exit status. */
void tell_screen(void (*run_kernels)(struct lab *lab));
int tell_part(const struct options *options);

/* reports.c: ends the program unless the kernel, on a device that it is for, can do what is asked for besides a verdict. */
void check_requested(struct lab *lab);

/* The kernel's accesses line by line of its source; which unit of one block works when; the device, without any kernel. */
void print_profile(const struct lab *lab);
void print_timeline(const struct lab *lab);
int print_device(const struct lab *lab);

#endif
