#include "common/lab/speed.h"

#include "common/cpu/threads.h"

#include <stdio.h>

static void speed_work(void *arg)
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

/* Of one core, in operations per second. */
static double round_peak(const struct round *round)
{
    return bench_fma_operations() / round->candidates[0].best;
}

/* Of the products only: two forward; backward, by convention, five. */
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

/* Seconds of the attention step before it in the round; 0 if there is none, or it is a product. */
static double seconds_before(const struct lab *lab, const struct round *round, size_t k)
{
    if (round->runners[k].step->is_product)
        return 0.0;
    while (k-- > 0)
        if (!round->runners[k].step->is_product && lab_comes_before(lab, round->runners[k].step))
            return round->runners[k].bench->best;
    return 0.0;
}

/* Prints a line, and appends one with REPORT_SPEED_CSV's columns. */
static void print_speed(const struct lab *lab, const struct round *round, size_t k, char *csv)
{
    const struct runner *r = &round->runners[k];
    const struct mark mark = round_mark(round, k);
    const double seconds = r->bench->best, before = seconds_before(lab, round, k);
    char name[32], time[24], ratio[24] = "-", ratio_csv[24] = "", line[300];
    step_label(lab->chapter->table, r->step, name);
    if (before > 0.0) {
        snprintf(ratio, sizeof ratio, "%.2f", before / seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before / seconds);
    }
    report_line("%s%8zu %12s %9.2f %7.1f %% %10s %9.2e", name, r->threads,
                report_milliseconds(seconds, time), 1e-9 * mark.flops, 100.0 * mark.of_peak, ratio,
                r->error);
    snprintf(line, sizeof line, "%s,%s,f32,%zu,%zu,%zu,%zu,%d,%s,%zu,%.5f,%.3f,%.4f,%s,%.3e\n",
             lab->chapter->number, r->step->name, r->p->B, r->p->H, r->p->Nk, r->p->d, r->p->causal,
             r->x.dO ? "backward" : "forward", r->threads, 1e3 * seconds, 1e-9 * mark.flops,
             mark.of_peak, ratio_csv, r->error);
    report_append(csv, line);
}

/* The rungs that support the lab's problem. Returns one core's peak. */
static double print_speeds(const struct lab *lab, const struct rung *rungs, size_t count,
                           double seconds, char *csv)
{
    struct round round;
    round_begin(&round, &lab->input.p, lab->x);
    for (const struct rung *r = rungs; r < rungs + count; r++)
        if (!step_unsupported(r->step, &lab->input.p))
            round_enter(&round, lab, r->step, r->one_thread ? 1 : round_threads(r->step));
    round_run(&round, seconds);
    report_line(" # %-*s%8s %12s %9s %9s %10s %9s", lab->chapter->table->width, "step", "threads",
                "time", "GFLOP/s", "of peak", "x previous", "error");
    for (size_t k = 0; k < round.count; k++)
        print_speed(lab, &round, k, csv);
    const double peak = round_peak(&round);
    round_end(&round);
    return peak;
}

void lab_speed(const struct lab *lab)
{
    const struct step_table *table = lab->chapter->table;
    const struct step *before = NULL;  // the step of --step is timed with the one before
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    struct rung rungs[ROUND_MOST];
    size_t count = 0;
    for (const struct step *step = table->steps; lab->o.step && step < lab->only; step++)
        if (!lab->only->is_product && !step->is_product && lab_comes_before(lab, step))
            before = step;
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (!lab->o.step || step == lab->only || step == before)
            rungs[count++] = (struct rung){ step, false };
    report_part("Speed");
    const double peak = print_speeds(lab, rungs, count, (double)count, csv);
    report_line("%d d operations per pair; %.0f GFLOP/s of FMA is the most that one core reaches",
                lab->chapter->backward ? 10 : 4, 1e-9 * peak);
    report_line("%s", bench_machine());
    if (lab->o.csv)
        report_csv(lab->o.csv, csv);
}

double speed_ladder(const struct chapter *chapter, const struct rung *rungs, size_t count, size_t N,
                    double seconds,
                    struct lab (*make)(const struct chapter *chapter, struct attention p,
                                       const struct options *options),
                    const struct options *o, char csv[REPORT_CSV])
{
    double peak = 0.0;
    for (size_t n = 0; n < 4; n++) {
        struct attention p = attention_of(1, 1, 1, N, N, n < 2 ? 64 : 128);
        p.causal = n % 2;
        struct lab lab = make(chapter, p, o);
        report_part("Ladder");
        report_line("one head, N = %zu, d = %zu%s", N, p.d, p.causal ? ", causal" : "");
        peak = print_speeds(&lab, rungs, count, seconds, csv);
        lab_free(&lab);
    }
    return peak;
}
