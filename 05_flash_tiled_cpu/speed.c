#include "speed.h"

#include "bench.h"
#include "ladder.h"
#include "memory.h"
#include "stages.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>

#define CSV_TITLE                                                                 \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds," \
    "gflops,peak_fraction,ratio_previous,max_abs_error\n"

struct job {
    const struct step *step;
    const struct attention_input *input;
    struct tile_size size;
    float *O, *lse;
};

static void work(void *arg)
{
    const struct job *job = arg;
    const struct attention_input *in = job->input;
    job->step->run(&in->p, job->size, in->Q, in->K, in->V, job->O, job->lse);
}

double speed_of(const struct step *step, const struct attention_input *input, struct tile_size size,
                double seconds)
{
    const struct attention *p = &input->p;
    struct job job = { step, input, size, allocate(attention_query_elements(p), sizeof(float), "O"),
                       allocate(attention_rows(p), sizeof(float), "lse") };
    struct bench candidate = { .name = step->name, .work = work, .arg = &job };
    bench_run(&candidate, 1, seconds);
    free(job.O);
    free(job.lse);
    return candidate.best;
}

/* One step in the table of speeds. */
struct runner {
    struct job job;
    struct bench *bench;
    double error;
};

/* The nearest earlier step that is attention too and can do the problem; NULL: none. */
static const struct step *runs_against(const struct step *step, const struct attention *p)
{
    for (size_t k = (size_t)(step - steps); k-- > 0 && step->is_attention;)
        if (steps[k].is_attention && !step_lacks(&steps[k], p))
            return &steps[k];
    return NULL;
}

/* A step is checked before it is timed. */
static struct runner line_up(struct job job, const struct attention_check *check,
                             const struct options *o)
{
    struct result r = step_run(job.step, job.input, job.size);
    const struct verdict v = step_check(job.step, job.input, check, o, &r, false);
    if (!v.errors.right)
        report_wrong("%s: --kernel %s shows where", job.step->name, job.step->name);
    result_free(&r);
    return (struct runner){ .job = job, .error = v.errors.reference };
}

/* Three digits of a time: "0.0512 ms", "12.3 ms". */
static const char *milliseconds(double seconds, char text[24])
{
    if (seconds < 0.9995)
        snprintf(text, 24, "%.3g ms", 1e3 * seconds);
    else
        snprintf(text, 24, "%.0f ms", 1e3 * seconds);
    return text;
}

/* A line of the table; `before`, unless it is NULL, is what the step runs against. */
static void tell_speed(const struct runner *runner, const struct runner *before, double peak,
                       char *csv)
{
    const struct attention *p = &runner->job.input->p;
    const struct step *step = runner->job.step;
    const double seconds = runner->bench->best;
    const double flops = 4.0 * (double)attention_pairs(p) * (double)p->d / seconds;
    const size_t threads = step->threads ? threads_in_use() : 1;
    char name[24], time[24], ratio[24] = "-", ratio_csv[24] = "", line[300];
    ladder_name(step, name);
    if (before) {
        snprintf(ratio, sizeof ratio, "%.2f", before->bench->best / seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before->bench->best / seconds);
    }
    report_line("%s%8zu %12s %9.2f %7.1f %% %10s %9.2e", name, threads, milliseconds(seconds, time),
                1e-9 * flops, 100.0 * flops / peak / (double)threads, ratio, runner->error);
    snprintf(line, sizeof line, "05,%s,f32,%zu,%zu,%zu,%zu,%d,forward,%zu,%.5f,%.3f,%.4f,%s,%.3e\n",
             step->name, p->B, p->H, p->Nk, p->d, p->causal, threads, 1e3 * seconds, 1e-9 * flops,
             flops / peak / (double)threads, ratio_csv, runner->error);
    ladder_append(csv, line);
}

static void tell_speeds(const struct runner *runners, size_t count, const struct options *o)
{
    const double peak = bench_fma_peak();
    char csv[LADDER_CSV] = CSV_TITLE;
    report_part("Speed");
    report_line(" # %-12s%8s %12s %9s %9s %10s %9s", "kernel", "threads", "time", "GFLOP/s",
                "of peak", "x previous", "error");
    for (size_t k = 0; k < count; k++) {
        const struct step *previous = runs_against(runners[k].job.step, &runners[k].job.input->p);
        const struct runner *before = NULL;
        for (size_t earlier = 0; earlier < k; earlier++)
            if (runners[earlier].job.step == previous)
                before = &runners[earlier];
        tell_speed(&runners[k], before, peak, csv);
    }
    report_line("4 d operations a pair; %.0f GFLOP/s of FMA is the most that one core reaches",
                1e-9 * peak);
    report_line("%s", bench_machine());
    if (o->csv)
        report_csv(o->csv, csv);
}

