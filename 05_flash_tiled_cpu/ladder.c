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

/* The columns of a step's counts, in text and for --csv; a problem may be too large to be counted. */
struct counts {
    char text[80], csv[120];
    bool as_predicted;
};

static struct counts count_row(const struct step *step, const struct attention_input *input,
                               struct tile_size size)
{
    struct counts row = { .csv = ",,,", .as_predicted = true };
    char accesses[32], stored[32];
    snprintf(row.text, sizeof row.text, "%13s %8s %9s", "-", "-", "-");
    if (!can_be_counted(&input->p))
        return row;
    const struct count c = count_step(step, input, size);
    snprintf(row.text, sizeof row.text, "%13s %8.2f %9s", report_number(c.total, accesses),
             (double)c.total / (double)(c.pairs ? c.pairs : 1), report_bytes(c.slow_bytes, stored));
    snprintf(row.csv, sizeof row.csv, "%zu,%zu,%zu,%zu", c.total, c.pairs, c.slow_bytes,
             c.fast_bytes);
    row.as_predicted = c.as_predicted;
    return row;
}

static struct attention_errors tell_row(const struct step *step,
                                        const struct attention_input *input,
                                        const struct attention_check *check,
                                        const struct options *o, char *csv)
{
    const struct attention *p = &input->p;
    const struct tile_size size = step_size(step, o, p->d);
    const struct counts counts = count_row(step, input, size);
    struct result r = step_run(step, input, size);
    const struct verdict v = step_check(step, input, check, o, &r, false);
    char name[24], before[40] = "-", before_csv[40] = ",", line[300];
    number_and_name(step, name);
    if (v.errors.has_previous) {
        snprintf(before, sizeof before, "%.2e %s", v.errors.previous, v.before);
        snprintf(before_csv, sizeof before_csv, "%s,%.3e", v.before, v.errors.previous);
    }
    report_line("%s%s  %8.2e  %s", name, counts.text, v.errors.reference, before);
    if (!v.errors.right)
        report_wrong("%s: its O or lse; it is compared in detail below", step->name);
    if (!counts.as_predicted)
        report_wrong("%s: its accesses are not those of its formula", step->name);
    snprintf(line, sizeof line, "05,%s,%zu,%zu,%s,%.3e,%s\n", step->name, size.Br, size.Bc,
             counts.csv, v.errors.reference, before_csv);
    append(csv, CSV_SIZE, line);
    result_free(&r);
    return step->is_attention ? v.errors : (struct attention_errors){ .right = v.errors.right };
}

/* The larger one; NaN is worse than any number. */
static double worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

static void keep_worse(struct attention_errors *worst, struct attention_errors e)
{
    worst->reference = worse(worst->reference, e.reference);
    worst->previous = worse(worst->previous, e.previous);
    worst->right &= e.right;
}

/* The part "Compared with" of each step that is wrong. */
static void tell_wrong_steps(const struct attention_input *input,
                             const struct attention_check *check, const struct options *o)
{
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        if (step_lacks(step, &input->p))
            continue;
        struct result r = step_run(step, input, step_size(step, o, input->p.d));
        if (!step_check(step, input, check, o, &r, false).errors.right) {
            report_part("Wrong");
            report_line("%s", step->name);
            step_check(step, input, check, o, &r, true);
        }
        result_free(&r);
    }
}

void tell_steps(const struct attention_input *input, const struct options *o)
{
    const struct attention *p = &input->p;
    char csv[CSV_SIZE] = "chapter,kernel,br,bc,accesses,pairs,slow_bytes,fast_bytes,error,previous,"
                         "previous_error\n";
    struct attention_check check = attention_check_begin(input, o->verify_all);
    struct attention_errors worst = { .right = true };
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
    if (!can_be_counted(p))
        report_line("accesses are left out: counted runs of a problem of this size take long");
    if (!step_lacks(&steps[BLOCK_MATMUL], p))
        report_line("block_matmul is held against (Q K^T) V, which is larger, and so is its error");
    if (check.count < attention_rows(p))
        report_line("compared at %zu of %zu rows, drawn by seed", check.count, attention_rows(p));
    if (!worst.right)
        tell_wrong_steps(input, &check, o);
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
    const size_t threads = step == &steps[COMPLETE] ? threads_in_use() : 1;
    char name[24], time[24], ratio[24] = "-", ratio_csv[24] = "", line[300];
    number_and_name(step, name);
    if (before) {
        snprintf(ratio, sizeof ratio, "%.2f", before->bench->best / seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before->bench->best / seconds);
    }
    report_line("%s%8zu %12s %9.2f %7.1f %% %10s %9.2e", name, threads, milliseconds(seconds, time),
                1e-9 * flops, 100.0 * flops / peak / (double)threads, ratio, runner->error);
    snprintf(line, sizeof line, "05,%s,f32,%zu,%zu,%zu,%zu,%d,forward,%zu,%.5f,%.3f,%.4f,%s,%.3e\n",
             step->name, p->B, p->H, p->Nk, p->d, p->causal, threads, 1e3 * seconds, 1e-9 * flops,
             flops / peak / (double)threads, ratio_csv, runner->error);
    append(csv, CSV_SIZE, line);
}

static void tell_speeds(const struct runner *runners, size_t count, const struct options *o)
{
    const double peak = bench_fma_peak();
    char csv[CSV_SIZE] =
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds,"
        "gflops,peak_fraction,ratio_previous,max_abs_error\n";
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
