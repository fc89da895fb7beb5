/*
 * What the program reports besides the lab (a kernel's profile, the device), and which options it
 * rejects.
 */
#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "06_flash_tiled_cuda/program.h"
#include "common/cuda/cpu.h"
#include "common/measure/bench.h"

#include <stdio.h>
#include <string.h>

// ---- requested options --------------------------------------------------------------------------

/* "128 x 64, 64 x 64": the tiles that the kernel is compiled for with this d. */
static const char *tiles_text(const struct step *kernel, size_t d)
{
    static char text[200];
    text[0] = '\0';
    for (const struct kernel_tile *tile = kernel->tiles; tile->d; tile++)
        if (tile->d == d) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%zu x %zu", used ? ", " : "", tile->Br,
                     tile->Bc);
        }
    return text;
}

/*
 * Exits unless the tile of --br and --bc is one of the kernel's, and fits in the device's shared
 * memory.
 */
static void check_tile(const struct lab *lab)
{
    const struct step *const kernel = lab->only;
    const struct attention *p = &lab->input.p;
    const char *const option = lab->o.br ? "--br" : "--bc";
    if (!lab->o.br && !lab->o.bc)
        return;
    if (!kernel)
        options_fail(option, "expected one --step with it, not all");
    if (!step_tile(kernel, p, 0, 0))
        options_fail(option,
                     "expected a kernel that has several tiles: budget, or complete with "
                     "--dtype bf16 or f16; %s has one",
                     kernel->name);
    const struct kernel_tile *tile = step_tile(kernel, p, lab->o.br, lab->o.bc);
    if (!tile)
        options_fail(option, "expected a tile that %s is compiled for with d = %zu: %s",
                     kernel->name, p->d, tiles_text(kernel, p->d));
    if (!device_holds(device_current(), tile))
        options_fail(option,
                     "expected a tile that this GPU's shared memory holds; %zu x %zu takes "
                     "%zu bytes of it",
                     tile->Br, tile->Bc, tile_bytes(tile));
}

void check_requested(struct lab *lab)
{
    const struct options *const o = &lab->o;
    const char *const unsupported = step_unsupported(lab->last, &lab->input.p);
    options_check_excluded(&table);
    if (o->threads)
        cuda_cpu_threads(o->threads);
    if (lab->only)
        device_use(device_for(lab->only, device_current(), o), NULL);
    else if (unsupported)
        options_fail("--step", "expected a problem that some kernel can do; none supports %s",
                     unsupported);
    if ((o->profile || o->timeline) && !can_be_counted(lab, lab->only))
        options_fail(o->profile ? "--profile" : "--timeline",
                     "expected a smaller problem, of at most 10 million rows x keys x d: all "
                     "accesses are instrumented");
    check_tile(lab);
}

// ---- one kernel, observed -----------------------------------------------------------------------

void print_profile(const struct lab *lab)
{
    kernel_observe(lab, CUDA_WATCH_PROFILE);
    report_part("Profile");
    report_line("%s, by the lines of its source, on the CPU with every access instrumented",
                lab->only->name);
    fflush(stdout);
    cuda_cpu_print_profile();
}

// ---- the device ---------------------------------------------------------------------------------

/*
 * Measured, per second: bytes read and written by a copy, and float32 operations; by kernels, and
 * by one CPU core without kernels.
 */
struct rates {
    double bandwidth, peak, core_bandwidth, core_peak;
};

static void print_rates(const struct device *device, const struct rates *r)
{
    if (device == &device_cpu) {
        report_line(
            "%.1f GB/s of a kernel that copies, %.1f GFLOP/s of one that multiplies and adds:",
            1e-9 * r->bandwidth, 1e-9 * r->peak);
        report_line(
            "the speed of this CPU as it emulates a GPU, not a GPU's speed. Without kernels,");
        report_line("one core copies %.1f GB/s and makes %.0f GFLOP/s", 1e-9 * r->core_bandwidth,
                    1e-9 * r->core_peak);
        return;
    }
    report_line("%.0f GB/s of a kernel that copies, %.1f TFLOP/s of one that multiplies and adds",
                1e-9 * r->bandwidth, 1e-12 * r->peak);
    report_line("so %.0f operations for each float32 that is loaded or stored",
                r->peak / (r->bandwidth / (double)sizeof(float)));
}

/* --csv: a line per fact, its unit in the name. Lines of `core` are the CPU's. */
static void write_device(const char *csv, const struct device *device, const struct device_facts *f,
                         const struct rates *r)
{
    char text[1200];
    snprintf(text, sizeof text,
             "device,what,value\n"
             "%s,multiprocessors,%d\n%s,registers a multiprocessor,%d\n"
             "%s,bytes of shared memory a block,%zu\n"
             "%s,bytes of shared memory a multiprocessor,%zu\n"
             "%s,bytes of L2 cache,%zu\n%s,bytes of global memory,%zu\n"
             "%s,GB/s of a kernel that copies,%.1f\n"
             "%s,GFLOP/s of a kernel that multiplies and adds,%.1f\n"
             "core,bytes of L1 cache,%zu\ncore,bytes of L2 cache,%zu\n"
             "core,bytes of L3 cache,%zu\n"
             "core,GB/s of copying,%.1f\ncore,GFLOP/s of multiplying and adding,%.1f\n",
             device->name, f->processors, device->name, f->registers_per_processor, device->name,
             f->shared_per_block, device->name, f->shared_per_processor, device->name, f->L2,
             device->name, f->memory, device->name, 1e-9 * r->bandwidth, device->name,
             1e-9 * r->peak, bench_cache_bytes(1), bench_cache_bytes(2), bench_cache_bytes(3),
             1e-9 * r->core_bandwidth, 1e-9 * r->core_peak);
    report_csv(csv, text);
}

/* Measures and prints the part "Device"; also to `csv`, unless NULL. */
static void print_facts(const struct device *device, const char *csv)
{
    struct device_facts f;
    char shared[32], per_processor[32], L2[32], memory[32];
    const struct rates r = { device->bandwidth(), device->fma_peak(), bench_copy_bandwidth(),
                             bench_fma_peak() };
    device->facts(&f);
    report_part("Device");
    report_line("%s (%s)", f.name,
                device == &device_cpu ? "no GPU: the CPU stands in for one" : "GPU");
    report_line("%d multiprocessors, warps of %d threads, up to %d threads a block, %d at a time",
                f.processors, f.warp, f.threads_per_block, f.threads_per_processor);
    report_line("fast memory: %s of shared memory a block, %s a multiprocessor",
                report_bytes(f.shared_per_block, shared),
                report_bytes(f.shared_per_processor, per_processor));
    if (f.registers_per_processor)
        report_line("and %d registers of 4 bytes", f.registers_per_processor);
    report_line("slow memory: %s%s%s", report_bytes(f.memory, memory),
                f.L2 ? ", behind an L2 cache of " : "", f.L2 ? report_bytes(f.L2, L2) : "");
    print_rates(device, &r);
    report_line("%s", bench_machine());
    if (csv)
        write_device(csv, device, &f, &r);
}

int print_device(const struct lab *lab)
{
    if (lab->o.step)
        options_fail("--step", "expected a program that runs a step, and --device-info runs none");
    const struct device *const device = device_choose(&lab->o);
    report_start(chapter.number, chapter.title, "in CUDA: the machine", lab->o.quiet);
    print_facts(device, lab->o.csv);
    return report_finish();
}
