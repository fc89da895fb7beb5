#include "07_backward/program/speed.h"

#include "07_backward/program/ladder.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/bench.h"

#include <stdio.h>

/* One step to be timed, on so many threads. */
struct job {
    const struct step *step;
    const struct layer *layer;
    struct tile_size size;
    size_t threads;
    struct result result;
    double error;
};

static void work(void *arg)
{
    const struct job *job = arg;
    const struct layer *layer = job->layer;
    threads_use(job->threads);
    job->step->run(&layer->input.p, job->size, layer_tensors(layer, &job->result));
}

double speed_of(const struct step *step, const struct layer *layer, struct tile_size size,
                double seconds)
{
    struct job job = { step, layer, size, threads_in_use(), result_new(&layer->input.p), 0.0 };
    struct bench candidate = { .name = step->name, .work = work, .arg = &job };
    bench_run(&candidate, 1, seconds);
    result_free(&job.result);
    return candidate.best;
}

/* A step is checked before it is timed. */
static struct job line_up(const struct step *step, const struct layer *layer, size_t threads,
                          const struct gradient_check *check, const struct options *o)
{
    const struct tile_size size = step_size(step, o, layer->input.p.d);
    threads_use(threads);
    struct job job = { step, layer, size, threads, layer_run(step, layer, size), 0.0 };
    struct previous previous = previous_run(step_before(step, &layer->input.p), layer, o);
    const struct attention_errors e = step_check(check, &previous, &job.result, false);
    result_free(&previous.result);
    if (!e.right)
        report_wrong("%s: --step %s shows where", step->name, step->name);
    job.error = e.reference;
    return job;
}

/* Operations per second; the field counts 10 d for each pair, five products, however many there are. */
static double flops_of(const struct layer *layer, double seconds)
{
    const struct attention *p = &layer->input.p;
    return 10.0 * (double)attention_pairs(p) * (double)p->d / seconds;
}

/* A line of comma-separated values; `before`, if it is not 0, are the seconds of the one before. */
static void append_csv(char *csv, const struct job *job, double seconds, double before, double peak)
{
    const struct attention *p = &job->layer->input.p;
    const double flops = flops_of(job->layer, seconds);
    char line[300], ratio[24] = "";
    if (before > 0.0)
        snprintf(ratio, sizeof ratio, "%.3f", before / seconds);
    snprintf(line, sizeof line,
             "07,%s,f32,%zu,%zu,%zu,%zu,%d,backward,%zu,%.5f,%.3f,%.4f,%s,%.3e\n", job->step->name,
             p->B, p->H, p->Nk, p->d, p->causal, job->threads, 1e3 * seconds, 1e-9 * flops,
             flops / peak / (double)job->threads, ratio, job->error);
    report_append(csv, line);
}

static void print_speeds(const struct job *jobs, const struct bench *times, size_t count,
                         double peak, const struct options *o)
{
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    report_part("Speed");
    report_line(" # %-10s%8s %12s %9s %9s %10s %9s", "kernel", "threads", "time", "GFLOP/s",
                "of peak", "x previous", "error");
    for (size_t k = 0; k < count; k++) {
        const double seconds = times[k].best, before = k > 0 ? times[k - 1].best : 0.0;
        const double flops = flops_of(jobs[k].layer, seconds);
        char name[32], time[24], ratio[24] = "-";
        step_label(&table, jobs[k].step, name);
        if (before > 0.0)
            snprintf(ratio, sizeof ratio, "%.2f", before / seconds);
        report_line("%s%8zu %12s %9.2f %7.1f %% %10s %9.2e", name, jobs[k].threads,
                    report_milliseconds(seconds, time), 1e-9 * flops,
                    100.0 * flops / peak / (double)jobs[k].threads, ratio, jobs[k].error);
        append_csv(csv, &jobs[k], seconds, before, peak);
    }
    report_line("10 d operations per pair; %.0f GFLOP/s of FMA is the most that one core reaches",
                1e-9 * peak);
    report_line("%s", bench_machine());
    if (o->csv)
        report_csv(o->csv, csv);
}

