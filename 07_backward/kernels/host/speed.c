#include "07_backward/kernels/host/speed.h"

#include "05_flash_tiled_cpu/steps/steps.h"
#include "07_backward/program.h"
#include "common/cpu/memory.h"
#include "common/measure/bench.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 21, LEAST_RUNS = 3, BATCH = 4, BEST_OF = 20 };
static const double SECONDS = 10.0;  // per problem, unless 3 rounds take longer

// ---- problems -----------------------------------------------------------------------------------

struct ladder_shape {
    size_t heads, N, d;  // of a batch of 4
};
static const struct ladder_shape ladder_f32[] = { { 16, 4096, 64 }, { 16, 4096, 128 } };
static const struct ladder_shape ladder_16[] = {
    { 32, 4096, 64 }, { 32, 4096, 128 }, { 32, 8192, 64 }, { 32, 8192, 128 }
};
enum { MOST_SHAPES = sizeof ladder_16 / sizeof ladder_16[0] };

enum { LONGEST_ROW = 160, MOST_KERNELS = 20 };
_Static_assert(2 * MOST_SHAPES * MOST_KERNELS * LONGEST_ROW + sizeof REPORT_SPEED_CSV("device") <
                   REPORT_CSV,
               "the ladder's rows have to fit");

/* With its forward pass. */
static struct lab one_head(const struct ladder_shape *s, enum dtype type, bool causal)
{
    struct attention p = attention_of(1, 1, 1, s->N, s->N, s->d);
    const struct options made = { .seed = 1 };
    p.dtype = type;
    p.causal = causal;
    struct lab one = lab_of(&chapter, attention_input_random(p, 1), &made);
    dtype_round_all(type, one.input.Q, attention_query_elements(&p));
    dtype_round_all(type, one.input.K, attention_key_elements(&p));
    dtype_round_all(type, one.input.V, attention_key_elements(&p));
    one.x.dO = attention_input_dO(&one.input, &made);
    one.x.O = allocate(attention_query_elements(&p), sizeof(float), "O");
    one.x.lse = allocate(attention_rows(&p), sizeof(float), "lse");
    complete(&p, (struct tile_size){ 64, 128 }, one.x);
    return one;
}

static float *repeated(const float *x, size_t n, size_t times, const char *name)
{
    float *all = allocate(n * times, sizeof *all, name);
    for (size_t k = 0; k < times; k++)
        memcpy(all + k * n, x, n * sizeof *all);
    return all;
}

/* Heads have the same numbers: drawing all would take minutes. */
static struct lab all_heads(const struct ladder_shape *s, const struct lab *one)
{
    const size_t times = BATCH * s->heads, n = attention_query_elements(&one->input.p);
    struct lab all = *one;
    all.input.p.B = BATCH;
    all.input.p.H = all.input.p.Hkv = s->heads;
    all.input.Q = repeated(one->input.Q, n, times, "Q");
    all.input.K = repeated(one->input.K, n, times, "K");
    all.input.V = repeated(one->input.V, n, times, "V");
    all.x.dO = repeated(one->x.dO, n, times, "dO");
    all.x.O = repeated(one->x.O, n, times, "O");
    all.x.lse = repeated(one->x.lse, s->N, times, "lse");
    return all;
}

/* 10 per attended pair and element, by convention. */
static double operations(const struct attention *p)
{
    return 10.0 * (double)attention_pairs(p) * (double)p->d;
}

// ---- times --------------------------------------------------------------------------------------

struct timing {
    const struct step *kernel;
    double error, seconds;
};

static bool is_right(struct timing *timing, const struct device *device, const struct lab *one,
                     const struct gradient_check *check, struct cuda_previous *previous,
                     const struct result *on_cpu)
{
    struct result r = cuda_run(timing->kernel, device, one);
    const struct cuda_verdict v = cuda_check(check, previous, on_cpu, &r, false);
    if (!v.right)
        report_wrong("%s: it is not timed; --step %s shows where", timing->kernel->name,
                     timing->kernel->name);
    cuda_previous_keep(previous, timing->kernel->name, &r);
    timing->error = v.errors.reference;
    return v.right;
}

