#include "story.h"

#include "bench.h"
#include "ladder.h"
#include "stages.h"

#include <stdio.h>
#include <string.h>

// ---- by hand ------------------------------------------------------------------------------------

static void tell_lanes(const char *what, const float *x)
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
    report_line("its own number and another lane's, three times, and then all have it");
    tell_lanes("lane k", (const float[8]){ 0, 1, 2, 3, 4, 5, 6, 7 });
    tell_lanes("its number", x);
    for (int n = 0; n < 3; n++)
        tell_lanes(steps[n], after[n]);
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
    tell_kernels(device, &input, &none);
    attention_input_free(&input);
}

void tell_story(const struct device *device)
{
    by_hand(device);
    all_kernels(device);
}

// ---- the device ---------------------------------------------------------------------------------

static void tell_rates(const struct device *device)
{
    const double bandwidth = device->bandwidth(), peak = device->fma_peak();
    if (device == &device_cpu) {
        report_line(
            "%.1f GB/s of a kernel that copies, %.1f GFLOP/s of one that multiplies and adds:",
            1e-9 * bandwidth, 1e-9 * peak);
        report_line(
            "so fast does this CPU play a GPU, and a GPU's speed it is not. The CPU itself");
        report_line("copies %.1f GB/s and makes %.0f GFLOP/s, one core of it",
                    1e-9 * bench_copy_bandwidth(), 1e-9 * bench_fma_peak());
        return;
    }
    report_line("%.0f GB/s of a kernel that copies, %.1f TFLOP/s of one that multiplies and adds",
                1e-9 * bandwidth, 1e-12 * peak);
    report_line("so %.0f operations for each float32 that is loaded or stored",
                peak / (bandwidth / (double)sizeof(float)));
}

void tell_device(const struct device *device)
{
    struct device_facts f;
    char shared[32], per_processor[32], L2[32], memory[32];
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
    tell_rates(device);
    report_line("%s", bench_machine());
}
