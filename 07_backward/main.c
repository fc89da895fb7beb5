/*
 * Chapter 07 as a program: every step, what it reads and writes, and whether its gradients are right.
 */
#include "07_backward/fast/bench.h"
#include "07_backward/program.h"
#include "07_backward/steps/forward.h"
#include "07_backward/steps/trace.h"
#include "common/lab/speed.h"

enum { LADDER_N = 1024, LADDER_SECONDS = 10 };

static void run_steps(struct lab *lab)
{
    for (const struct step *step = lab_first(lab); step; step = lab_next(lab, step)) {
        lab_run(lab, step);    // into poisoned memory
        lab_count(lab, step);  // accesses, against the formula
        lab_check(lab, step);  // the reference, and the step before
    }
}

/* The scalar step counted in complete's place, on the same tiles; NULL if none supports p. */
static const struct step *in_plain_c(const struct attention *p)
{
    static const char *const plain[] = { "fa2", "softcap", "fa1" };
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; k++)
        if (!step_unsupported(step_named(&table, plain[k]), p))
            return step_named(&table, plain[k]);
    return NULL;
}

int main(int argc, char **argv)
{
    struct lab lab = lab_open(&chapter, argc, argv);
    if (lab.o.story)
        return tell_part(&lab.o);
    kernels_expect(&lab.o);
    const bool cuda = wants_kernels(&lab.o), all = lab_asks_for(&lab, "all");
    if (lab.o.train)
        return train(&lab, cuda ? kernels->trainer(&lab.o) : NULL);
    if (cuda && kernels->bench(&lab.o))
        return lab_close(&lab);
    backward_load(&lab);
    if (kernels)
        kernels->check(&lab.o, &lab.input.p);
    if (!cuda)
        lab_choose(&lab, lab.screen ? "fa2" : "complete");
    if (lab.o.trace)
        backward_trace_check(&lab.input.p);
    forward_pass(&lab.input.p, &lab.x);
    lab.plain = in_plain_c(&lab.input.p);
    lab_title(&lab);
    if (lab.o.trace)
        backward_trace(&lab, lab.o.trace_csv);
    if (lab.screen)
        tell_screen(run_steps);
    backward_input(&lab);
    if (!cuda && lab.o.dtype == DTYPE_F32)  // the only type of the steps in C
        run_steps(&lab);
    if (kernels && (cuda || all))
        kernels->run(&lab);
    if (!cuda && lab.o.bench && options_usual(&lab.o))
        backward_ladder(&chapter, LADDER_N, LADDER_SECONDS, &lab.o);
    else if (!cuda && lab.o.bench)
        lab_speed(&lab);
    return lab_close(&lab);
}
