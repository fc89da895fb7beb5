#include "common/lab/speed.h"

#include "common/cpu/memory.h"
#include "common/lab/copies.h"
#include "common/lab/device.h"
#include "common/measure/bench.h"
#include "common/program/attention_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 21, LEAST_RUNS = 3, MOST_COPIES = 16, MOST_KERNELS = 20 };
static const double SECONDS = 10.0;  // roughly, for the runs of a problem; at least 3 runs

/* A kernel that is timed, on this lab's problem. */
struct timing {
    const struct step *kernel;
    const struct lab *lab;
    struct tile_size size;
    double error, seconds;
};

static bool is_gpu(const struct device *device)
{
    return device->build == BUILD_GPU;
}

// ---- times --------------------------------------------------------------------------------------

/*
 * The number of copies of the problem, so many that inputs do not stay in the L2 cache between
 * runs.
 */
static size_t copies_of(const struct device *device, const struct attention *p)
{
    struct device_facts facts;
    device->facts(&facts);
    const size_t bytes =
        dtype_bytes(p->dtype) * (attention_query_elements(p) + 2 * attention_key_elements(p));
    const size_t copies = 2 * facts.L2 / bytes + 2;
    return !is_gpu(device) ? 1 : copies < MOST_COPIES ? copies : MOST_COPIES;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t n)
{
    qsort(times, n, sizeof times[0], by_size);
    return times[n / 2];
}

static void run(void *arg)
{
    const struct timing *t = arg;
    t->kernel->run(&t->lab->input.p, t->size, t->lab->x);
}

/*
 * Times all kernels in turn, so that a change in the machine, such as warming up, affects all of
 * them. A GPU rests before each run. Each has run once before on each copy, and the first round
 * shows how many there is time for.
 */
static void time_kernels(struct timing *timings, size_t n, const struct lab *lab)
{
    const struct device *const device = device_current();
    const size_t copies = copies_of(device, &lab->input.p);
    double times[MOST_KERNELS][RUNS], turn = 0.0, before = 0.0;
    size_t runs = is_gpu(device) ? RUNS : 1;
    for (size_t copy = 1; copy <= copies; copy++) {
        device_keep(device, copy);
        for (size_t k = 0; k < n; k++)
            run(&timings[k]);
    }
    for (size_t round = 0, copy = 0; round < runs; round++) {
        for (size_t k = 0; k < n; k++) {
            copy = copy < copies ? copy + 1 : 1;
            device_keep(device, copy);
            if (is_gpu(device))
                bench_rest(before);
            times[k][round] = before = device->seconds(run, &timings[k]);
            turn += before;
        }
        while (round == 0 && runs > LEAST_RUNS && (double)runs * turn > SECONDS)
            runs--;
    }
    device_keep(device, 0);
    for (size_t k = 0; k < n; k++)
        timings[k].seconds = median(times[k], runs);
}

double device_seconds(const struct lab *lab, const struct step *kernel)
{
    struct timing timing = { .kernel = kernel, .lab = lab, .size = lab->size };
    if (is_gpu(device_current()))
        time_kernels(&timing, 1, lab);
    return timing.seconds;
}

// ---- the part "Speed" ---------------------------------------------------------------------------

/* The field counts the products: two forward, five backward. */
static double operations(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    return (lab->chapter->backward ? 10.0 : 4.0) * (double)attention_pairs(p) * (double)p->d;
}

static bool is_right(struct timing *timing, struct lab *checked)
{
    lab_run(checked, timing->kernel);
    const struct attention_errors errors =
        lab_compare(checked, timing->kernel, checked->x, &checked->before, false);
    lab_keep_as_before(checked, timing->kernel);
    if (!errors.right)
        report_wrong("%s: it is not timed; --step %s shows where", timing->kernel->name,
                     timing->kernel->name);
    timing->error = errors.reference;
    timing->size = checked->size;
    return errors.right;
}

/* Adds a line to the table and the CSV; `before` is the time of the previous kernel, or 0. */
static void print_speed(const struct timing *t, double before, double peak, char *csv)
{
    const struct attention *p = &t->lab->input.p;
    const struct chapter *chapter = t->lab->chapter;
    const char *const device = device_current()->name;
    const double flops = operations(t->lab) / t->seconds;
    char name[32], ratio[24] = "-", ratio_csv[24] = "", rates[40] = "-", line[300];
    step_label(chapter->table, t->kernel, name);
    if (before > 0.0) {
        snprintf(ratio, sizeof ratio, "%.2f", before / t->seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before / t->seconds);
    }
    if (peak > 0.0)
        snprintf(rates, sizeof rates, "%10.1f %7.1f %%", 1e-9 * flops, 100.0 * flops / peak);
    report_line("%s%4s %10.3g ms %20s %11s %9.2e", name, device, 1e3 * t->seconds, rates, ratio,
                t->error);
    snprintf(line, sizeof line, "%s,%s,%s,%zu,%zu,%zu,%zu,%d,%s,%s,%.5f,%.3f,%.4f,%s,%.3e\n",
             chapter->number, t->kernel->name, dtype_name(p->dtype), p->B, p->H, p->Nk, p->d,
             p->causal, chapter->backward ? "backward" : "forward", device, 1e3 * t->seconds,
             1e-9 * flops, peak > 0.0 ? flops / peak : 0.0, ratio_csv, t->error);
    report_append(csv, line);
}

