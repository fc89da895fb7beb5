/*
 * The parts of chapter 07's program: its steps, and what its main calls besides the lab (common/lab/lab.h). In a lab of this
 * chapter x has dO, and what the forward pass leaves: O, lse, m and l.
 */
#ifndef BACKWARD_PROGRAM_H
#define BACKWARD_PROGRAM_H

#include "07_backward/steps/train.h"
#include "common/lab/lab.h"

/* steps.c: the steps in C, in order, and what the program says of itself. */
extern const struct step_table table;
extern const struct chapter chapter;

/* predict.c: the accesses, tiles and products of each way of going through the pairs; of complete all but the accesses. */
void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_split(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a);

/* story.c: what `make 07` shows before its input, the steps run by run_steps; and what --story asks for, with its exit status. */
void tell_screen(void (*run_steps)(struct lab *lab));
int tell_part(const struct options *options);

// ---- kernels/host/, which only a C++ compiler can link -------------------------------------------

/* What main asks of the chapter's kernels. */
struct kernels {
    /* Ends the program unless what the command line asks of them can be done for problem p; the device must be there. */
    void (*check)(const struct options *options, const struct attention *p);

    /* The one that is asked for, told whole; or a line for each of them. */
    void (*run)(struct lab *lab);

    /* The ladder of the kernels on a GPU, if the one that the command line asks for is there; else it returns false. */
    bool (*bench)(const struct options *options);

    /* Chapter 06's complete and this chapter's cuda_complete, on the device that is asked for, which must be there. */
    struct trainer (*trainer)(const struct options *options);
};
extern const struct kernels *kernels;  // NULL where they are not linked in
extern const struct step_table *kernel_table;

/* Does the command line ask for one of them, by name, or by a device or a type that only they know? */
bool wants_kernels(const struct options *options);

/* What --train holds against standard: the kernels, in `room`, if a device is asked for; else NULL. */
const struct trainer *kernels_trainer(const struct options *options, struct trainer *room);

/* As kernels->check; without them it refuses them. */
void kernels_check(const struct options *options, const struct attention *p);

/* A ladder of its own, if that is asked for; a file that one kernel is to write is asked of that kernel. */
bool kernels_ladder(const struct options *options);

#endif
