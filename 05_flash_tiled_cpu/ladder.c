#include "ladder.h"

#include "bench.h"
#include "memory.h"
#include "stages.h"
#include "threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_SIZE = 4000 };

static void append(char *text, size_t size, const char *line)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", line);
}

/* " 3 fa2         ": complete has no number. */
static void number_and_name(const struct step *step, char text[24])
{
    const size_t k = (size_t)(step - steps);
    if (k == COMPLETE)
        snprintf(text, 24, "   %-12s", step->name);
    else
        snprintf(text, 24, "%2zu %-12s", k, step->name);
}

static struct attention_errors tell_row(const struct step *step,
                                        const struct attention_input *input,
                                        const struct attention_check *check,
                                        const struct options *o, char *csv)
{
    const struct attention *p = &input->p;
    const struct tile_size size = step_size(step, o, p->d);
    const struct count count = count_step(step, input, size);
    struct result r = step_run(step, input, size);
    const struct verdict v = step_check(step, input, check, o, &r, false);
    char name[24], accesses[32], before[40] = "-", line[200];
    number_and_name(step, name);
    if (v.errors.has_previous)
        snprintf(before, sizeof before, "%.2e %s", v.errors.previous, v.before);
    report_line("%s%13s %8.2f %9s  %8.2e  %s", name, report_number(count.total, accesses),
                (double)count.total / (double)(count.pairs ? count.pairs : 1),
                report_bytes(count.slow_bytes, line), v.errors.reference, before);
    if (!v.errors.right)
        report_wrong("%s: --kernel %s shows where", step->name, step->name);
    if (!count.as_predicted)
        report_wrong("%s: its accesses are not as predicted: --kernel %s shows them", step->name,
                     step->name);
    snprintf(line, sizeof line, "05,%s,%zu,%zu,%zu,%zu,%zu,%zu,%.3e,%s,%.3e\n", step->name, size.Br,
             size.Bc, count.total, count.pairs, count.slow_bytes, count.fast_bytes,
             v.errors.reference, v.errors.has_previous ? v.before : "", v.errors.previous);
    append(csv, CSV_SIZE, line);
    result_free(&r);
    return step->is_attention ? v.errors : (struct attention_errors){ 0 };
}

static void keep_worse(struct attention_errors *worst, struct attention_errors e)
{
    worst->reference = fmax(worst->reference, e.reference);
    worst->previous = fmax(worst->previous, e.previous);
}

void tell_steps(const struct attention_input *input, const struct options *o)
{
    const struct attention *p = &input->p;
    char csv[CSV_SIZE] = "chapter,kernel,br,bc,accesses,pairs,slow_bytes,fast_bytes,error,previous,"
                         "previous_error\n";
    struct attention_check check = attention_check_begin(input, o->verify_all);
    struct attention_errors worst = { 0 };
    char error[16];
    report_part("Steps");
    report_line(" # %-12s%13s %8s %9s  %8s  %s", "kernel", "accesses", "per pair", "stored",
                "error", "from the stage before");
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        const char *lacks = step_lacks(step, p);
        char name[24];
        number_and_name(step, name);
        if (lacks)
            report_line("%s cannot do this: it knows no %s", name, lacks);
        else
            keep_worse(&worst, tell_row(step, input, &check, o, csv));
    }
    snprintf(error, sizeof error, "%.2e", worst.reference);
    report_verified("double reference", error);
    snprintf(error, sizeof error, "%.2e", worst.previous);
    report_verified("the stage before", error);
    if (check.count < attention_rows(p))
        report_line("compared at %zu of %zu rows, drawn by seed", check.count, attention_rows(p));
    attention_check_end(&check);
    if (o->csv && !o->bench)
        report_csv(o->csv, csv);
}

// ---- speed --------------------------------------------------------------------------------------

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

double ladder_time(const struct step *step, const struct attention_input *input,
                   struct tile_size size, double seconds)
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

void bench_steps(const struct attention_input *input, const struct options *o)
{
    const struct attention *p = &input->p;
    const double flop = 4.0 * (double)attention_pairs(p) * (double)p->d;
    float *O = allocate(attention_query_elements(p), sizeof *O, "O");
    float *lse = allocate(attention_rows(p), sizeof *lse, "lse");
    char csv[CSV_SIZE] =
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds,"
        "gflops,peak_fraction,ratio_previous,max_abs_error\n";
    struct job jobs[STEPS];
    struct bench candidates[STEPS];
    size_t count = 0;
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        if (step_lacks(step, p))
            continue;
        jobs[count] = (struct job){ step, input, step_size(step, o, p->d), O, lse };
        candidates[count] = (struct bench){ .name = step->name, .work = work, .arg = &jobs[count] };
        count++;
    }
    const double peak = bench_fma_peak();
    bench_run(candidates, count, 1.0 * (double)count);
    report_part("Speed");
    report_line(" # %-13s %8s %10s %9s %9s %11s", "kernel", "threads", "time", "GFLOP/s", "of peak",
                "x previous");
    for (size_t k = 0; k < count; k++) {
        const double seconds = candidates[k].best, before = k ? candidates[k - 1].best : seconds;
        const size_t threads = jobs[k].step == &steps[COMPLETE] ? threads_in_use() : 1;
        char name[24], line[200];
        number_and_name(jobs[k].step, name);
        report_line("%s %8zu %7.2f ms %9.2f %7.1f %% %11.2f", name, threads, 1e3 * seconds,
                    1e-9 * flop / seconds, 100.0 * flop / seconds / peak / (double)threads,
                    before / seconds);
        snprintf(line, sizeof line,
                 "05,%s,f32,%zu,%zu,%zu,%zu,%d,forward,%zu,%.4f,%.3f,%.4f,%.3f,\n",
                 jobs[k].step->name, p->B, p->H, p->Nk, p->d, p->causal, threads, 1e3 * seconds,
                 1e-9 * flop / seconds, flop / seconds / peak / (double)threads, before / seconds);
        append(csv, CSV_SIZE, line);
    }
    report_line("4 d operations a pair; %.0f GFLOP/s of FMA is the most that one core reaches",
                1e-9 * peak);
    report_line("%s", bench_machine());
    if (o->csv)
        report_csv(o->csv, csv);
    free(lse);
    free(O);
}
