/*
 * What the program tells of the kernels.
 */
#include "07_backward/program/cuda/program.h"

#include "07_backward/program/cuda/run.h"
#include "07_backward/program/cuda/speed.h"
#include "common/check/reference.h"
#include "common/cuda/cpu.h"
#include "common/program/attention_files.h"

#include <math.h>
#include <stdio.h>

/* Kernels round dS to the inputs' type. If it cannot hold a dS, no gradient can be right, and this says so; else it is "". */
static const char *dS_too_large(const struct gradient_check *check, const struct layer *layer)
{
    static char text[120];
    const struct attention_input *in = &layer->input;
    const struct attention *p = &in->p;
    double most = 0.0;
    for (size_t k = 0; k < check->count[DQ]; k++) {
        const size_t row = check->rows[DQ][k], h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        most =
            fmax(most, reference_largest_dS(p, in->Q, in->K, in->V, layer->dO, b, h, row % p->Nq));
    }
    snprintf(text, sizeof text, "; dS is up to %.3g, and %s cannot hold it: --dtype bf16 can", most,
             dtype_name(p->dtype));
    return p->dtype == DTYPE_F16 && isinf(dtype_round(DTYPE_F16, (float)most)) ? text : "";
}

// ---- one kernel, told whole ---------------------------------------------------------------------

static struct count print_counts(const struct step *kernel, const struct layer *layer)
{
    struct count c = { .total = 0 };
    char stored[32];
    if (!cuda_can_be_counted(&layer->input.p)) {
        report_part("Counted");
        report_line("left out: an instrumented run of a problem of this size takes long");
        return c;
    }
    c = cuda_count(kernel, layer);
    step_report_count(&c);
    report_line("extra global memory: %s", report_bytes(c.slow_bytes, stored));
    return c;
}

/* Whether the kernel gives the same bits every time; where it does not, how far its runs lie apart. */
static void print_again(const struct step *kernel, const struct device *device,
                        const struct layer *layer)
{
    enum { RUNS = 8 };
    const struct attention *p = &layer->input.p;
    if (device == &device_cpu && !cuda_can_be_counted(p))
        return;
    const struct cuda_spread s = cuda_run_again(kernel, device, layer, RUNS);
    report_part("Again");
    report_line("%d more runs%s", RUNS,
                device == &device_cpu ? ", with threads and blocks in a different order each time"
                                      : "");
    for (size_t g = 0; g < GRADIENTS; g++) {
        static const char *const names[] = { "dQ", "dK", "dV" };
        const size_t n = g == DQ ? attention_query_elements(p) : attention_key_elements(p);
        if (s.elements[g] == 0)
            report_line("%s: the same bits", names[g]);
        else
            report_line("%s: different bits in %.0f %% of the elements, off by at most %.1e",
                        names[g], 100.0 * (double)s.elements[g] / (double)n, s.most[g]);
    }
    if (!kernel->any_order && s.elements[DQ] + s.elements[DK] + s.elements[DV] > 0)
        report_wrong("%s: it should give the same bits every time", kernel->name);
}

/* A CPU's time with a kernel says nothing, so there is none. */
static void write_csv(const char *csv, const char *formula, const struct count *count,
                      struct cuda_verdict v)
{
    report_summary(csv, &(struct summary){
                            .accesses = formula,
                            .counted = count->total,
                            .extra_bytes = count->slow_bytes,
                            .error = v.errors.reference,
                            .previous = v.before,
                            .previous_error = v.errors.previous,
                        });
}

/* Who works when, and who waits for whom, in the first block of each launch. */
static void print_timeline(const struct step *kernel, const struct layer *layer, const char *path)
{
    struct on_device l = cuda_load(kernel, &device_instrumented, layer);
    cuda_cpu_watch(CUDA_WATCH_TIMELINE);
    cuda_launch(&l);
    cuda_cpu_watch(0);
    cuda_unload(&l);
    cuda_cpu_print_timeline(kernel->name, path);
}

