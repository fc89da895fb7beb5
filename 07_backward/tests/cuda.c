#include "07_backward/tests/cuda.h"

#include "07_backward/tests/tiles.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct step *running;

const struct device *test_device(void)
{
    const char *const where = getenv("CUDA_TESTS");
    const struct options gpu = { .device = "gpu" };
    return where && strcmp(where, "gpu") == 0 ? device_choose(&gpu) : &device_cpu;
}

bool is_tensor(const struct step *kernel)
{
    return !step_takes_type(kernel, DTYPE_F32);
}

unsigned cuda_options(const struct step *kernel)
{
    const unsigned supports = kernel->supports;
    return supports & SUPPORTS_DROPOUT         ? WITH_EVERYTHING
           : supports & SUPPORTS_GROUPED_HEADS ? WITH_ORDER | WITH_GROUPED_HEADS
                                               : WITH_ORDER;
}

const struct device *cuda_device_for(const struct step *kernel, const struct device *device)
{
    return step_wrong_device(kernel, device) ? &device_cpu : device;
}

struct result cuda_gradients(const struct step *kernel, const struct device *device,
                             const struct test_problem *t)
{
    struct lab layer = layer_with_forward(t);
    struct result r = cuda_run(kernel, cuda_device_for(kernel, device), &layer);
    forward_free(&layer.x);
    return r;
}

static void run(const struct test_problem *t, float *dQ, float *dK, float *dV)
{
    if (backward_forms.count > 1) {
        running = cuda_named("cuda_mma_split") + backward_forms.now;
        snprintf(backward_forms.text, sizeof backward_forms.text, " --step %s", running->name);
    }
    struct result r = cuda_gradients(running, test_device(), t);
    backward_forms.stored = r.type;
    memcpy(dQ, r.of[DQ], attention_query_elements(&t->p) * sizeof *dQ);
    memcpy(dK, r.of[DK], attention_key_elements(&t->p) * sizeof *dK);
    memcpy(dV, r.of[DV], attention_key_elements(&t->p) * sizeof *dV);
    result_free(&r);
}

backward *on_cuda(const struct step *kernel)
{
    enum { LARGE = 350 * 1000 };  // takes seconds on the CPU
    running = kernel;
    backward_forms.count = backward_forms.turn = 1;
    backward_forms.most = test_device() == &device_cpu ? LARGE : 0;
    snprintf(backward_forms.text, sizeof backward_forms.text, " --step %s", kernel->name);
    return run;
}

backward *on_cuda_in_16_bits(void)
{
    on_cuda(cuda_named("cuda_mma"));
    backward_forms.count = backward_forms.turn =
        (size_t)(cuda_named("cuda_complete") - cuda_named("cuda_mma_split")) + 1;
    return run;
}

struct test_problem cuda_problem(const struct step *kernel, uint64_t seed, size_t most,
                                 unsigned options)
{
    static const size_t dims[] = { 1, 3, 16, 32, 40, 59, 64, 80, 96, 111, 128 };
    struct attention p = random_attention(seed, attention_of(2, 4, 4, most, most, 16), options);
    p.d = dims[seed % (sizeof dims / sizeof dims[0])];
    if (is_tensor(kernel)) {
        p.d = seed % 4 < 3 ? 64 : 128;
        p.dtype = seed % 2 ? DTYPE_BF16 : DTYPE_F16;
    }
    return problem_of(p, options, seed);
}

struct attention cuda_shape(const struct step *kernel, size_t H, size_t Hkv, size_t Nq, size_t Nk)
{
    struct attention p = attention_of(1, H, Hkv, Nq, Nk, is_tensor(kernel) ? 64 : 24);
    p.dtype = is_tensor(kernel) ? DTYPE_BF16 : DTYPE_F32;
    return p;
}
