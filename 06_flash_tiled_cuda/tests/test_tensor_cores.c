/*
 * The kernels on tensor cores at the limits of 16 bits.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/tests/test.h"

/* The kernels on tensor cores, and complete with 16-bit inputs. */
static bool knows_16_bits(enum kernel_name name)
{
    return is_tensor(name) || name == COMPLETE;
}

TEST(tensor_cores, hold_inputs_that_overflow_easily)
{
    size_t done = 0;
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (uint64_t seed = 0; knows_16_bits(name) && seed < all_or_few(4, 2); seed++, done++) {
            const unsigned options = seed % 2 ? WITH_CAUSAL : 0;
            struct test_problem t = name == COMPLETE ? narrow_problem(seed, 200, options)
                                                     : kernel_problem(name, seed, 200, options);
            for (size_t n = 0; n < attention_query_elements(&t.p); n++)
                t.Q[n] = dtype_round(t.p.dtype, 5.0f * t.Q[n]);
            for (size_t n = 0; n < attention_key_elements(&t.p); n++) {
                t.K[n] = dtype_round(t.p.dtype, 3.0f * t.K[n]);
                t.V[n] = dtype_round(t.p.dtype, 3.0f * t.V[n]);
            }
            assert_forward(on_device(name), &t);
            problem_free(&t);
        }
    cr_assert(done > 8, "no kernel on tensor cores");
}

/* float16 ends at 65504; S, which stays in float32, may be larger. */
TEST(tensor_cores, reach_the_end_of_float16)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        if (!knows_16_bits(name))
            continue;
        struct attention p = kernel_shape(MMA, 1, 1, 1, 70, 150);
        p.dtype = DTYPE_F16;
        p.scale = 1e-6f;
        struct test_problem t = problem_of(p, 0, 1);
        for (size_t n = 0; n < 70 * p.d; n++)
            t.Q[n] = dtype_round(p.dtype, 700.0f * t.Q[n]);
        for (size_t n = 0; n < 150 * p.d; n++) {
            t.K[n] = dtype_round(p.dtype, 700.0f * t.K[n]);
            t.V[n] = t.V[n] > 0.0f ? 65504.0f : 60000.0f;
        }
        assert_forward(on_device(name), &t);
        problem_free(&t);
    }
}

TEST(tensor_cores, take_scales_of_every_sign)
{
    // at 1e6 k m is rounded by as much as 2, which must cancel
    static const float scales[] = { 0.0f, -0.125f, -3.0f, 1e-20f, 4.0f, 1e6f };
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (size_t k = 0; knows_16_bits(name) && k < sizeof scales / sizeof scales[0]; k++) {
            struct attention p = kernel_shape(MMA, 1, 1, 1, 100, 90);
            p.scale = scales[k];
            p.causal = true;  // the first ten queries have no key
            struct test_problem t = problem_of(p, 0, k);
            assert_forward(on_device(name), &t);
            problem_free(&t);
        }
}
