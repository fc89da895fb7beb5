#include "06_flash_tiled_cuda/program/story.h"

#include "06_flash_tiled_cuda/kernels/0_first_steps/first_steps.h"
#include "06_flash_tiled_cuda/program/ladder.h"
#include "06_flash_tiled_cuda/program/stages.h"
#include "common/measure/bench.h"
#include "common/program/attention_load.h"

#include <stdio.h>
#include <string.h>

// ---- first steps --------------------------------------------------------------------------------

DECLARE_LAUNCHERS(add_launcher, add_vectors)
DECLARE_LAUNCHERS(sum_launcher, sum_row)

static void first_steps(const struct device *device)
{
    static add_launcher *const add[BUILDS] = LAUNCHERS(add_vectors);
    static sum_launcher *const sum[BUILDS] = LAUNCHERS(sum_row);
    enum { N = 1000 };
    static float x[N], y[N], z[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)(i + 1), y[i] = 10.0f * x[i];
    add[device->build](x, y, z, N);
    const float total = sum[device->build](x, N);
    report_part("First steps");
    report_line("add: [%g %g … %g] + [%g %g … %g] = [%g %g … %g]", (double)x[0], (double)x[1],
                (double)x[N - 1], (double)y[0], (double)y[1], (double)y[N - 1], (double)z[0],
                (double)z[1], (double)z[N - 1]);
    report_line("sum: 1 + 2 + … + %d = %g", N, (double)total);
    for (int i = 0; i < N; i++)
        if (z[i] != 11.0f * x[i])
            report_wrong("element %d of the sum of two vectors is %g", i, (double)z[i]);
    if (total != 0.5f * N * (N + 1))
        report_wrong("the sum of a row is %g", (double)total);
}

// ---- by hand ------------------------------------------------------------------------------------

static void print_lanes(const char *what, const float *x)
{
    char text[100] = "";
    for (int lane = 0; lane < 8; lane++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%4.0f", (double)x[lane]);
    }
    report_line("%-24s%s", what, text);
}

static void by_hand(const struct device *device)
{
    static const float x[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    static const char *const steps[3] = { "with lane k xor 1", "with lane k xor 2",
                                          "with lane k xor 4" };
    float after[3][8];
    device->row_max(x, after);
    report_part("By hand");
    report_line("the maximum of a row in the registers of 8 lanes: each takes the larger of");
    report_line("its own number and another lane's, three times, and then every lane has it");
    print_lanes("lane k", (const float[8]){ 0, 1, 2, 3, 4, 5, 6, 7 });
    print_lanes("its number", x);
    for (int n = 0; n < 3; n++)
        print_lanes(steps[n], after[n]);
    for (int lane = 0; lane < 8; lane++)
        if (after[2][lane] != 9.0f)
            report_wrong("lane %d has %g", lane, (double)after[2][lane]);
}

// ---- all kernels --------------------------------------------------------------------------------

/* The first text of the real input, which has no padding: so that every kernel can do it. */
static void all_kernels(const struct device *device)
{
    const struct options none = { .window_left = -1, .window_right = -1 };
    struct attention_input input = attention_input_load(&none);
    input.p.B = 1;
    input.p.key_mask = NULL;
    print_kernels(device, &input, &none);
    attention_input_free(&input);
}

void print_story(const struct device *device)
{
    first_steps(device);
    by_hand(device);
    all_kernels(device);
}

// ---- the device ---------------------------------------------------------------------------------

/* What was measured, a second: bytes copied and float32 operations, by kernels and by one core. */
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
            "so fast does this CPU play a GPU, and a GPU's speed it is not. The CPU itself");
        report_line("copies %.1f GB/s and makes %.0f GFLOP/s, one core of it",
                    1e-9 * r->core_bandwidth, 1e-9 * r->core_peak);
        return;
    }
    report_line("%.0f GB/s of a kernel that copies, %.1f TFLOP/s of one that multiplies and adds",
                1e-9 * r->bandwidth, 1e-12 * r->peak);
    report_line("so %.0f operations for each float32 that is loaded or stored",
                r->peak / (r->bandwidth / (double)sizeof(float)));
}

/* A line for each thing and its unit. */
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

void print_device(const struct device *device, const char *csv)
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
