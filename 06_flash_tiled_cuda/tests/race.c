/*
 * Runs every kernel, or those named, under the race detector and in four orders of its threads:
 * make racecheck-06. A finding ends the program with kernel, block, thread and line.
 */
#include "06_flash_tiled_cuda/program.h"
#include "common/cuda/cpu.h"
#include "common/lab/device.h"

#include <stdio.h>
#include <string.h>

/* Several tiles each way, with ragged ends. */
static const size_t sizes[][3] = {
    { 130, 70, 16 }, { 70, 200, 64 }, { 140, 140, 128 }, { 70, 300, 64 }
};

static void run(const struct step *kernel, const struct device *device, enum dtype type)
{
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct attention p = attention_of(1, 2, 1, sizes[k][0], sizes[k][1], sizes[k][2]);
        p.dtype = type;
        if (type != DTYPE_F32)
            p.d = p.d < 64 ? 64 : p.d;
        p.causal = k % 2 == 1;
        if (kernel->supports & SUPPORTS_DROPOUT) {
            p.window_left = 60;
            attention_set_dropout(&p, 0.2, 1);
        }
        struct attention_input input = attention_input_random(p, 1);
        device_use(device, NULL);
        struct tensors x = step_run(kernel, &p, step_size(kernel, &(const struct options){ 0 }, &p),
                                    tensors_of(&input, NULL, NULL));
        outputs_free(&x);
        attention_input_free(&input);
    }
}

static void check(const struct step *kernel, enum dtype type)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);
    run(kernel, &device_instrumented, type);
    cuda_cpu_watch(0);
    cuda_cpu_all_schedules(true);
    run(kernel, &device_cpu, type);
    cuda_cpu_all_schedules(false);
    printf("%-10s no race, and the same bits in four orders of its threads%s\n", kernel->name,
           kernel->formula_16 && type != DTYPE_F32 ? ", in 16 bits" : "");
    fflush(stdout);
}

static bool is_named(const struct step *kernel, char *const *names, int count)
{
    for (int k = 0; k < count; k++)
        if (strcmp(names[k], kernel->name) == 0 ||
            (kernel->formula_16 && strcmp(names[k], "complete16") == 0))
            return true;
    return count == 0;
}

int main(int count, char **names)
{
    size_t checked = 0;
    for (const struct step *kernel = table.steps; kernel < table.steps + table.count; kernel++) {
        if (!is_named(kernel, names + 1, count - 1))
            continue;
        checked++;
        if (step_takes_type(kernel, DTYPE_F32))
            check(kernel, DTYPE_F32);
        if (step_takes_type(kernel, DTYPE_F16))
            check(kernel, step_takes_type(kernel, DTYPE_BF16) ? DTYPE_BF16 : DTYPE_F16);
    }
    if (checked == 0)
        fprintf(stderr, "%s: expected the names of kernels\n", names[0]);
    return checked > 0 ? 0 : 2;
}
