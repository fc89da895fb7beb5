#include "06_flash_tiled_cuda/tests/run.h"

#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum kernel_name running;
static size_t running_Br, running_Bc;

bool is_tensor(enum kernel_name name)
{
    return !step_takes_type(&table.steps[name], DTYPE_F32);
}

bool is_complete(enum kernel_name name)
{
    return (table.steps[name].supports & SUPPORTS_EVERYTHING) == SUPPORTS_EVERYTHING;
}

bool is_hopper(enum kernel_name name)
{
    return table.steps[name].compute_capability == 90;
}

const struct device *test_device(void)
{
#ifdef WITH_GPU
    const char *const where = getenv("CUDA_TESTS");
    if (where && strcmp(where, "gpu") == 0)
        return &device_gpu;
#endif
    return &device_cpu;
}

struct tensors arrays_of(const struct test_problem *t, float *O, float *lse)
{
    return (struct tensors){ .Q = t->Q, .K = t->K, .V = t->V, .O = O, .lse = lse };
}

struct tile_size tile_of(enum kernel_name name, const struct attention *p)
{
    const struct options o = { .br = running_Br, .bc = running_Bc };
    return step_size(&table.steps[name], &o, p);
}

struct count count_of(enum kernel_name name, const struct test_problem *t)
{
    return count_step(&table.steps[name], &t->p, tile_of(name, &t->p), arrays_of(t, NULL, NULL));
}

void run_on(const struct device *device, enum kernel_name name, const struct test_problem *t,
            float *O, float *lse)
{
    const struct step *const kernel = &table.steps[name];
    const char *const unsupported = device_unsupported(device, t->p.dtype);
    if (unsupported) {  // Criterion cannot skip tests with an exit code of their own
        printf("skipped from here on: %s: %s\n", kernel->name, unsupported);
        exit(TEST_CAME_TO_ITS_END);
    }
    device_use(step_wrong_device(kernel, device) ? &device_cpu : device, NULL);
    kernel->run(&t->p, tile_of(name, &t->p), arrays_of(t, O, lse));
}

enum kernel_name kernel_after(enum kernel_name name)
{
    const char *wrong;
    while (++name < KERNELS && !is_hopper(name) &&
           (wrong = step_wrong_device(&table.steps[name], test_device())))
        printf("skipped: %s: not for %s\n", table.steps[name].name, wrong);
    return name;
}

enum dtype kernel_type(enum kernel_name name)
{
    for (enum dtype type = DTYPE_F32; type <= DTYPE_F16; type++)
        if (step_takes_type(&table.steps[name], type))
            return type;
    return DTYPE_F32;
}

static void run(const struct attention *p, const float *Q, const float *K, const float *V, float *O,
                float *lse)
{
    const struct test_problem t = { .p = *p, .Q = (float *)Q, .K = (float *)K, .V = (float *)V };
    run_on(test_device(), running, &t, O, lse);
}

/* Problems that take seconds on the CPU run only on a GPU. Short tests need two tiles each way, and a ragged end. */
static bool is_spared(const struct attention *p)
{
    enum { LARGE = 350 * 1000, TWO_TILES = 300 * 300 };  // pairs of a query and a key
    if (p->Nq * p->Nk > all_or_few(UINT64_MAX, TWO_TILES))
        return true;
    return test_device() == &device_cpu && attention_rows(p) * p->Nk > LARGE;
}

static bool can(const struct attention *p)
{
    return !step_unsupported(&table.steps[running], p) && !is_spared(p);
}

forward *on_device(enum kernel_name name)
{
    running = name;
    forward_forms.count = 1;
    forward_forms.can = can;
    forward_forms.done = 0;
    snprintf(forward_forms.text, sizeof forward_forms.text, " --step %s", table.steps[name].name);
    return run;
}

forward *on_device_in_tiles(enum kernel_name name, size_t Br, size_t Bc)
{
    forward *const run_it = on_device(name);
    running_Br = Br;
    running_Bc = Bc;
    if (Br)
        snprintf(forward_forms.text, sizeof forward_forms.text, " --step %s --br %zu --bc %zu",
                 table.steps[name].name, Br, Bc);
    return run_it;
}

struct attention kernel_shape(enum kernel_name name, size_t B, size_t H, size_t Hkv, size_t Nq,
                              size_t Nk)
{
    struct attention p = attention_of(B, H, Hkv, Nq, Nk, is_tensor(name) ? 64 : 16);
    p.dtype = kernel_type(name);
    return p;
}

struct test_problem kernel_problem(enum kernel_name name, uint64_t seed, size_t most,
                                   unsigned options)
{
    static const size_t dims[] = { 16, 32, 64, 96, 128 };
    struct attention p = random_attention(seed, attention_of(2, 4, 4, most, most, 16), options);
    p.d = dims[seed % 5];
    if (is_tensor(name)) {
        p.d = seed % 2 ? 64 : 128;
        p.dtype = seed / 2 % 2 ? kernel_type(name) : DTYPE_F16;
    }
    return problem_of(p, options, seed);
}

struct test_problem narrow_problem(uint64_t seed, size_t most, unsigned options)
{
    static const size_t dims[] = { 32, 64, 96, 128, 256 };
    struct attention p = random_attention(seed, attention_of(2, 4, 4, most, most, 16), options);
    p.d = dims[seed % 5];
    p.dtype = seed / 5 % 2 ? DTYPE_BF16 : DTYPE_F16;
    return problem_of(p, options, seed);
}
