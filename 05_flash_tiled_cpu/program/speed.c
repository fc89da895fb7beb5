#include "05_flash_tiled_cpu/program/speed.h"

#include "05_flash_tiled_cpu/program/ladder.h"
#include "05_flash_tiled_cpu/program/stages.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/bench.h"

#include <stdio.h>
#include <stdlib.h>

void speed_work(void *struct_job)
{
    const struct job *job = struct_job;
    const struct attention_input *in = job->input;
    job->step->runs->run(&in->p, job->size, in->Q, in->K, in->V, job->O, job->lse);
}

double speed_of(const struct step *step, const struct attention_input *input, struct tile_size size,
                double seconds)
{
    const struct attention *p = &input->p;
    struct job job = { step, input, size, allocate(attention_query_elements(p), sizeof(float), "O"),
                       allocate(attention_rows(p), sizeof(float), "lse") };
    struct bench candidate = { .name = step->name, .work = speed_work, .arg = &job };
    bench_run(&candidate, 1, seconds);
    free(job.O);
    free(job.lse);
    return candidate.best;
}

/* The nearest earlier step that is attention too and supports the problem; NULL: none. */
static const struct step *runs_against(const struct step *step, const struct attention *p)
{
    for (size_t k = (size_t)(step - steps); k-- > 0 && !step->is_product;)
        if (!steps[k].is_product && step_comes_before(&steps[k], p))
            return &steps[k];
    return NULL;
}

struct runner speed_line_up(struct job job, const struct attention_check *check,
                            const struct options *o)
{
    struct result r = step_run(job.step, job.input, job.size);
    struct previous previous =
        previous_run(step_before(job.step, &job.input->p), job.input, check, o);
    const struct attention_errors e = step_check(job.step, job.input, check, &previous, &r, false);
    if (!e.right)
        report_wrong("%s: --step %s shows where", job.step->name, job.step->name);
    previous_free(&previous);
    result_free(&r);
    return (struct runner){ .job = job, .error = e.reference };
}

void speed_csv_line(char line[SPEED_CSV_LINE], const struct runner *runner, size_t threads,
                    double flops, double peak, const char *ratio)
{
    const struct attention *p = &runner->job.input->p;
    snprintf(line, SPEED_CSV_LINE,
             "05,%s,f32,%zu,%zu,%zu,%zu,%d,forward,%zu,%.5f,%.3f,%.4f,%s,%.3e\n",
             runner->job.step->name, p->B, p->H, p->Nk, p->d, p->causal, threads,
             1e3 * runner->bench->best, 1e-9 * flops, flops / peak / (double)threads, ratio,
             runner->error);
}

/* A line of the table; `before`, unless it is NULL, is what the step runs against. */
static void print_speed(const struct runner *runner, const struct runner *before, double peak,
                        char *csv)
{
    const struct attention *p = &runner->job.input->p;
    const struct step *step = runner->job.step;
    const double seconds = runner->bench->best;
    const double flops = 4.0 * (double)attention_pairs(p) * (double)p->d / seconds;
    const size_t threads = (step->supports & SUPPORTS_THREADS) ? threads_in_use() : 1;
    char name[32], time[24], ratio[24] = "-", ratio_csv[24] = "", line[SPEED_CSV_LINE];
    step_label(&table, step, name);
    if (before) {
        snprintf(ratio, sizeof ratio, "%.2f", before->bench->best / seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before->bench->best / seconds);
    }
    report_line("%s%8zu %12s %9.2f %7.1f %% %10s %9.2e", name, threads,
                report_milliseconds(seconds, time), 1e-9 * flops,
                100.0 * flops / peak / (double)threads, ratio, runner->error);
    speed_csv_line(line, runner, threads, flops, peak, ratio_csv);
    report_append(csv, line);
}

static void print_speeds(const struct runner *runners, size_t count, double peak,
                         const struct options *o)
{
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    report_part("Speed");
    report_line(" # %-12s%8s %12s %9s %9s %10s %9s", "step", "threads", "time", "GFLOP/s",
                "of peak", "x previous", "error");
    for (size_t k = 0; k < count; k++) {
        const struct step *previous = runs_against(runners[k].job.step, &runners[k].job.input->p);
        const struct runner *before = NULL;
        for (size_t earlier = 0; earlier < k; earlier++)
            if (runners[earlier].job.step == previous)
                before = &runners[earlier];
        print_speed(&runners[k], before, peak, csv);
    }
    report_line("4 d operations per pair; %.0f GFLOP/s of FMA is the most that one core reaches",
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
    struct bench candidates[STEPS + 1] = { { .name = "peak", .work = bench_fma_work } };
    size_t count = 0;
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        const struct job job = { step, input, step_size(step, o, p->d), r.O, r.lse };
        if (!step_unsupported(step, p) && (!only || step == only || step == runs_against(only, p)))
            runners[count++] = speed_line_up(job, &check, o);
    }
    for (size_t k = 0; k < count; k++) {
        struct runner *runner = &runners[k];
        runner->bench = &candidates[k + 1];
        *runner->bench = (struct bench){ .name = runner->job.step->name,
                                         .work = speed_work,
                                         .arg = &runner->job };
    }
    bench_run(candidates, count + 1, 1.0 * (double)count);
    print_speeds(runners, count, bench_fma_operations() / candidates[0].best, o);
    result_free(&r);
    attention_check_end(&check);
}
