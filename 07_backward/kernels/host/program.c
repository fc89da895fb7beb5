#include "05_flash_tiled_cpu/steps/steps.h"
#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "07_backward/kernels/host/run.h"
#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"
#include "common/lab/speed.h"
#include "common/program/attention_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the kernels --------------------------------------------------------------------------------

static void print_again(const struct lab *lab)
{
    enum { RUNS = 8 };
    const struct step *kernel = lab->only;
    const struct attention *p = &lab->input.p;
    const bool on_cpu = device_current() == &device_cpu;
    if (on_cpu && !can_be_counted(lab, kernel))
        return;
    const struct cuda_spread s = cuda_run_again(kernel, device_current(), lab, RUNS);
    report_part("Again");
    report_line("%d more runs%s", RUNS,
                on_cpu ? ", with threads and blocks in a different order each time" : "");
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

/* Kernels round dS to 16 bits: if that overflows, no gradient can be right. */
static void explain_overflow(const struct lab *lab)
{
    const struct attention_input *in = &lab->input;
    const struct attention *p = &in->p;
    const struct gradient_check *check = &lab->gradients;
    double *P = allocate(p->Nk, sizeof *P, "a row of P"), most = 0.0;
    double *d_dot = allocate(p->Nk, sizeof *d_dot, "a row of dS");
    for (size_t k = 0; k < check->count[DQ] && p->dtype == DTYPE_F16; k++) {
        const size_t row = check->rows[DQ][k], h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        reference_pairs(p, in->Q, in->K, in->V, lab->x.dO, b, h, row % p->Nq, P, d_dot);
        for (size_t j = 0; j < p->Nk; j++)
            if (visible(p, b, h, row % p->Nq, j))
                most = fmax(most, fabs(d_dot[j] / (double)p->scale));
    }
    if (isinf(dtype_round(DTYPE_F16, (float)most)))
        report_line("dS reaches %.3g, which f16 cannot hold: try --dtype bf16", most);
    free(P);
    free(d_dot);
}

static void run_kernels(struct lab *lab)
{
    const struct step *const complete_in_C = step_named(&table, "complete");
    lab->chapter = &cuda_chapter;
    lab_choose(lab, "cuda_complete");
    previous_free(&lab->before);
    if (lab_begins(lab)) {
        const struct result r = backward_run(complete_in_C, lab, complete_in_C->usual);
        lab->before =
            (struct previous){ .name = "complete", .of = { r.of[DQ], r.of[DK], r.of[DV] } };
    }
    for (const struct step *kernel = lab_first(lab); kernel; kernel = lab_next(lab, kernel)) {
        lab_run(lab, kernel);
        lab_count(lab, kernel);
        lab_check(lab, kernel);
    }
    explain_overflow(lab);
    if (!lab->only)
        return;
    if (lab->only->stores & STORES_SUMS)
        report_line("its gradients are %s; those of other kernels float32",
                    dtype_name(lab->o.dtype));
    print_again(lab);
    if (lab->o.timeline)
        kernel_timeline(lab);
    if (lab->o.bench)
        device_speed(lab);
}

// ---- the command line ---------------------------------------------------------------------------

static void check_tiles(const struct options *o)
{
    const char *const option = o->br      ? "--br"
                               : o->bc    ? "--bc"
                               : o->sram  ? "--sram"
                               : o->trace ? "--trace"
                                          : NULL;
    if (option)
        options_fail(option, "expected a step in C with it: a CUDA kernel has fixed tiles");
}

static void check_requested(const struct options *o, const struct attention *p)
{
    const struct lab cuda_lab = { .chapter = &cuda_chapter, .input = { .p = *p } };
    const bool all = o->step && strcmp(o->step, "all") == 0;
    if (!wants_kernels(o) && !all && (o->device || o->dtype != DTYPE_F32 || o->timeline))
        options_fail(o->device               ? "--device"
                     : o->dtype != DTYPE_F32 ? "--dtype"
                                             : "--timeline",
                     "expected a CUDA kernel with it, found '%s'", o->step);
    if (o->timeline && !can_be_counted(&cuda_lab, cuda_table.steps))
        options_fail("--timeline", "expected a smaller problem, of at most 10 million rows x "
                                   "keys x d: all accesses are instrumented");
    options_check_excluded(&cuda_table);
    if (!wants_kernels(o) && !all)
        return;
    device_use(device_choose(o), NULL);
    if (o->threads)
        cuda_cpu_threads(o->threads);
    if (all)
        return;
    const struct step *kernel = step_chosen(&cuda_table, o, "cuda_complete", p);
    device_use(device_for(kernel, device_current(), o), NULL);
    check_tiles(o);
    if (o->bench && device_current() == &device_cpu)
        options_fail("--bench",
                     "expected a GPU with a CUDA kernel: a time measured on the CPU in its place "
                     "would mean nothing");
}

// ---- the ladder ---------------------------------------------------------------------------------

/* Heads of a batch of 4, N, and d. */
static const struct ladder_shape shapes_f32[] = { { 16, 4096, 64 }, { 16, 4096, 128 } };
static const struct ladder_shape shapes_16[] = {
    { 32, 4096, 64 }, { 32, 4096, 128 }, { 32, 8192, 64 }, { 32, 8192, 128 }
};

static void ready(struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    lab->x.dO = attention_input_dO(&lab->input, &lab->o);
    lab->x.O = allocate(attention_query_elements(p), sizeof(float), "O");
    lab->x.lse = allocate(attention_rows(p), sizeof(float), "lse");
    complete(p, (struct tile_size){ 64, 128 }, lab->x);
    lab_ready(lab);
}

static bool bench(const struct options *o)
{
    const struct lab lab = { .chapter = &cuda_chapter, .o = *o };
    const bool wide = o->dtype == DTYPE_F32;
    if (!o->bench || !options_usual(o) || options_single(o))
        return false;
    options_check_excluded(&cuda_table);
    device_use(device_choose(o), NULL);
    if (device_current() == &device_cpu)
        return false;
    lab_title(&lab);
    device_ladder(&lab, wide ? shapes_f32 : shapes_16,
                  wide ? sizeof shapes_f32 / sizeof *shapes_f32
                       : sizeof shapes_16 / sizeof *shapes_16,
                  ready);
    return true;
}

// ---- training -----------------------------------------------------------------------------------

static const struct device *trainer_device;
static enum dtype trainer_type;

/* Parameters are rounded only for each pass: in 16 bits most updates would be lost. */
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

static const struct trainer *trainer_of(const struct options *options)
{
    static const struct trainer trainer = { "cuda_complete", forward, backward };
    trainer_device = device_choose(options);
    trainer_type = options->dtype;
    return &trainer;
}

static const struct kernels here = { check_requested, run_kernels, bench, trainer_of };
const struct kernels *kernels = &here;