void bench_steps(const struct step *only, const struct layer *layer, const struct options *o)
{
    const struct attention *p = &layer->input.p;
    struct gradient_check check = gradient_check_begin(&layer->input, layer->dO, o->verify_all);
    const size_t threads = threads_in_use();
    struct job jobs[STEPS];
    struct bench times[STEPS + 1];  // the last is the peak, which takes its turn
    size_t count = 0;
    const struct step *first = only ? only : steps;
    while (only && first-- > steps && !step_comes_before(first, p))
        ;
    first = first < steps ? steps : first;
    for (const struct step *step = first; step < (only ? only + 1 : steps + STEPS); step++)
        if (only && step != only ? step_comes_before(step, p) : !step_unsupported(step, p))
            jobs[count++] =
                line_up(step, layer, (step->supports & SUPPORTS_THREADS) ? threads : 1, &check, o);
    for (size_t k = 0; k < count; k++)
        times[k] = (struct bench){ .name = jobs[k].step->name, .work = work, .arg = &jobs[k] };
    times[count] = (struct bench){ .name = "peak", .work = bench_fma_work };
    bench_run(times, count + 1, 1.0 * (double)(count + 1));
    print_speeds(jobs, times, count, bench_fma_operations() / times[count].best, o);
    for (size_t k = 0; k < count; k++)
        result_free(&jobs[k].result);
    gradient_check_end(&check);
    threads_use(threads);
}

// ---- the ladder ---------------------------------------------------------------------------------

enum { LADDER = 4, CASES = 4 };

/* Which steps there are: complete on one thread, and then on all. */
static const struct {
    enum step_name name;
    bool one_thread;
} on_ladder[LADDER] = {
    { STANDARD, true }, { FA2, true }, { COMPLETE, true }, { COMPLETE, false }
};

/* What one step did in one case: operations per second, and of the peak of so many threads. */
struct mark {
    double flops, of_peak;
};

/* The steps on one problem, in about so many seconds. Returns the peak of one core, in operations per second. */
static double time_ladder(struct attention p, double seconds, const struct options *o,
                          struct mark marks[LADDER], char *csv)
{
    struct layer layer = layer_random(p, 1);
    struct gradient_check check = gradient_check_begin(&layer.input, layer.dO, false);
    const size_t threads = threads_in_use();
    struct job jobs[LADDER];
    struct bench times[LADDER + 1] = { { .name = "peak", .work = bench_fma_work } };
    for (size_t k = 0; k < LADDER; k++) {
        jobs[k] = line_up(&steps[on_ladder[k].name], &layer, on_ladder[k].one_thread ? 1 : threads,
                          &check, o);
        times[k + 1] = (struct bench){ .name = jobs[k].step->name, .work = work, .arg = &jobs[k] };
    }
    bench_run(times, LADDER + 1, seconds);
    const double peak = bench_fma_operations() / times[0].best;
    for (size_t k = 0; k < LADDER; k++) {
        const double flops = flops_of(&layer, times[k + 1].best);
        marks[k] = (struct mark){ flops, flops / peak / (double)jobs[k].threads };
        append_csv(csv, &jobs[k], times[k + 1].best, k > 0 ? times[k].best : 0.0, peak);
        result_free(&jobs[k].result);
    }
    threads_use(threads);
    gradient_check_end(&check);
    layer_free(&layer);
    return peak;
}

static void print_ladder(struct mark marks[CASES][LADDER], size_t N)
{
    report_part("Ladder");
    report_line("one head, N = %zu; GFLOP/s, and of the peak of so many cores", N);
    report_line(" # %-10s%7s %16s %16s %16s %16s", "kernel", "threads", "d 64", "causal", "d 128",
                "causal");
    for (size_t k = 0; k < LADDER; k++) {
        char name[32], cell[CASES][24];
        step_label(&table, &steps[on_ladder[k].name], name);
        for (size_t n = 0; n < CASES; n++)
            snprintf(cell[n], sizeof cell[n], "%.1f %5.1f %%", 1e-9 * marks[n][k].flops,
                     100.0 * marks[n][k].of_peak);
        report_line("%s%7zu %16s %16s %16s %16s", name,
                    on_ladder[k].one_thread ? 1 : threads_in_use(), cell[0], cell[1], cell[2],
                    cell[3]);
    }
}

void bench_ladder(size_t N, double seconds, const struct options *o)
{
    struct mark marks[CASES][LADDER];
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    double peak = 0.0;
    for (size_t n = 0; n < CASES; n++) {
        struct attention p = attention_of(1, 1, 1, N, N, n < 2 ? 64 : 128);
        p.causal = n % 2;
        bench_progress(n, CASES);
        peak = time_ladder(p, seconds, o, marks[n], csv);
    }
    bench_progress(0, 1);
    print_ladder(marks, N);
    report_line("%s; one core: %.1f GFLOP/s of FMA, %.1f GB/s copied", bench_machine(), 1e-9 * peak,
                1e-9 * bench_copy_bandwidth());
    if (o->csv)
        report_csv(o->csv, csv);
}
