/*
 * What `make 06` shows before its input: the first two kernels, then all others on a small input.
 * --story shows one part alone, the first two kernels or a row's maximum by shuffles.
 */
#include "common/program/story.h"
#include "06_flash_tiled_cuda/kernels/0_first_steps/first_steps.h"
#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/program.h"
#include "common/program/attention_load.h"

#include <stdio.h>
#include <string.h>

// ---- first steps --------------------------------------------------------------------------------

DECLARE_LAUNCHERS(add_launcher, add_vectors)
DECLARE_LAUNCHERS(sum_launcher, sum_row)

/* Both kernels on 1000 numbers; wrong results are reported. */
static void first_steps(void)
{
    const enum build build = device_current()->build;
    static add_launcher *const add[BUILDS] = LAUNCHERS(add_vectors);
    static sum_launcher *const sum[BUILDS] = LAUNCHERS(sum_row);
    enum { N = 1000 };
    static float x[N], y[N], z[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)(i + 1), y[i] = 10.0f * x[i];
    add[build](x, y, z, N);
    const float total = sum[build](x, N);
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

/* One line: a label, and the numbers of 8 lanes. */
static void print_lanes(const char *what, const float *x)
{
    char text[100] = "";
    for (int lane = 0; lane < 8; lane++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%4.0f", (double)x[lane]);
    }
    report_line("%-24s%s", what, text);
}

/* The maximum of 8 numbers after each of three shuffles, which leave it in every lane. */
static void by_hand(void)
{
    static const float x[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    static const char *const steps[3] = { "with lane k xor 1", "with lane k xor 2",
                                          "with lane k xor 4" };
    float after[3][8];
    device_current()->row_max(x, after);
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

/*
 * Runs all kernels on the first text of the real input. It has no padding, so no key mask, which
 * most kernels do not support.
 */
static void all_kernels(void (*run_kernels)(struct lab *lab))
{
    const struct options none = { .window_left = -1, .window_right = -1 };
    struct attention_input input = attention_input_load(&none);
    input.p.B = 1;
    input.p.key_mask = NULL;
    struct lab lab = lab_of(&chapter, input, &none);
    lab_ready(&lab);
    run_kernels(&lab);
    lab_free(&lab);
}

// ---- the parts ----------------------------------------------------------------------------------

void tell_screen(void (*run_kernels)(struct lab *lab))
{
    first_steps();
    all_kernels(run_kernels);
}

int tell_part(const struct options *options)
{
    static const struct story_part parts[] = {
        { "first_steps", "a sum of two vectors, and the sum of a row", first_steps, false },
        { "by_hand", "the maximum of a row in the registers of 8 lanes", by_hand, false },
    };
    device_use(device_choose(options), NULL);
    return story_tell(options, parts, sizeof parts / sizeof parts[0]);
}
