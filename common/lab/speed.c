#include "common/lab/speed.h"

#include "common/cpu/threads.h"

#include <stdio.h>

void speed_work(void *arg)
{
    const struct runner *r = arg;
    threads_use(r->threads);
    r->step->run(r->p, r->size, r->x);
}

size_t round_threads(const struct step *step)
{
    return (step->supports & SUPPORTS_THREADS) ? threads_in_use() : 1;
}

double speed_of(const struct step *step, const struct attention *p, struct tile_size size,
                struct tensors x, double seconds)
{
    struct runner r = { step, p, size, outputs_new(p, x), threads_in_use(), 0.0, NULL };
    struct bench candidate = { .name = step->name, .work = speed_work, .arg = &r };
    bench_run(&candidate, 1, seconds);
    outputs_free(&r.x);
    return candidate.best;
}

// ---- a round ------------------------------------------------------------------------------------

void round_begin(struct round *round, const struct attention *p, struct tensors x)
{
    *round = (struct round){ .x = outputs_new(p, x) };
    round->candidates[0] = (struct bench){ .name = "peak", .work = bench_fma_work };
}

void round_enter(struct round *round, const struct lab *lab, const struct step *step,
                 size_t threads)
{
    const size_t k = round->count++, all = threads_in_use();
    struct tensors x = lab->x;
    x.O = x.dO ? x.O : round->x.O;
    x.lse = x.dO ? x.lse : round->x.lse;
    x.dQ = round->x.dQ;
    x.dK = round->x.dK;
    x.dV = round->x.dV;
    threads_use(threads);
    const struct attention_errors e = lab_errors(lab, step, false);
    threads_use(all);
    if (!e.right)
        report_wrong("%s: --step %s shows where", step->name, step->name);
    round->candidates[k + 1] =
        (struct bench){ .name = step->name, .work = speed_work, .arg = &round->runners[k] };
    round->runners[k] = (struct runner){
        .step = step,
        .p = &lab->input.p,
        .size = step_size(step, &lab->o, &lab->input.p),
        .x = x,
        .threads = threads,
        .error = e.reference,
        .bench = &round->candidates[k + 1],
    };
}

void round_run(struct round *round, double seconds)
{
    const size_t all = threads_in_use();
    bench_run(round->candidates, round->count + 1, seconds);
    threads_use(all);
}

void round_end(struct round *round)
{
    outputs_free(&round->x);
}

double round_peak(const struct round *round)
{
    return bench_fma_operations() / round->candidates[0].best;
}

/* In products: two forward; backward five by convention. */
static double operations(const struct runner *r)
{
    return (r->x.dO ? 10.0 : 4.0) * (double)attention_pairs(r->p) * (double)r->p->d;
}

struct mark round_mark(const struct round *round, size_t k)
{
    const struct runner *r = &round->runners[k];
    const double flops = operations(r) / r->bench->best;
    return (struct mark){ flops, flops / round_peak(round) / (double)r->threads };
}

/* With REPORT_SPEED_CSV's columns; `before`: seconds of the step it is compared with, or 0. */
static void append_csv(char *csv, const char *chapter, const struct round *round, size_t k,
                       double before)
{
    const struct runner *r = &round->runners[k];
    const struct mark mark = round_mark(round, k);
    char line[300], ratio[24] = "";
    if (before > 0.0)
        snprintf(ratio, sizeof ratio, "%.3f", before / r->bench->best);
    snprintf(line, sizeof line, "%s,%s,f32,%zu,%zu,%zu,%zu,%d,%s,%zu,%.5f,%.3f,%.4f,%s,%.3e\n",
             chapter, r->step->name, r->p->B, r->p->H, r->p->Nk, r->p->d, r->p->causal,
             r->x.dO ? "backward" : "forward", r->threads, 1e3 * r->bench->best, 1e-9 * mark.flops,
             mark.of_peak, ratio, r->error);
    report_append(csv, line);
}

// ---- the part "Speed" ---------------------------------------------------------------------------

/* The nearest earlier attention step that supports the problem, or NULL. */
static const struct step *runs_against(const struct lab *lab, const struct step *step)
{
    const struct step *before = step;
    while (before > lab->chapter->table->steps && !step->is_product) {
        before--;
        if (!before->is_product && lab_comes_before(lab, before))
            return before;
    }
    return NULL;
}

static void print_speed(const struct lab *lab, const struct round *round, size_t k, char *csv)
{
    const struct runner *r = &round->runners[k];
    const struct step *against = runs_against(lab, r->step);
    const struct mark mark = round_mark(round, k);
    const double seconds = r->bench->best;
    double before = 0.0;
    for (size_t earlier = 0; earlier < k; earlier++)
        if (round->runners[earlier].step == against)
            before = round->runners[earlier].bench->best;
    char name[32], time[24], ratio[24] = "-";
    step_label(lab->chapter->table, r->step, name);
    if (before > 0.0)
        snprintf(ratio, sizeof ratio, "%.2f", before / seconds);
    report_line("%s%8zu %12s %9.2f %7.1f %% %10s %9.2e", name, r->threads,
                report_milliseconds(seconds, time), 1e-9 * mark.flops, 100.0 * mark.of_peak, ratio,
                r->error);
    append_csv(csv, lab->chapter->number, round, k, before);
}

