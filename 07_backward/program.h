/*
 * The parts of chapter 07's program: its steps, and what its main calls besides the lab
 * (common/lab/lab.h). A lab's x has dO, and the forward pass's O, lse, m and l.
 */
#ifndef BACKWARD_PROGRAM_H
#define BACKWARD_PROGRAM_H

#include "07_backward/steps/train.h"
#include "common/lab/lab.h"

/* steps.c: the steps in C, in order, and the chapter's description. */
extern const struct step_table table;
extern const struct chapter chapter;

/* predict.c: predicted accesses, tiles and products per loop order; for complete, no accesses. */
void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_split(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a);

/*
 * story.c: what `make 07` shows before its input, with the steps run by run_steps; and --story,
 * returning its exit status.
 */
void tell_screen(void (*run_steps)(struct lab *lab));
int tell_part(const struct options *options);

// ---- kernels/host/: linked only with a C++ compiler ---------------------------------------------

/* What main asks of the chapter's kernels. */
struct kernels {
    /* Exits with an error if the kernels cannot run p as requested, or the device is missing. */
    void (*check)(const struct options *options, const struct attention *p);

    /* A full report on the requested kernel, or one line per kernel. */
    void (*run)(struct lab *lab);

    /* Runs the kernels' ladder, if it is requested and there is a GPU; returns whether it ran. */
    bool (*bench)(const struct options *options);

    /* Chapter 06's complete and this chapter's cuda_complete, on the requested device. */
    const struct trainer *(*trainer)(const struct options *options);
};
extern const struct kernels *kernels;  // NULL if not linked
extern const struct step_table *kernel_table;

/* Is a CUDA kernel requested: by name or, without --step, by an option that only kernels support? */
bool wants_kernels(const struct options *options);

/* Exits if the options need kernels and these are not linked. */
void kernels_expect(const struct options *options);

#endif
