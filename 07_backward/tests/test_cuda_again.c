/*
 * Which gradients have the same bits every time.
 */
#include "07_backward/tests/cuda.h"

#include "07_backward/tests/tiles.h"
#include "common/tests/test.h"

static struct cuda_spread spread_of(enum cuda_kernel_name name, struct attention p)
{
    const struct device *const device = cuda_device_for(name, test_device());
    const size_t runs = device == &device_cpu ? 4 : 500;
    struct test_problem t = problem_of(p, 0, 5);
    struct layer layer = layer_with_forward(&t);
    const struct cuda_spread s = cuda_run_again(&cuda_kernels[name], device, &layer, runs);
    kept_free(&layer.kept);
    problem_free(&t);
    return s;
}

/* Atomic additions come in any order, so dQ may vary. All other elements have one thread. */
TEST(cuda_kernels, give_the_same_bits_again_but_for_atomic_additions)
{
    for (enum cuda_kernel_name name = CUDA_STANDARD; name < CUDA_KERNELS; name++) {
        struct attention p = cuda_shape(name, 2, (name == CUDA_COMPLETE) ? 1 : 2, 200, 330);
        const struct cuda_spread s = spread_of(name, p);
        cr_assert(s.elements[DK] == 0 && s.elements[DV] == 0, "%s: %zu elements of dK, %zu of dV",
                  cuda_kernels[name].name, s.elements[DK], s.elements[DV]);
        if (cuda_kernels[name].stores & STORES_SUMS)
            continue;  // dQ is rounded: few sums differ after that
        cr_assert((s.elements[DQ] > 0) == cuda_kernels[name].any_order, "%s: %zu elements of dQ",
                  cuda_kernels[name].name, s.elements[DQ]);
        // six terms, one per block of keys, in another order: some ulps of the partial sums
        cr_assert(s.most[DQ] <= 2e-6, "%s: dQ is off by %g", cuda_kernels[name].name, s.most[DQ]);
    }
}

/* One block of keys gives one term; for two the order does not matter: 0 + a + b = 0 + b + a. */
TEST(cuda_recompute, gives_the_same_bits_again_where_two_blocks_add)
{
    for (size_t Nk = 60; Nk <= 120; Nk += 60) {
        const struct cuda_spread s = spread_of(CUDA_RECOMPUTE, attention_of(1, 2, 2, 100, Nk, 40));
        cr_assert(s.elements[DQ] == 0, "Nk %zu: %zu elements of dQ", Nk, s.elements[DQ]);
    }
}
