/*
 * The kernels again and again: which gradients are the same bits every time.
 */
#include "07_backward/tests/cuda.h"

#include "07_backward/tests/tiles.h"
#include "common/tests/test.h"

static struct cuda_spread spread_of(const struct step *kernel, struct attention p)
{
    const struct device *const device = cuda_device_for(kernel, test_device());
    const size_t runs = device == &device_cpu ? 3 : 500;
    struct test_problem t = problem_of(p, 0, 5);
    struct lab layer = layer_with_forward(&t);
    const struct cuda_spread s = cuda_run_again(kernel, device, &layer, runs);
    forward_free(&layer.x);
    problem_free(&t);
    return s;
}

/* Atomic additions come in any order, and so dQ is rounded in any. All else has one thread an element. */
TEST(cuda_kernels, give_the_same_bits_again_but_for_atomic_additions)
{
    for (const struct step *kernel = cuda_named("cuda_standard"); kernel < kernels_end();
         kernel++) {
        struct attention p =
            cuda_shape(kernel, 2, (kernel == cuda_named("cuda_complete")) ? 1 : 2, 200, 330);
        const struct cuda_spread s = spread_of(kernel, p);
        cr_assert(s.elements[DK] == 0 && s.elements[DV] == 0, "%s: %zu elements of dK, %zu of dV",
                  kernel->name, s.elements[DK], s.elements[DV]);
        if (kernel->stores & STORES_SUMS)
            continue;  // its dQ is rounded: few sums differ after that, or none
        cr_assert((s.elements[DQ] > 0) == kernel->any_order, "%s: %zu elements of dQ", kernel->name,
                  s.elements[DQ]);
        // six terms, one from each block of keys, rounded in another order: some ulps of the partial sums
        cr_assert(s.most[DQ] <= 2e-6, "%s: dQ is off by %g", kernel->name, s.most[DQ]);
    }
}

/* Of one block of keys there is one term, and of two the order does not matter: 0 + a + b = 0 + b + a. */
TEST(cuda_recompute, gives_the_same_bits_again_where_two_blocks_add)
{
    for (size_t Nk = 60; Nk <= 120; Nk += 60) {
        const struct cuda_spread s =
            spread_of(cuda_named("cuda_recompute"), attention_of(1, 2, 2, 100, Nk, 40));
        cr_assert(s.elements[DQ] == 0, "Nk %zu: %zu elements of dQ", Nk, s.elements[DQ]);
    }
}
