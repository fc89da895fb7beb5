/*
 * Chapter 05 as a program: every step, what it reads and writes, and whether it is correct.
 */
#include "05_flash_tiled_cpu/fast/bench.h"
#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/trace.h"
#include "common/lab/speed.h"
#include "common/measure/traffic.h"

enum { FAST_N = 2048, FAST_SECONDS = 6, LADDER_N = 2048, LADDER_SECONDS = 10 };

/* Exits if the chosen step lacks what the command line asks for. */
static void check_requested(const struct options *o, const struct step *step,
                            const struct attention *p)
{
    if (o->lse && !(step->supports & SUPPORTS_LSE))
        options_fail("--lse", "expected a --step from fa1 on, found %s", step->name);
    if (o->threads > 1 && !(step->supports & SUPPORTS_THREADS))
        options_fail("--threads", "expected 1, as %s runs on one thread", step->name);
    if (o->br && !(step->supports & SUPPORTS_BR))
        options_fail("--br", "%s takes its queries in groups that fit the vectors", step->name);
    if (step->stores & STORES_SCORES)
        extra_check("S and P", 2.0 * (double)p->Nq * (double)p->Nk);
}

static void run_steps(struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const bool plain = p->dropout_threshold == 0 && !score_option(p);
    if (lab_begins(lab) || (plain && !lab->o.step))
        lab->before = chapter_04(lab);
    for (const struct step *step = lab_first(lab); step; step = lab_next(lab, step)) {
        lab_run(lab, step);    // into poisoned memory
        lab_count(lab, step);  // accesses, against the formula
        lab_check(lab, step);  // the reference, and the step before
    }
}

int main(int argc, char **argv)
{
    struct lab lab = lab_open(&chapter, argc, argv);
    if (lab.o.story)
        return tell_part(&lab.o);
    if (lab_asks_for(&lab, "fast")) {
        bench_fast(&chapter, FAST_N, FAST_SECONDS, &lab.o);
        return lab_close(&lab);
    }
    lab_load(&lab);
    lab_choose(&lab, lab.screen ? "masks" : lab.o.trace ? in_plain_c(&lab.input.p) : "complete");
    if (lab.only)
        check_requested(&lab.o, lab.only, &lab.input.p);
    if (lab.only && !lab.only->formula)
        lab.plain = step_named(&table, in_plain_c(&lab.input.p));
    if (lab.o.trace)
        trace_check(&lab);
    lab_title(&lab);
    if (lab.o.trace)
        trace(&lab);
    if (lab.screen)
        tell_screen(run_steps);  // of the first steps; below, masks on the real input
    lab_input(&lab);
    run_steps(&lab);
    if (lab.o.bench && options_usual(&lab.o))
        bench_all(&chapter, LADDER_N, LADDER_SECONDS, &lab.o);
    else if (lab.o.bench)
        lab_speed(&lab);
    return lab_close(&lab);
}
