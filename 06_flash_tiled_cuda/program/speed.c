#include "06_flash_tiled_cuda/program/speed.h"

#include "06_flash_tiled_cuda/program/ladder.h"
#include "06_flash_tiled_cuda/program/stages.h"
#include "common/cpu/memory.h"
#include "common/measure/bench.h"
#include "common/program/attention_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 21, LEAST_RUNS = 3, MOST_COPIES = 16 };
static const double SECONDS =
    10.0;  // about so long the runs of a problem take, if 3 do not take longer

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void work(void *arg)
{
    kernel_launch(arg);
}

/* So many copies of the problem that their inputs do not stay in the L2 cache from run to run. */
static size_t copies_of(const struct device *device, const struct attention *p)
{
    struct device_facts facts;
    device->facts(&facts);
    const size_t bytes =
        dtype_bytes(p->dtype) * (attention_query_elements(p) + 2 * attention_key_elements(p));
    const size_t copies = 2 * facts.L2 / bytes + 2;
    return device == &device_cpu ? 1 : copies < MOST_COPIES ? copies : MOST_COPIES;
}

/* A kernel that is timed. */
struct timing {
    const struct step *kernel;
    double error, seconds;
};

static double median(double *times, size_t n)
{
    qsort(times, n, sizeof times[0], by_size);
    return times[n / 2];
}

/*
 * Times all kernels, in turns: what the machine does meanwhile, growing warm for example, is then the same for all of
 * them. A GPU rests before each run. Each copy has been worked on once before by each; and that tells how many runs there is time for.
 */
static void time_kernels(struct timing *timings, size_t n, const struct device *device,
                         const struct attention_input *input)
{
    const size_t copies = copies_of(device, &input->p);
    size_t runs = device == &device_cpu ? 1 : RUNS;
    double once = 0.0, before = 0.0;
    const struct step *some[KERNELS];
    struct on_device loaded[MOST_COPIES];
    double times[KERNELS][RUNS];
    for (size_t k = 0; k < n; k++)
        some[k] = timings[k].kernel;
    for (size_t c = 0; c < copies; c++) {
        loaded[c] = kernel_load_for(some, n, device, input);
        for (size_t k = 0; k < n; k++) {
            kernel_take(&loaded[c], some[k], input);
            const double seconds = device->seconds(work, &loaded[c]);
            once += c + 1 == copies ? seconds : 0.0;
        }
    }
    while (runs > LEAST_RUNS && (double)runs * once > SECONDS)
        runs--;
    for (size_t run = 0, c = 0; run < runs; run++)
        for (size_t k = 0; k < n; k++, c = c + 1 < copies ? c + 1 : 0) {
            kernel_take(&loaded[c], some[k], input);
            if (device != &device_cpu)
                bench_rest(before);
            times[k][run] = before = device->seconds(work, &loaded[c]);
        }
    for (size_t c = 0; c < copies; c++)
        kernel_unload(&loaded[c]);
    for (size_t k = 0; k < n; k++)
        timings[k].seconds = median(times[k], runs);
}

double kernel_speed(const struct step *kernel, const struct device *device,
                    const struct attention_input *input)
{
    struct timing timing = { .kernel = kernel };
    time_kernels(&timing, 1, device, input);
    return timing.seconds;
}

/* A kernel is checked before it is timed, and if it is wrong it is not timed. */
static bool is_right(struct timing *timing, const struct device *device,
                     const struct attention_input *input, const struct attention_check *check,
                     struct previous *previous)
{
    const struct step *kernel = timing->kernel;
    struct result r = kernel_run(kernel, device, input);
    const struct verdict v = kernel_check(input, check, previous, &r, false);
    kernel_previous_free(previous);
    *previous = previous_keep(kernel, input, check, &r);
    if (!v.errors.right)
        report_wrong("%s: it is not timed; --step %s shows where", kernel->name, kernel->name);
    result_free(&r);
    timing->error = v.errors.reference;
    return v.errors.right;
}

/* A line of the table, and of the CSV; `before` is the time of the kernel before, or 0. */
static void print_speed(const struct step *kernel, const struct device *device,
                        const struct attention *p, double seconds, double before, double peak,
                        double error, char *csv)
{
    const double flops = 4.0 * (double)attention_pairs(p) * (double)p->d / seconds;
    char name[32], ratio[24] = "-", ratio_csv[24] = "", rates[40] = "-", line[300];
    step_label(&table, kernel, name);
    if (before > 0.0) {
        snprintf(ratio, sizeof ratio, "%.2f", before / seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before / seconds);
    }
    if (peak > 0.0)
        snprintf(rates, sizeof rates, "%10.1f %7.1f %%", 1e-9 * flops, 100.0 * flops / peak);
    report_line("%s%4s %10.3g ms %20s %11s %9.2e", name, device->name, 1e3 * seconds, rates, ratio,
                error);
    snprintf(line, sizeof line, "06,%s,%s,%zu,%zu,%zu,%zu,%d,forward,%s,%.5f,%.3f,%.4f,%s,%.3e\n",
             kernel->name, dtype_name(p->dtype), p->B, p->H, p->Nk, p->d, p->causal, device->name,
             1e3 * seconds, 1e-9 * flops, peak > 0.0 ? flops / peak : 0.0, ratio_csv, error);
    report_append(csv, line);
}

/*
 * The part "Speed" for one problem; its lines are added to the CSV. What is checked is `checked`, the problem or some
 * heads of it.
 */