void cuda_print_kernel(const struct layer *layer, const struct options *o)
{
    const struct attention_input *input = &layer->input;
    const struct step *kernel = cuda_kernel_wanted(o);
    const struct device *device = device_for(kernel, device_choose(o), o);
    struct gradient_check check = gradient_check_begin(input, layer->dO, o->verify_all);
    const struct count count = print_counts(kernel, layer);
    struct result r = cuda_run(kernel, device, layer);
    struct previous previous =
        cuda_previous_run(cuda_kernel_before(kernel, &input->p, device), device, layer);
    struct result on_cpu = complete_on_the_cpu(layer);
    const struct cuda_verdict v = cuda_check(&check, &previous, &on_cpu, &r, true);
    if (!v.right)
        report_wrong("%s: its dQ, dK or dV%s", kernel->name, dS_too_large(&check, layer));
    report_line("%s ran %s", kernel->name, device_text(device));
    if (r.type != DTYPE_F32)
        report_line("its gradients are %s; those of other kernels float32", dtype_name(r.type));
    print_again(kernel, device, layer);
    if (o->timeline)
        print_timeline(kernel, layer, o->timeline);
    attention_write(o, input, layer->kept.O, layer->kept.lse);
    attention_write_gradients(o, input, r.of[DQ], r.of[DK], r.of[DV]);
    if (o->bench)
        cuda_print_speed(kernel, device, layer);
    if (o->csv)
        write_csv(o->csv, cuda_kernel_formula(kernel, &input->p), &count, v);
    result_free(&on_cpu);
    result_free(&previous.result);
    result_free(&r);
    gradient_check_end(&check);
}

// ---- all of them --------------------------------------------------------------------------------

static struct attention_errors print_row(const struct step *kernel, const struct device *device,
                                         const struct layer *layer,
                                         const struct gradient_check *check,
                                         struct previous *previous, const struct result *on_cpu,
                                         char *csv)
{
    char accesses[32] = "-", per_pair[32] = "-", stored[32] = "-";
    char counts[100] = ",,,,", line[300];
    if (cuda_can_be_counted(&layer->input.p)) {
        const struct count c = cuda_count(kernel, layer);
        report_number(c.total, accesses);
        report_bytes(c.slow_bytes, stored);
        snprintf(per_pair, sizeof per_pair, "%.2f",
                 (double)c.total / (double)(c.pairs ? c.pairs : 1));
        snprintf(counts, sizeof counts, "%zu,%zu,,%zu,", c.total, c.pairs, c.slow_bytes);
        if (!c.as_predicted)
            report_wrong("%s: its accesses are not those of its formula", kernel->name);
    }
    struct result r = cuda_run(kernel, device, layer);
    const struct cuda_verdict v = cuda_check(check, previous, on_cpu, &r, false);
    report_line("%-18s %10s %8s %8s %7.1e %7.1e %s", kernel->name, accesses, per_pair, stored,
                v.errors.reference, v.errors.previous, v.before);
    snprintf(line, sizeof line, "07,%s,,,%s,%.3e,%s,%.3e\n", kernel->name, counts,
             v.errors.reference, v.before, v.errors.previous);
    report_append(csv, line);
    if (!v.right)
        report_wrong("%s: its dQ, dK or dV%s; --step %s shows where", kernel->name,
                     dS_too_large(check, layer), kernel->name);
    previous_keep(previous, kernel->name, &r);
    return v.errors;
}

/* The line of --quiet, which the steps in C have made already if there were any. */
static void print_worst(struct attention_errors worst)
{
    char error[16];
    snprintf(error, sizeof error, "%.2e", worst.reference);
    report_verified("double reference", error);
    snprintf(error, sizeof error, "%.2e", worst.previous);
    report_verified("the one before", error);
}

void cuda_print_kernels(const struct layer *layer, const struct options *o, char *csv)
{
    const struct device *device = device_choose(o);
    struct gradient_check check = gradient_check_begin(&layer->input, layer->dO, o->verify_all);
    struct previous previous = { .name = NULL };
    struct result on_cpu = complete_on_the_cpu(layer);
    struct attention_errors worst = { .right = true };
    report_part("Kernels");
    report_line("%-18s %10s %8s %8s %7s %s", "kernel", "accesses", "/ pair", "stored", "error",
                "difference from");
    for (const struct step *k = cuda_kernels; k < cuda_kernels + CUDA_KERNELS; k++) {
        const char *const unsupported = step_unsupported_on(k, &layer->input.p, device);
        if (options_excluded(k->name)) {
            report_line("%-18s is excluded", k->name);
            continue;
        }
        if (unsupported) {
            report_line("%-18s does not support %s", k->name, unsupported);
            continue;
        }
        const struct attention_errors e =
            print_row(k, device, layer, &check, &previous, &on_cpu, csv);
        worst.reference = worse_error(worst.reference, e.reference);
        worst.previous = worse_error(worst.previous, e.previous);
    }
    if (o->dtype != DTYPE_F32)
        print_worst(worst);
    cuda_report_types(o->dtype);
    report_line("(they ran %s)", device_text(device));
    result_free(&on_cpu);
    result_free(&previous.result);
    gradient_check_end(&check);
}
