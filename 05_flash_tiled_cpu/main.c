/*
 * Chapter 05 as a program: every step, what it reads and writes, and whether it is correct.
 */
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "05_flash_tiled_cpu/fast/bench.h"
#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/steps.h"
#include "05_flash_tiled_cpu/steps/trace.h"
#include "common/cpu/memory.h"
#include "common/lab/speed.h"
#include "common/measure/traffic.h"

enum { FAST_N = 2048, FAST_SECONDS = 6, LADDER_N = 2048, LADDER_SECONDS = 10 };

/* What the first step is compared with: chapter 04's rows, for problems that it supports. */
static struct previous chapter_04(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    struct previous previous = { .name = "04 no tiling" };
    if (p->dropout_threshold > 0)
        return previous;
    previous.of[0] = allocate(lab->check.count * p->d, sizeof(float), "chapter 04's O");
    for (size_t k = 0; k < lab->check.count; k++) {
        const size_t row = lab->check.rows[k], head = row / p->Nq;
        flash_no_tiling_row(p, lab->x.Q, lab->x.K, lab->x.V, head / p->H, head % p->H, row % p->Nq,
                            previous.of[0] + k * p->d, NULL);
    }
    return previous;
}

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

/* The step in plain C that visits the same tiles as complete. */
static const char *in_plain_c(const struct attention *p)
{
    return score_option(p) ? "softcap" : split_count(p) > 1 ? "split_kv" : "dropout";
}

static void run_steps(struct lab *lab)
{
    if (lab_begins(lab))
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
