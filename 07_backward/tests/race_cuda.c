/*
 * Runs every kernel, or those named (without cuda_), under the race detector and in four orders of
 * its threads and blocks: make racecheck-07. A finding ends the program with kernel, block, thread
 * and line.
 */
#include "07_backward/kernels/host/run.h"
#include "07_backward/program.h"
#include "common/cuda/cpu.h"

#include <stdio.h>
#include <string.h>

/* Several tiles each way, with ragged ends; complete has other d in 16 bits. */
static const struct {
    size_t Nq, Nk, d, d_in_16_bits, d_of_complete_in_16_bits;
} sizes[] = { { 130, 70, 16, 64, 32 }, { 70, 200, 64, 64, 64 }, { 140, 140, 128, 128, 256 } };

static void run_in(bool narrow, const struct step *kernel, const struct device *device)
{
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct attention p = attention_of(1, 2, (kernel->supports & SUPPORTS_DROPOUT) ? 1 : 2,
                                          sizes[k].Nq, sizes[k].Nk, sizes[k].d);
        if (narrow) {
            p.d = (kernel->supports & SUPPORTS_DROPOUT) ? sizes[k].d_of_complete_in_16_bits
                                                        : sizes[k].d_in_16_bits;
            p.dtype = k % 2 ? DTYPE_F16 : DTYPE_BF16;
        }
        p.causal = k > 0;
        if ((kernel->supports & SUPPORTS_DROPOUT)) {
            p.window_left = 60;
            attention_set_dropout(&p, 0.2, 1);
        }
        struct lab layer = backward_random(&chapter, p, &(const struct options){ .seed = 1 });
        struct result r = cuda_run(kernel, device, &layer);
        result_free(&r);
        lab_free(&layer);
    }
}

/* In float32 and 16 bits, which are different kernels. */
static void run(const struct step *kernel, const struct device *device)
{
    for (int narrow = 0; narrow < 2; narrow++)
        if (step_takes_type(kernel, narrow ? DTYPE_BF16 : DTYPE_F32))
            run_in(narrow, kernel, device);
}

static bool is_named(const struct step *kernel, char *const *names, int count)
{
    for (int k = 0; k < count; k++)
        if (strcmp(names[k], kernel->name + strlen("cuda_")) == 0)
            return true;
    return count == 0;
}

int main(int count, char **names)
{
    size_t checked = 0;
    for (const struct step *k = cuda_table.steps; k < cuda_table.steps + cuda_table.count; k++) {
        if (!is_named(k, names + 1, count - 1))
            continue;
        checked++;
        cuda_cpu_watch(CUDA_WATCH_RACES);
        run(k, &device_instrumented);
        cuda_cpu_watch(0);
        cuda_cpu_all_schedules(true);
        run(k, &device_cpu);
        cuda_cpu_all_schedules(false);
        printf("%-18s no race, and the same bits in four orders of its threads%s\n", k->name,
               k->any_order ? " but for dQ" : "");
        fflush(stdout);
    }
    if (checked == 0)
        fprintf(stderr, "%s: expected the names of kernels\n", names[0]);
    return checked > 0 ? 0 : 2;
}