void lab_speed(const struct lab *lab)
{
    const struct step_table *table = lab->chapter->table;
    const struct step *const only = lab->o.step ? lab->only : NULL;
    const struct step *const against = only ? runs_against(lab, only) : NULL;
    struct round round;
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    round_begin(&round, &lab->input.p, lab->x);
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (!step_unsupported(step, &lab->input.p) &&
            (!only || step == only || (against && step == against)))
            round_enter(&round, lab, step, round_threads(step));
    round_run(&round, 1.0 * (double)round.count);
    report_part("Speed");
    report_line(" # %-*s%8s %12s %9s %9s %10s %9s", table->width, "step", "threads", "time",
                "GFLOP/s", "of peak", "x previous", "error");
    for (size_t k = 0; k < round.count; k++)
        print_speed(lab, &round, k, csv);
    report_line("%d d operations per pair; %.0f GFLOP/s of FMA is the most that one core reaches",
                lab->chapter->backward ? 10 : 4, 1e-9 * round_peak(&round));
    report_line("%s", bench_machine());
    if (lab->o.csv)
        report_csv(lab->o.csv, csv);
    round_end(&round);
}

// ---- the ladder ---------------------------------------------------------------------------------

/*
 * The rungs on one problem; a mark is 0 if a step does not support it. Returns one core's peak, in
 * operations per second.
 */
static double climb(const struct lab *lab, const struct rung *rungs, size_t count, double seconds,
                    struct mark *marks, char *csv)
{
    struct round round;
    size_t where[ROUND_MOST] = { 0 };
    round_begin(&round, &lab->input.p, lab->x);
    for (size_t k = 0; k < count; k++) {
        marks[k] = (struct mark){ 0 };
        if (step_unsupported(rungs[k].step, &lab->input.p))
            continue;
        where[round.count] = k;
        round_enter(&round, lab, rungs[k].step,
                    rungs[k].one_thread ? 1 : round_threads(rungs[k].step));
    }
    round_run(&round, seconds);
    for (size_t n = 0; n < round.count; n++) {
        marks[where[n]] = round_mark(&round, n);
        append_csv(csv, lab->chapter->number, &round, n,
                   n > 0 ? round.runners[n - 1].bench->best : 0.0);
    }
    const double peak = round_peak(&round);
    round_end(&round);
    return peak;
}

static void print_ladder(const struct step_table *table, const struct rung *rungs, size_t count,
                         struct mark marks[LADDER_CASES][ROUND_MOST], size_t N)
{
    report_part("Ladder");
    report_line("one head, N = %zu; GFLOP/s, and of the peak of so many cores", N);
    report_line(" # %-*s%7s %16s %16s %16s %16s", table->width, "step", "threads", "d 64", "causal",
                "d 128", "causal");
    bool disturbed = false;
    for (size_t k = 0; k < count; k++) {
        char name[32], cell[LADDER_CASES][24];
        step_label(table, rungs[k].step, name);
        for (size_t n = 0; n < LADDER_CASES; n++) {
            disturbed |= marks[n][k].of_peak > 1.0;
            if (marks[n][k].flops > 0.0)
                snprintf(cell[n], sizeof cell[n], "%.1f %5.1f %%", 1e-9 * marks[n][k].flops,
                         100.0 * marks[n][k].of_peak);
            else
                snprintf(cell[n], sizeof cell[n], "-");
        }
        report_line("%s%7zu %16s %16s %16s %16s", name,
                    rungs[k].one_thread ? 1 : round_threads(rungs[k].step), cell[0], cell[1],
                    cell[2], cell[3]);
    }
    if (disturbed)
        report_line(
            "More than the peak: other work kept this machine from reaching it. Measure again.");
}

double speed_ladder(const struct chapter *chapter, const struct rung *rungs, size_t count, size_t N,
                    double seconds,
                    struct lab (*make)(const struct chapter *chapter, struct attention p,
                                       const struct options *options),
                    const struct options *o, size_t parts, char csv[REPORT_CSV])
{
    struct mark marks[LADDER_CASES][ROUND_MOST];
    double peak = 0.0;
    for (size_t n = 0; n < LADDER_CASES; n++) {
        struct attention p = attention_of(1, 1, 1, N, N, n < 2 ? 64 : 128);
        p.causal = n % 2;
        bench_progress(n, parts);
        struct lab lab = make(chapter, p, o);
        peak = climb(&lab, rungs, count, seconds, marks[n], csv);
        lab_free(&lab);
    }
    print_ladder(chapter->table, rungs, count, marks, N);
    return peak;
}
