/*
 * Chapter 06 as a program: every kernel, what it reads and writes, and whether it is right.
 */
#include "06_flash_tiled_cuda/program/ladder.h"
#include "06_flash_tiled_cuda/program/speed.h"
#include "06_flash_tiled_cuda/program/stages.h"
#include "06_flash_tiled_cuda/program/story.h"
#include "common/cpu/threads.h"
#include "common/cuda/cpu.h"
#include "common/program/attention_files.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdio.h>
#include <string.h>

static const struct program program = {
    .chapter = 6,
    .name = "06_flash_tiled_cuda",
    .summary = "attention by tiles in CUDA, on a GPU or on a CPU that stands in for one",
    .example = "--n-q 203 --n-k 113 --d 64 --heads 4 --kv-heads 2 --causal --step all",
};

// ---- one kernel, told whole ---------------------------------------------------------------------

static struct count print_counts(const struct step *kernel, const struct device *device,
                                 const struct attention_input *input)
{
    struct count c = { .total = 0 };
    const struct kernel_shape s = kernel_shape_of(kernel, input);
    char blocks[32];
    report_part("Grid");
    report_line("%s: %s blocks of %zu threads", kernel->name,
                report_number(kernel_blocks(kernel, s, device), blocks), s.threads);
    if (s.Br > 1)
        report_line("tiles of %zu queries by %zu keys", s.Br, s.Bc);
    if (!kernel_can_be_counted(&input->p)) {
        report_part("Counted");
        report_line("left out: an instrumented run of a problem of this size takes long");
        return c;
    }
    c = count_kernel(kernel, input);
    step_report_count(&c);
    return c;
}

/* A CPU's time with a kernel says nothing, so there is none. */
static void write_csv(const char *csv, const struct step *kernel, const struct device *device,
                      const struct attention_input *input, const struct count *count,
                      struct verdict v)
{
    const bool gpu = device != &device_cpu;
    report_summary(csv, &(struct summary){
                            .accesses = kernel->formula,
                            .counted = count->total,
                            .extra_bytes = count->slow_bytes,
                            .milliseconds = gpu ? 1e3 * kernel_speed(kernel, device, input) : 0.0,
                            .error = v.errors.reference,
                            .previous = v.errors.has_previous ? v.before : "05 complete",
                            .previous_error = v.previous,
                        });
}

static void print_kernel(const struct step *kernel, const struct device *device,
                         const struct attention_input *input, const struct options *o)
{
    struct attention_check check = check_begin(input, o->verify_all);
    const struct count count = print_counts(kernel, device, input);
    struct result r = kernel_run(kernel, device, input);
    struct previous previous =
        previous_run(kernel_before(kernel, &input->p, device), device, input, &check);
    const struct verdict v = kernel_check(input, &check, &previous, &r, true);
    report_line("%s ran %s", kernel->name, device_text(device));
    attention_write(o, input, r.O, r.lse);
    if (o->csv && !o->bench)
        write_csv(o->csv, kernel, device, input, &count, v);
    kernel_previous_free(&previous);
    result_free(&r);
    check_end(&check);
}

/* Where the kernel's time goes to: its accesses, line by line of its source. */
static void print_profile(const struct step *kernel, const struct attention_input *input)
{
    struct on_device l = kernel_load(kernel, &device_instrumented, input);
    cuda_cpu_watch(CUDA_WATCH_PROFILE);
    kernel_launch(&l);
    cuda_cpu_watch(0);
    kernel_unload(&l);
    report_part("Profile");
    report_line("%s, by the lines of its source, on the CPU with every access instrumented",
                kernel->name);
    fflush(stdout);
    cuda_cpu_print_profile();
}

/* Who works when, and who waits for whom, in one block of the kernel. */
static void print_timeline(const struct step *kernel, const struct attention_input *input,
                           const char *path)
{
    struct on_device l = kernel_load(kernel, &device_instrumented, input);
    cuda_cpu_watch(CUDA_WATCH_TIMELINE);
    kernel_launch(&l);
    cuda_cpu_watch(0);
    kernel_unload(&l);
    cuda_cpu_print_timeline(kernel->name, path);
}

// ---- the command line ---------------------------------------------------------------------------

static const char *kernel_name_of(size_t k)
{
    return kernels[k].name;
}

