#include "run.h"

#include "../stages.h"
#include "test.h"
#include "tolerance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum kernel_name running;

const struct device *test_device(void)
{
#ifdef WITH_GPU
    const char *const where = getenv("CUDA_TESTS");
    if (where && strcmp(where, "gpu") == 0)
        return &device_gpu;
#endif
    return &device_cpu;
}

struct attention_input input_of(const struct test_problem *t)
{
    return (struct attention_input){ .p = t->p, .Q = t->Q, .K = t->K, .V = t->V };
}

void run_on(const struct device *device, enum kernel_name name, const struct test_problem *t, float *O,
            float *lse)
{
    const struct attention_input input = input_of(t);
    struct loaded l = kernel_load(&kernels[name], device, &input);
    if (!lse) {
        device->release(l.arrays.lse);
        l.arrays.lse = NULL;
    }
    kernel_launch(&l);
    device->download(O, l.arrays.O, attention_query_elements(&t->p) * sizeof *O);
    if (lse)
        device->download(lse, l.arrays.lse, attention_rows(&t->p) * sizeof *lse);
    kernel_unload(&l);
}

static void run(const struct attention *p, const float *Q, const float *K, const float *V, float *O,
                float *lse)
{
    const struct test_problem t = { .p = *p,
                                    .Q = (float *)Q, .K = (float *)K, .V = (float *)V };
    run_on(test_device(), running, &t, O, lse);
}

static bool can(const struct attention *p)
{
    return !kernel_lacks(&kernels[running], p);
}

forward *on_device(enum kernel_name name)
{
    running = name;
    forward_forms.count = 1;
    forward_forms.can = can;
    forward_forms.done = 0;
    snprintf(forward_forms.text, sizeof forward_forms.text, " --kernel %s", kernels[name].name);
    return run;
}

struct test_problem kernel_problem(uint64_t seed, size_t most, unsigned options)
{
    static const size_t dims[] = { 16, 32, 64, 96, 128 };
    struct test_problem t =
        random_problem(seed, attention_of(2, 4, 4, most, most, 16), options);
    struct attention p = t.p;
    p.d = dims[seed % 5];
    problem_free(&t);
    return problem_of(p, options, seed);
}
