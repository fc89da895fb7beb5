#include "07_backward/program.h"
#include "07_backward/kernels/host/run.h"
#include "07_backward/kernels/host/speed.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/program/attention_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A kernel rounds dS to 16 bits: if that overflows, no gradient can be right. Otherwise "". */
static const char *dS_too_large(const struct gradient_check *check, const struct lab *lab)
{
    static char text[120];
    const struct attention_input *in = &lab->input;
    const struct attention *p = &in->p;
    double most = 0.0;
    for (size_t k = 0; k < check->count[DQ]; k++) {
        const size_t row = check->rows[DQ][k], h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        most =
            fmax(most, reference_largest_dS(p, in->Q, in->K, in->V, lab->x.dO, b, h, row % p->Nq));
    }
    snprintf(text, sizeof text, "; dS is up to %.3g, and %s cannot hold it: --dtype bf16 can", most,
             dtype_name(p->dtype));
    return p->dtype == DTYPE_F16 && isinf(dtype_round(DTYPE_F16, (float)most)) ? text : "";
}

// ---- one kernel ---------------------------------------------------------------------------------

static struct count print_counts(const struct step *kernel, const struct lab *lab)
{
    struct count c = { .total = 0 };
    char stored[32];
    if (!cuda_can_be_counted(&lab->input.p)) {
        report_part("Counted");
        report_line("left out: an instrumented run of a problem of this size takes long");
        return c;
    }
    c = cuda_count(kernel, lab);
    step_report_count(&c);
    report_line("extra global memory: %s", report_bytes(c.slow_bytes, stored));
    return c;
}