static void bench_problem(const struct step *only, const struct device *device,
                          const struct attention_input *input,
                          const struct attention_input *checked, const struct options *o, char *csv)
{
    const struct attention *p = &input->p;
    const bool gpu = device != &device_cpu;
    const double peak = gpu ? device->fma_peak() : 0.0;
    struct attention_check check = check_begin(checked, o->verify_all);
    struct previous previous = { NULL, NULL };
    struct timing timings[KERNELS];
    size_t n = 0;
    report_part("Speed");
    report_line(" # %-10s%4s %13s %20s %11s %9s", "kernel", "on", "time",
                gpu ? "GFLOP/s   of peak" : "", "x previous", "error");
    for (const struct step *kernel = kernels; kernel < kernels + KERNELS; kernel++) {
        if (step_unsupported_on(kernel, p, device) ||
            (only && kernel != only && kernel + 1 != only))
            continue;
        timings[n] = (struct timing){ .kernel = kernel };
        n += is_right(&timings[n], device, checked, &check, &previous) ? 1 : 0;
    }
    if (n > 0)
        time_kernels(timings, n, device, input);
    for (size_t k = 0; k < n; k++)
        print_speed(timings[k].kernel, device, p, timings[k].seconds,
                    k ? timings[k - 1].seconds : 0.0, peak, timings[k].error, csv);
    if (gpu)
        report_line(
            "4 d operations per pair; %.1f TFLOP/s of FMA is the most that a kernel reached%s",
            1e-12 * peak, p->dtype == DTYPE_F32 ? "" : " in float32");
    else
        report_line("how long this CPU takes to play a GPU: it says nothing about a GPU's speed");
    report_line("%s", device_text(device));
    report_line("%s", bench_machine());
    kernel_previous_free(&previous);
    check_end(&check);
}

void bench_kernels(const struct step *only, const struct device *device,
                   const struct attention_input *input, const struct options *o)
{
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("device");
    bench_problem(only, device, input, input, o, csv);
    if (o->csv)
        report_csv(o->csv, csv);
}

/* Shapes of the ladder; no mask, and causal. */
struct ladder_shape {
    size_t heads, N, d;  // of a batch of 4
};
static const struct ladder_shape ladder_f32[] = { { 16, 4096, 64 }, { 16, 4096, 128 } };
static const struct ladder_shape ladder_16[] = {
    { 32, 4096, 64 },  { 32, 4096, 128 }, { 32, 8192, 64 },
    { 32, 8192, 128 }, { 32, 16384, 64 }, { 32, 16384, 128 },
};

enum { BATCH = 4, DRAWN = 2, LONGEST_ROW = 160, LADDER_ROWS = 2 * KERNELS * 6 };
_Static_assert(sizeof ladder_16 / sizeof ladder_16[0] == LADDER_ROWS / 2 / KERNELS &&
                   LADDER_ROWS * LONGEST_ROW + sizeof REPORT_SPEED_CSV("device") < REPORT_CSV,
               "the ladder's rows have to fit");

static float *repeated(const float *x, size_t n, size_t times, const char *name)
{
    float *all = allocate(n * times, sizeof *all, name);
    for (size_t k = 0; k < times; k++)
        memcpy(all + k * n, x, n * sizeof *all);
    return all;
}

/*
 * A problem of many heads, whose numbers are those of the first two again and again: to draw a billion would take minutes,
 * and to a kernel each head is a new one. The two are a problem for themselves, which is checked: the CPU would take
 * minutes for all of them.
 */
static struct attention_input two_heads(const struct ladder_shape *s, enum dtype type)
{
    struct attention p = attention_of(1, DRAWN, DRAWN, s->N, s->N, s->d);
    p.dtype = type;
    struct attention_input two = attention_input_random(p, 1);
    dtype_round_all(type, two.Q, attention_query_elements(&p));
    dtype_round_all(type, two.K, attention_key_elements(&p));
    dtype_round_all(type, two.V, attention_key_elements(&p));
    return two;
}

static struct attention_input all_heads(const struct ladder_shape *s,
                                        const struct attention_input *two)
{
    const size_t n = attention_query_elements(&two->p), times = BATCH * s->heads / DRAWN;
    struct attention_input all = *two;
    all.p.B = BATCH;
    all.p.H = all.p.Hkv = s->heads;
    all.Q = repeated(two->Q, n, times, "Q");
    all.K = repeated(two->K, n, times, "K");
    all.V = repeated(two->V, n, times, "V");
    return all;
}

/* What has been measured is written after each problem: if a later one ends the program, it is there. */
void bench_ladder(const struct device *device, const struct options *o)
{
    const bool wide = o->dtype == DTYPE_F32;
    const struct ladder_shape *const shapes = wide ? ladder_f32 : ladder_16;
    const size_t count = wide ? sizeof ladder_f32 : sizeof ladder_16;
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("device");
    for (const struct ladder_shape *s = shapes; s < shapes + count / sizeof *shapes; s++) {
        if (!bench_ladder_has(s->N, s->d, false) && !bench_ladder_has(s->N, s->d, true))
            continue;
        struct attention_input two = two_heads(s, o->dtype), all = all_heads(s, &two);
        for (int causal = 0; causal < 2; causal++) {
            if (!bench_ladder_has(s->N, s->d, causal == 1))
                continue;
            two.p.causal = all.p.causal = causal == 1;
            attention_describe(&all);
            bench_problem(NULL, device, &all, &two, o, csv);
            if (o->csv)
                report_csv(o->csv, csv);
            report_close();
        }
        attention_input_free(&all);
        attention_input_free(&two);
    }
}