/*
 * The kernels that support the problem of `timed`, or `only` one and the one before. `checked` is
 * that problem or some heads of it.
 */
static void print_speeds(const struct step *only, struct lab *checked, struct lab *timed, char *csv)
{
    const struct step_table *table = timed->chapter->table;
    const struct device *const device = device_current();
    const double peak = is_gpu(device) ? device->fma_peak() : 0.0;
    struct timing timings[MOST_KERNELS];
    size_t n = 0;
    previous_free(&checked->before);
    report_part("Speed");
    report_line("%s%-*s%4s %13s %20s %11s %9s", table->first < 0 ? "" : " # ", table->width,
                "kernel", "on", "time", is_gpu(device) ? "GFLOP/s   of peak" : "", "x previous",
                "error");
    for (const struct step *kernel = table->steps; kernel < table->steps + table->count; kernel++) {
        if (lab_unsupported(timed, kernel) || (only && kernel != only && kernel + 1 != only))
            continue;
        timings[n] = (struct timing){ .kernel = kernel, .lab = timed };
        n += is_right(&timings[n], checked) ? 1 : 0;
    }
    if (!timed->chapter->backward) {  // for timed runs, which write no outputs here
        timed->x.O = checked->x.O;
        timed->x.lse = checked->x.lse;
    }
    if (n > 0)
        time_kernels(timings, n, timed);
    for (size_t k = 0; k < n; k++)
        print_speed(&timings[k], k ? timings[k - 1].seconds : 0.0, peak, csv);
    if (is_gpu(device))
        report_line(
            "%d d operations per pair; %.1f TFLOP/s of FMA is the most that a kernel reached%s",
            timed->chapter->backward ? 10 : 4, 1e-12 * peak,
            timed->input.p.dtype == DTYPE_F32 ? "" : " in float32");
    else
        report_line("how long this CPU takes to play a GPU: it says nothing about a GPU's speed");
    report_line("%s", device_text(device));
    report_line("%s", bench_machine());
}

void device_speed(struct lab *lab)
{
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("device");
    print_speeds(lab->o.step ? lab->only : NULL, lab, lab, csv);
    if (lab->o.csv)
        report_csv(lab->o.csv, csv);
}

// ---- the ladder ---------------------------------------------------------------------------------

enum { BATCH = 4, LONGEST_ROW = 160, MOST_SHAPES = 6 };
_Static_assert(2 * MOST_SHAPES * MOST_KERNELS * LONGEST_ROW + sizeof REPORT_SPEED_CSV("device") <
                   REPORT_CSV,
               "the ladder's rows have to fit");

/*
 * A few heads, because the CPU that checks them would take minutes for all. Drawing a billion
 * numbers would take minutes too, so the other heads repeat those of the few; to a kernel each is a
 * new one.
 */
static struct lab few_heads(const struct lab *lab, const struct ladder_shape *s, bool causal)
{
    const size_t heads = lab->chapter->backward ? 1 : 2;
    struct attention p = attention_of(1, heads, heads, s->N, s->N, s->d);
    const enum dtype type = lab->o.dtype;
    p.dtype = type;
    p.causal = causal;
    struct attention_input few = attention_input_random(p, 1);
    dtype_round_all(type, few.Q, attention_query_elements(&p));
    dtype_round_all(type, few.K, attention_key_elements(&p));
    dtype_round_all(type, few.V, attention_key_elements(&p));
    return lab_of(lab->chapter, few, &lab->o);
}

static float *repeated(const float *x, size_t n, size_t times, const char *name)
{
    float *all = x ? allocate(n * times, sizeof *all, name) : NULL;
    for (size_t k = 0; k < times && x; k++)
        memcpy(all + k * n, x, n * sizeof *all);
    return all;
}

static struct lab all_heads(const struct lab *few, size_t heads)
{
    const struct attention *p = &few->input.p;
    const size_t times = BATCH * heads / p->H, n = attention_query_elements(p);
    struct lab all = *few;
    all.input.p.B = BATCH;
    all.input.p.H = all.input.p.Hkv = heads;
    all.x.Q = all.input.Q = repeated(few->input.Q, n, times, "Q");
    all.x.K = all.input.K = repeated(few->input.K, n, times, "K");
    all.x.V = all.input.V = repeated(few->input.V, n, times, "V");
    all.x.dO = repeated(few->x.dO, n, times, "dO");
    all.x.O = repeated(few->x.O, n, times, "O");
    all.x.lse = repeated(few->x.lse, attention_rows(p), times, "lse");
    return all;
}

/* Writes the results after each problem, so that they remain if a later one ends the program. */
void device_ladder(const struct lab *lab, const struct ladder_shape *shapes, size_t count,
                   void (*ready)(struct lab *lab))
{
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("device");
    for (const struct ladder_shape *s = shapes; s < shapes + count; s++)
        for (int causal = 0; causal < 2; causal++) {
            if (!bench_ladder_has(s->N, s->d, causal == 1))
                continue;
            struct lab few = few_heads(lab, s, causal == 1);
            ready(&few);
            struct lab all = all_heads(&few, s->heads);
            attention_describe(&all.input);
            print_speeds(NULL, &few, &all, csv);
            if (lab->o.csv)
                report_csv(lab->o.csv, csv);
            report_close();
            if (lab->chapter->backward) {
                free(all.x.O);
                free(all.x.lse);
                free((float *)all.x.dO);
            }
            attention_input_free(&all.input);
            lab_free(&few);
        }
}