/* A tile that is asked for must be one of the kernel's, and there must be room for it. */
static void check_tile(const struct step *kernel, const struct device *device,
                       const struct attention_input *input)
{
    const struct attention *p = &input->p;
    const char *const option = input->Br ? "--br" : "--bc";
    if (!input->Br && !input->Bc)
        return;
    if (!kernel)
        options_fail(option, "expected one --step with it, not all");
    if (!step_tile(kernel, p, 0, 0))
        options_fail(option,
                     "expected a kernel that has several tiles: budget, or complete with "
                     "--dtype bf16 or f16; %s has one",
                     kernel->name);
    char tiles[200] = "";
    for (const struct kernel_tile *tile = kernel->tiles; tile->d; tile++)
        if (tile->d == p->d) {
            const size_t used = strlen(tiles);
            snprintf(tiles + used, sizeof tiles - used, "%s%zu x %zu", used ? ", " : "", tile->Br,
                     tile->Bc);
        }
    const struct kernel_tile *tile = step_tile(kernel, p, input->Br, input->Bc);
    if (!tile)
        options_fail(option, "expected a tile that %s is compiled for with d = %zu: %s",
                     kernel->name, p->d, tiles);
    if (!device_holds(device, tile))
        options_fail(option,
                     "expected a tile that this GPU's shared memory holds; %zu x %zu takes "
                     "%zu bytes of it",
                     tile->Br, tile->Bc, tile_bytes(tile));
}

/* What is asked for besides a verdict must be there. */
static void check_requested(const struct step *kernel, const struct attention *p,
                            const struct options *o)
{
    if (!kernel && options_single(o))
        options_fail(options_single(o), "expected one --step with it, not all");
    const char *unsupported = step_unsupported(&kernels[COMPLETE], p);
    if (!kernel && unsupported)
        options_fail("--step", "expected a problem that some kernel can do; none supports %s",
                     unsupported);
    if ((o->profile || o->timeline) && !kernel_can_be_counted(p))
        options_fail(o->profile ? "--profile" : "--timeline",
                     "expected a smaller problem, of at most 10 million rows x keys x d: all "
                     "accesses are instrumented");
}

/* No option that would make the chapter's story the wrong thing to print. */
static bool wants_story(const struct options *o)
{
    return options_usual(o) && o->dtype == DTYPE_F32 && !o->profile && !o->timeline &&
           !o->traffic && !o->bench && !o->quiet;
}

/* What needs no input; returns whether that was all. */
static bool print_lists(const struct options *o)
{
    const bool list = o->step && strcmp(o->step, "list") == 0;
    if (!list && !o->device_info)
        return false;
    const char *const mode = list ? "--step list" : "--device-info";
    const char *const more = list && o->device_info ? "--device-info"
                             : !list && o->step     ? "--step"
                                                    : NULL;
    struct options others = *o;
    if (!list)
        others.csv = NULL;  // the device's facts
    if (more)
        options_fail(more, "expected a program that runs a step, and %s runs none", mode);
    options_no_run(&others, mode);
    if (list) {
        step_list(&table, o->quiet, o->dtype);
    } else {
        const struct device *device = device_choose(o);
        report_start("06", "Flash attention, tiled", "in CUDA: the machine", o->quiet);
        print_device(device, o->csv);
    }
    report_close();
    return true;
}

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    const bool all = o.step && strcmp(o.step, "all") == 0;
    if (print_lists(&o))
        return EXIT_VERIFIED;
    options_check_excluded(kernel_name_of, KERNELS);
    threads_begin(o.threads);
    if (o.threads)
        cuda_cpu_threads(o.threads);
    const struct device *device = device_choose(&o);
    struct attention_input input = attention_input_load(&o);
    const struct step *kernel =
        all ? NULL : step_chosen(&table, &o, kernels[COMPLETE].name, &input.p);
    if (!all)
        device = device_for(kernel, device, &o);
    check_requested(kernel, &input.p, &o);
    check_tile(kernel, device, &input);

    report_start("06", "Flash attention, tiled", "in CUDA: a thread for every row and key",
                 o.quiet);
    if (wants_story(&o))
        print_story(device);
    attention_describe(&input);
    if (all)
        print_kernels(device, &input, &o);
    else
        print_kernel(kernel, device, &input, &o);
    if (kernel && o.profile)
        print_profile(kernel, &input);
    if (kernel && o.timeline)
        print_timeline(kernel, &input, o.timeline);
    if (o.bench && options_usual(&o) && device != &device_cpu)
        bench_ladder(device, &o);
    else if (o.bench)
        bench_kernels(o.step && !all ? kernel : NULL, device, &input, &o);
    if (wants_story(&o))
        report_next("07_backward: gradients, by computing again instead of storing");
    attention_input_free(&input);
    return report_finish();
}