void bench_steps(const struct step *only, const struct attention_input *input,
                 const struct options *o)
{
    const struct attention *p = &input->p;
    struct attention_check check = attention_check_begin(input, o->verify_all);
    struct result r = { allocate(attention_query_elements(p), sizeof(float), "O"),
                        allocate(attention_rows(p), sizeof(float), "lse") };
    struct runner runners[STEPS];
    struct bench candidates[STEPS];
    size_t count = 0;
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        const struct job job = { step, input, step_size(step, o, p->d), r.O, r.lse };
        if (!step_lacks(step, p) && (!only || step == only || step == runs_against(only, p)))
            runners[count++] = line_up(job, &check, o);
    }
    for (size_t k = 0; k < count; k++) {
        const struct step *step = runners[k].job.step;
        candidates[k] = (struct bench){ .name = step->name, .work = work, .arg = &runners[k].job };
        runners[k].bench = &candidates[k];
    }
    bench_run(candidates, count, 1.0 * (double)count);
    tell_speeds(runners, count, o);
    result_free(&r);
    attention_check_end(&check);
}

// ---- the ladder ---------------------------------------------------------------------------------

static const enum step_name on_the_ladder[] = { STANDARD, FA2,  LOOPS,   POLYNOMIAL, REGISTERS,
                                                BLOCK,    SKIP, OVERLAP, THREADS,    COMPLETE };
enum { LADDER = sizeof on_the_ladder / sizeof on_the_ladder[0] };

/* What one rung did in one case: operations per second, of one thread's peak; 0 if it cannot. */
struct mark {
    double flops, of_peak, error;
};

static void climb(struct attention p, const struct options *o, struct mark marks[LADDER], char *csv)
{
    struct attention_input input = attention_input_random(p, 1);
    struct attention_check check = attention_check_begin(&input, false);
    struct result r = { allocate(attention_query_elements(&p), sizeof(float), "O"),
                        allocate(attention_rows(&p), sizeof(float), "lse") };
    struct runner runners[LADDER];
    struct bench candidates[LADDER + 1] = { { .name = "peak", .work = bench_fma_work } };
    size_t where[LADDER], count = 0;
    for (size_t k = 0; k < LADDER; k++) {
        const struct step *step = &steps[on_the_ladder[k]];
        marks[k] = (struct mark){ 0 };
        if (step_lacks(step, &p))
            continue;
        where[count] = k;
        runners[count] =
            line_up((struct job){ step, &input, step_size(step, o, p.d), r.O, r.lse }, &check, o);
        candidates[++count] = (struct bench){ .name = step->name, .work = work };
    }
    for (size_t n = 0; n < count; n++)
        candidates[n + 1].arg = &runners[n].job;
    bench_run(candidates, count + 1, 10.0);

    const double peak = bench_fma_operations() / candidates[0].best;
    for (size_t n = 0; n < count; n++) {
        const struct step *step = runners[n].job.step;
        const size_t threads = step->threads ? threads_in_use() : 1;
        const double seconds = candidates[n + 1].best;
        const double flops = 4.0 * (double)attention_pairs(&p) * (double)p.d / seconds;
        char line[300], ratio[24] = "";
        if (n > 0)
            snprintf(ratio, sizeof ratio, "%.3f", candidates[n].best / seconds);
        marks[where[n]] = (struct mark){ flops, flops / peak / (double)threads, runners[n].error };
        snprintf(line, sizeof line,
                 "05,%s,f32,%zu,%zu,%zu,%zu,%d,forward,%zu,%.5f,%.3f,%.4f,%s,%.3e\n", step->name,
                 p.B, p.H, p.Nk, p.d, p.causal, threads, 1e3 * seconds, 1e-9 * flops,
                 flops / peak / (double)threads, ratio, runners[n].error);
        ladder_append(csv, line);
    }
    result_free(&r);
    attention_check_end(&check);
    attention_input_free(&input);
}

void bench_ladder(size_t N, const struct options *o)
{
    struct mark marks[4][LADDER];
    char csv[LADDER_CSV] = CSV_TITLE;
    for (size_t n = 0; n < 4; n++) {
        struct attention p = attention_of(1, 1, 1, N, N, n < 2 ? 64 : 128);
        p.causal = n % 2;
        climb(p, o, marks[n], csv);
    }
    report_part("Ladder");
    report_line("one head, N = %zu; GFLOP/s, and of the peak of so many cores", N);
    report_line(" # %-12s%7s %16s %16s %16s %16s", "kernel", "threads", "d 64", "causal", "d 128",
                "causal");
    for (size_t k = 0; k < LADDER; k++) {
        const struct step *step = &steps[on_the_ladder[k]];
        char name[24], cell[4][24];
        ladder_name(step, name);
        for (size_t n = 0; n < 4; n++)
            if (marks[n][k].flops > 0.0)
                snprintf(cell[n], sizeof cell[n], "%.1f %5.1f %%", 1e-9 * marks[n][k].flops,
                         100.0 * marks[n][k].of_peak);
            else
                snprintf(cell[n], sizeof cell[n], "-");
        report_line("%s%7zu %16s %16s %16s %16s", name, step->threads ? threads_in_use() : 1,
                    cell[0], cell[1], cell[2], cell[3]);
    }
    report_line("%s", bench_machine());
    if (o->csv)
        report_csv(o->csv, csv);
}
