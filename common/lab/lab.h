/*
 * The lab: what a chapter's main does with its steps, call by call. The loop over the steps is the chapter's.
 *
 *     struct lab lab = lab_open(&chapter, argc, argv);     the command line
 *     lab_load(&lab);                                      the problem
 *     lab_choose(&lab, "complete");                        the step, or all of them; unsupported options are rejected
 *     lab_title(&lab);
 *     lab_input(&lab);
 *     for (const struct step *s = lab_first(&lab); s; s = lab_next(&lab, s)) {
 *         lab_run(&lab, s);                                into poisoned memory
 *         lab_count(&lab, s);                              accesses against the formula
 *         lab_check(&lab, s);                              the reference, and the step before
 *     }
 *     return lab_close(&lab);                              files, and the verdict
 *
 * A single step is reported in full; with all steps, each gets a row of a table. From the chapter, only `run`, `watched`
 * and `predict` of its rows are called (step.h). Kernels run on the current device (device.h).
 */
#ifndef COMMON_LAB_H
#define COMMON_LAB_H

#include "common/check/gradient_check.h"
#include "common/problem/attention_input.h"
#include "common/program/report.h"
#include "common/program/step.h"

#include <stdbool.h>
#include <stddef.h>

struct chapter {
    struct program program;             // for --help
    const char *number, *title, *idea;  // "05", and the rest of the title
    const char *next;                   // what to read next
    const struct step_table *table;
    const struct step_table *const *kernels;  // pointer to its kernel table, or NULL
    bool backward;                            // its steps compute gradients

    /* What a step does not support, if that depends on the current device too (device.h); NULL: step_unsupported. */
    const char *(*unsupported)(const struct step *step, const struct attention *p);
};

/*
 * What a step is compared with besides the reference. Backward: gradients; forward: of[0] has the
 * checked rows of O.
 */
struct previous {
    const char *name;  // NULL: there is none
    float *of[GRADIENTS];
};

struct lab {
    const struct chapter *chapter;
    struct options o;
    bool screen;                     // no options: print the page's summary, on one screen
    const struct step *only, *last;  // the chosen step; or NULL for all, and the last

    struct attention_input input;
    struct tensors x;       // the problem's, and the current step's outputs
    struct tile_size size;  // of the current step
    struct count count;     // its accesses
    struct previous
        before;  // what the step is compared with; the chapter may set it for the first step
    const struct step
        *plain;  // counted instead of complete, which is vectorised: it visits the same tiles
    struct attention_check check;     // of O and lse; the lab frees `other`'s arrays …
    struct gradient_check gradients;  // … or of the gradients
    bool wrong;                       // a step in the table of all
    char *csv;                        // its lines for --csv, with room for REPORT_CSV; or NULL
};

/* Reads the command line; --step list exits. */
struct lab lab_open(const struct chapter *chapter, int argc, char **argv);

bool lab_asks_for(const struct lab *lab, const char *name);

/* The command line's problem: lab->input, and Q, K and V of lab->x. */
void lab_load(struct lab *lab);

/*
 * A lab for a problem that the chapter made, with all steps; free with lab_free, call lab_ready
 * before checks.
 */
struct lab lab_of(const struct chapter *chapter, struct attention_input input,
                  const struct options *options);

/* The step of --step, or the one called `usual`, or all; exits if they do not support the options. */
void lab_choose(struct lab *lab, const char *usual);

void lab_title(const struct lab *lab);

/* Prints the part "Input", then computes the reference. */
void lab_input(struct lab *lab);
void lab_ready(struct lab *lab);

/* Has the first step that runs none before it, so that the chapter must provide its comparison? */
bool lab_begins(const struct lab *lab);

/* The chosen step, or all that support the problem. Ends the table after the last. */
const struct step *lab_first(struct lab *lab);
const struct step *lab_next(struct lab *lab, const struct step *step);

void lab_run(struct lab *lab, const struct step *step);
void lab_count(struct lab *lab, const struct step *step);
void lab_check(struct lab *lab, const struct step *step);

/* Writes files, prints the verdict, frees the lab; returns the exit status. */
int lab_close(struct lab *lab);
void lab_free(struct lab *lab);

// ---- for stories, benchmarks and tests ----------------------------------------------------------

/* Small enough to count? Can the step be counted? */
bool is_small(const struct lab *lab);
bool can_be_counted(const struct lab *lab, const struct step *step);

/*
 * What the step does not support of the problem, or NULL. lab_comes_before: whether a later step
 * may be compared with it.
 */
const char *lab_unsupported(const struct lab *lab, const struct step *step);
bool lab_comes_before(const struct lab *lab, const struct step *step);

/*
 * Runs and compares a step, on the options' tiles or its own; `tell`: whether to print the
 * comparison.
 */
struct attention_errors lab_errors(const struct lab *lab, const struct step *step, bool tell);

// ---- for the files of the lab only --------------------------------------------------------------

struct attention_errors lab_compare(const struct lab *lab, const struct step *step,
                                    struct tensors x, const struct previous *before, bool tell);
/* The closest earlier step that supports the problem, to compare `step` with; NULL if none. */
const struct step *lab_step_before(const struct lab *lab, const struct step *step);
struct previous lab_run_before(const struct lab *lab, const struct step *step);
void previous_free(struct previous *previous);

/* Takes what a step has written: forward the checked rows, backward x's gradients. */
struct previous previous_keep(const struct lab *lab, const struct step *step, struct tensors *x);

/* Keeps what the step has written; later ones are compared with it. */
void lab_keep_as_before(struct lab *lab, const struct step *step);

/* write.c, for lab_compare: gradients; and O of a step that is a product, in the same rows. */
struct attention_errors lab_compare_gradients(const struct lab *lab, const struct step *step,
                                              struct tensors x, const struct previous *before,
                                              bool tell);
struct attention_errors lab_compare_product(const struct lab *lab, const float *whole, bool tell);

void lab_write(const struct lab *lab, const struct step *step, const char *previous,
               struct attention_errors errors);

/* wait.c: step_run for a terminal; if it may take long, says how long. */
struct tensors wait_for_step(const struct step *step, const struct attention *p,
                             struct tile_size size, struct tensors x);

/* table.c: the parts "Grid" and "Counted" of one kernel; and the table of all steps. */
void kernel_print_counts(const struct lab *lab, const struct step *kernel);
void table_begin(struct lab *lab);
void table_check(struct lab *lab, const struct step *step);

/*
 * The first step from this one on that supports the problem; the table notes why others do not.
 * NULL ends it.
 */
const struct step *table_from(struct lab *lab, const struct step *step);

#endif