static void launch(void *loaded)
{
    cuda_launch(loaded);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* In turn, with a rest before each. Arrays are many times an L2 cache. */
static void time_kernels(struct timing *timings, size_t n, const struct device *device,
                         const struct lab *all)
{
    struct step all_of_them = { .name = "all" };
    double times[MOST_KERNELS][RUNS], once = 0.0, before = 0.0;
    size_t runs = RUNS;
    for (size_t k = 0; k < n; k++) {
        all_of_them.stores |= timings[k].kernel->stores;
    }
    struct on_device l = cuda_load(&all_of_them, device, all);
    for (size_t k = 0; k < n; k++) {
        l.kernel = timings[k].kernel;
        once += device->seconds(launch, &l);
    }
    while (runs > LEAST_RUNS && (double)runs * once > SECONDS)
        runs--;
    for (size_t run = 0; run < runs; run++)
        for (size_t k = 0; k < n; k++) {
            l.kernel = timings[k].kernel;
            bench_rest(before);
            times[k][run] = before = device->seconds(launch, &l);
        }
    cuda_unload(&l);
    for (size_t k = 0; k < n; k++) {
        qsort(times[k], runs, sizeof times[k][0], by_size);
        timings[k].seconds = times[k][runs / 2];
    }
}

// ---- the ladder ---------------------------------------------------------------------------------

static void tell(const struct timing *timing, double before, const struct attention *p, double peak,
                 char *csv)
{
    const double flops = operations(p) / timing->seconds;
    char ratio[24] = "-", ratio_csv[24] = "", line[300];
    if (before > 0.0) {
        snprintf(ratio, sizeof ratio, "%.2f", before / timing->seconds);
        snprintf(ratio_csv, sizeof ratio_csv, "%.3f", before / timing->seconds);
    }
    report_line("%-18s %10.3g ms %10.1f %7.1f %% %11s %9.2e", timing->kernel->name,
                1e3 * timing->seconds, 1e-9 * flops, 100.0 * flops / peak, ratio, timing->error);
    snprintf(line, sizeof line, "07,%s,%s,%zu,%zu,%zu,%zu,%d,backward,gpu,%.5f,%.3f,%.4f,%s,%.3e\n",
             timing->kernel->name, dtype_name(p->dtype), p->B, p->H, p->Nk, p->d, p->causal,
             1e3 * timing->seconds, 1e-9 * flops, flops / peak, ratio_csv, timing->error);
    report_append(csv, line);
}

static void bench_problem(const struct device *device, const struct lab *one, const struct lab *all,
                          char *csv)
{
    const struct attention *p = &all->input.p;
    const double peak = device->fma_peak();
    struct gradient_check check = gradient_check_begin(&one->input, one->x.dO, false);
    struct cuda_previous previous = { .name = NULL };
    struct result on_cpu = complete_on_the_cpu(one);
    struct timing timings[MOST_KERNELS];
    size_t n = 0;
    for (const struct step *k = cuda_table.steps; k < cuda_table.steps + cuda_table.count; k++) {
        if (step_unsupported_on(k, p, device))
            continue;
        timings[n] = (struct timing){ .kernel = k };
        n += is_right(&timings[n], device, one, &check, &previous, &on_cpu) ? 1 : 0;
    }
    if (n > 0)
        time_kernels(timings, n, device, all);
    report_part("Speed");
    report_line("%-18s %13s %20s %11s %9s", "kernel", "time", "GFLOP/s   of peak", "x previous",
                "error");
    for (size_t k = 0; k < n; k++)
        tell(&timings[k], k ? timings[k - 1].seconds : 0.0, p, peak, csv);
    report_line("10 d operations per pair; %.1f TFLOP/s of FMA is the most that a kernel reached%s",
                1e-12 * peak, p->dtype == DTYPE_F32 ? "" : " in float32");
    cuda_report_types(p->dtype);
    report_line("%s", device_text(device));
    result_free(&on_cpu);
    result_free(&previous.result);
    gradient_check_end(&check);
}

static void free_repeated(struct lab *all)
{
    free(all->x.O);
    free(all->x.lse);
    free((float *)all->x.dO);
    attention_input_free(&all->input);
}

/* After each problem, in case a later one fails. */
void cuda_bench_ladder(const struct device *device, const struct options *o)
{
    const bool wide = o->dtype == DTYPE_F32;
    const struct ladder_shape *const shapes = wide ? ladder_f32 : ladder_16;
    const size_t count = wide ? sizeof ladder_f32 : sizeof ladder_16;
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("device");
    for (const struct ladder_shape *s = shapes; s < shapes + count / sizeof *shapes; s++)
        for (int causal = 0; causal < 2; causal++) {
            if (!bench_ladder_has(s->N, s->d, causal == 1))
                continue;
            struct lab one = one_head(s, o->dtype, causal == 1), all = all_heads(s, &one);
            attention_describe(&all.input);
            bench_problem(device, &one, &all, csv);
            if (o->csv)
                report_csv(o->csv, csv);
            report_close();
            free_repeated(&all);
            backward_release(&one);
        }
}

// ---- one kernel ---------------------------------------------------------------------------------

static double seconds_of(const struct step *kernel, const struct device *device,
                         const struct lab *lab)
{
    struct on_device l = cuda_load(kernel, device, lab);
    double best = device->seconds(launch, &l);
    for (int run = 1; run < BEST_OF; run++) {
        const double time = device->seconds(launch, &l);
        best = time < best ? time : best;
    }
    cuda_unload(&l);
    return best;
}

void cuda_print_speed(const struct step *kernel, const struct device *device, const struct lab *lab)
{
    const double seconds = seconds_of(kernel, device, lab);
    report_part("Speed");
    report_line("%s: %.3f ms, %.2f TFLOP/s, the best of %d runs", kernel->name, 1e3 * seconds,
                1e-12 * operations(&lab->input.p) / seconds, BEST_OF);
}