static void print_again(const struct step *kernel, const struct device *device,
                        const struct lab *lab)
{
    enum { RUNS = 8 };
    const struct attention *p = &lab->input.p;
    if (device == &device_cpu && !cuda_can_be_counted(p))
        return;
    const struct cuda_spread s = cuda_run_again(kernel, device, lab, RUNS);
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

/* Times on a CPU mean nothing. */
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

static void print_timeline(const struct step *kernel, const struct lab *lab, const char *path)
{
    struct on_device l = cuda_load(kernel, &device_instrumented, lab);
    cuda_cpu_watch(CUDA_WATCH_TIMELINE);
    cuda_launch(&l);
    cuda_cpu_watch(0);
    cuda_unload(&l);
    cuda_cpu_print_timeline(kernel->name, path);
}

static void print_kernel(struct lab *lab)
{
    const struct options *const o = &lab->o;
    const struct attention_input *input = &lab->input;
    const struct step *kernel = cuda_named(o->step ? o->step : "cuda_complete");
    const struct device *device = device_for(kernel, device_choose(o), o);
    const struct gradient_check *const check = &lab->gradients;
    const struct count count = print_counts(kernel, lab);
    struct result r = cuda_run(kernel, device, lab);
    struct cuda_previous previous =
        cuda_previous_run(cuda_kernel_before(kernel, &input->p, device), device, lab);
    struct result on_cpu = complete_on_the_cpu(lab);
    const struct cuda_verdict v = cuda_check(check, &previous, &on_cpu, &r, true);
    if (!v.right)
        report_wrong("%s: its dQ, dK or dV%s", kernel->name, dS_too_large(check, lab));
    report_line("%s ran %s", kernel->name, device_text(device));
    if (r.type != DTYPE_F32)
        report_line("its gradients are %s; those of other kernels float32", dtype_name(r.type));
    print_again(kernel, device, lab);
    if (o->timeline)
        print_timeline(kernel, lab, o->timeline);
    attention_write(o, input, lab->x.O, lab->x.lse);
    attention_write_gradients(o, input, r.of[DQ], r.of[DK], r.of[DV]);
    if (o->bench)
        cuda_print_speed(kernel, device, lab);
    if (o->csv)
        write_csv(o->csv, cuda_kernel_formula(kernel, &input->p), &count, v);
    result_free(&on_cpu);
    result_free(&previous.result);
    result_free(&r);
}

static void print_row(const struct step *kernel, const struct device *device, const struct lab *lab,
                      const struct gradient_check *check, struct cuda_previous *previous,
                      const struct result *on_cpu, char *csv)
{
    char accesses[32] = "-", per_pair[32] = "-", stored[32] = "-";
    char counts[100] = ",,,,", line[300];
    if (cuda_can_be_counted(&lab->input.p)) {
        const struct count c = cuda_count(kernel, lab);
        report_number(c.total, accesses);
        report_bytes(c.slow_bytes, stored);
        snprintf(per_pair, sizeof per_pair, "%.2f",
                 (double)c.total / (double)(c.pairs ? c.pairs : 1));
        snprintf(counts, sizeof counts, "%zu,%zu,,%zu,", c.total, c.pairs, c.slow_bytes);
        if (!c.as_predicted)
            report_wrong("%s: its accesses are not those of its formula", kernel->name);
    }
    struct result r = cuda_run(kernel, device, lab);
    const struct cuda_verdict v = cuda_check(check, previous, on_cpu, &r, false);
    report_line("%-18s %10s %8s %8s %7.1e %7.1e %s", kernel->name, accesses, per_pair, stored,
                v.errors.reference, v.errors.previous, v.before);
    snprintf(line, sizeof line, "07,%s,,,%s,%.3e,%s,%.3e\n", kernel->name, counts,
             v.errors.reference, v.before, v.errors.previous);
    report_append(csv, line);
    if (!v.right)
        report_wrong("%s: its dQ, dK or dV%s; --step %s shows where", kernel->name,
                     dS_too_large(check, lab), kernel->name);
    cuda_previous_keep(previous, kernel->name, &r);
}

static void print_kernels(struct lab *lab)
{
    const struct options *const o = &lab->o;
    const struct device *device = device_choose(o);
    const struct gradient_check *const check = &lab->gradients;
    struct cuda_previous previous = { .name = NULL };
    struct result on_cpu = complete_on_the_cpu(lab);
    report_part("Kernels");
    report_line("%-18s %10s %8s %8s %7s %s", "kernel", "accesses", "/ pair", "stored", "error",
                "difference from");
    for (const struct step *k = cuda_table.steps; k < cuda_table.steps + cuda_table.count; k++) {
        const char *const unsupported = step_unsupported_on(k, &lab->input.p, device);
        if (options_excluded(k->name)) {
            report_line("%-18s is excluded", k->name);
            continue;
        }
        if (unsupported) {
            report_line("%-18s does not support %s", k->name, unsupported);
            continue;
        }
        print_row(k, device, lab, check, &previous, &on_cpu, lab_csv(lab));
    }
    cuda_report_types(o->dtype);
    report_line("(they ran %s)", device_text(device));
    result_free(&on_cpu);
    result_free(&previous.result);
    if (o->csv && !o->bench)
        report_csv(o->csv, lab_csv(lab));
}

// ---- the command line ---------------------------------------------------------------------------

static const char *kernel_name_of(size_t k)
{
    return cuda_table.steps[k].name;
}

static void check_tiles(const struct options *o)
{
    const char *const option = o->br      ? "--br"
                               : o->bc    ? "--bc"
                               : o->sram  ? "--sram"
                               : o->trace ? "--trace"
                                          : NULL;
    if (option)
        options_fail(option, "expected a step in C with it, and not a CUDA kernel, whose tiles are "
                             "its own");
}

static void check_requested(const struct options *o, const struct attention *p)
{
    const bool all = o->step && strcmp(o->step, "all") == 0;
    if (!wants_kernels(o) && !all && (o->device || o->dtype != DTYPE_F32 || o->timeline))
        options_fail(o->device               ? "--device"
                     : o->dtype != DTYPE_F32 ? "--dtype"
                                             : "--timeline",
                     "expected a CUDA kernel with it, found '%s'", o->step);
    if (o->timeline && !cuda_can_be_counted(p))
        options_fail("--timeline", "expected a smaller problem, of at most 10 million rows x "
                                   "keys x d: all accesses are instrumented");
    options_check_excluded(kernel_name_of, cuda_table.count);
    if (!wants_kernels(o) && !all)
        return;
    const struct device *device = device_choose(o);
    if (o->threads)
        cuda_cpu_threads(o->threads);
    if (all)
        return;
    const struct step *kernel = step_chosen(&cuda_table, o, "cuda_complete", p);
    device = device_for(kernel, device, o);
    check_tiles(o);
    if (o->bench && device == &device_cpu)
        options_fail("--bench",
                     "expected a GPU with a CUDA kernel: a time measured on the CPU in its place "
                     "would mean nothing");
}

static bool bench(const struct options *o)
{
    options_check_excluded(kernel_name_of, cuda_table.count);
    const struct device *device = device_choose(o);
    if (device == &device_cpu)
        return false;
    report_start("07", "Backward", "its kernels on a GPU, checked, then timed", o->quiet);
    cuda_bench_ladder(device, o);
    return true;
}

// ---- training -----------------------------------------------------------------------------------

static const struct device *trainer_device;
static enum dtype trainer_type;

/*
 * In 16 bits the passes get a rounded copy of float32 parameters: a step is often smaller than
 * rounding.
 */
static struct lab in_type(const struct lab *lab)
{
    struct lab narrow = *lab;
    narrow.input.p.dtype = trainer_type;
    return narrow;
}

static void forward(struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    lab->x.O = allocate(attention_query_elements(p), sizeof(float), "O");
    lab->x.lse = allocate(attention_rows(p), sizeof(float), "lse");
    const struct lab narrow = in_type(lab);
    cuda_forward(trainer_device, &narrow);
}

static struct result backward(const struct lab *lab)
{
    const struct lab narrow = in_type(lab);
    return cuda_run(cuda_named("cuda_complete"), trainer_device, &narrow);
}

static struct trainer trainer_of(const struct options *options)
{
    trainer_device = device_choose(options);
    trainer_type = options->dtype;
    return (struct trainer){ "cuda_complete", forward, backward };
}

static const struct kernels here = { check_requested, print_kernel, print_kernels, bench,
                                     trainer_of };
const struct kernels *kernels = &here;
