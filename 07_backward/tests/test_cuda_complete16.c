/*
 * complete in 16 bits, a kernel of its own, against the reference with every option.
 */
#include "07_backward/tests/cuda.h"

#include "07_backward/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

struct test_problem narrow_problem(uint64_t seed, size_t most, unsigned options)
{
    static const size_t dims[] = { 32, 64, 96, 128, 256 };
    struct attention p = random_attention(seed, attention_of(2, 4, 4, most, most, 16), options);
    p.d = dims[seed % 5];
    p.dtype = (seed % 5 + seed / 5) % 2 ? DTYPE_BF16 : DTYPE_F16;
    return problem_of(p, options, seed);
}

/* One batch entry and one key/value head in bfloat16. */
static struct attention narrow_shape(size_t H, size_t Nq, size_t Nk, size_t d)
{
    struct attention p = attention_of(1, H, 1, Nq, Nk, d);
    p.dtype = DTYPE_BF16;
    return p;
}

/* Some options together; if tests are not short, also each alone with each d. */
TEST(cuda_complete, agrees_with_the_reference_in_16_bits)
{
    for (uint64_t seed = 0; seed < all_or_few(70, 10); seed++) {
        const unsigned one = WITH_EVERYTHING & 1U << seed / 5 % 9;
        struct test_problem t =
            narrow_problem(seed, 150, seed < 25 ? random_options(seed, WITH_EVERYTHING) : one);
        assert_backward(on_cuda(cuda_named("cuda_complete")), &t);
        problem_free(&t);
    }
}

/* Lengths around its tiles: 32 queries by 128 keys, 128 by 64 or 32. */
TEST(cuda_complete, agrees_with_the_reference_at_lengths_around_its_tiles)
{
    static const size_t lengths[][2] = { { 1, 1 },     { 2, 300 },   { 31, 127 },  { 32, 128 },
                                         { 33, 129 },  { 64, 64 },   { 65, 257 },  { 127, 63 },
                                         { 128, 65 },  { 129, 191 }, { 255, 256 }, { 300, 2 },
                                         { 257, 511 }, { 513, 33 } };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct attention p = narrow_shape(2, lengths[k][0], lengths[k][1], k % 2 ? 32 : 64);
        p.causal = k % 3 == 1;
        struct test_problem t = problem_of(p, 0, k);
        assert_backward(on_cuda(cuda_named("cuda_complete")), &t);
        problem_free(&t);
    }
}

TEST(cuda_complete, reads_no_key_in_16_bits_that_no_query_sees_and_gives_it_zeros)
{
    static const unsigned options[] = { WITH_KEY_MASK | WITH_GROUPED_HEADS,
                                        WITH_BLOCK_MASK | WITH_WINDOW, WITH_EVERYTHING };
    size_t hidden = 0;
    for (uint64_t seed = 1; seed <= all_or_few(24, 9); seed++) {
        struct test_problem t = narrow_problem(seed, 100, options[seed % 3]);
        hidden += problem_poison_unseen_keys(&t);
        assert_backward(on_cuda(cuda_named("cuda_complete")), &t);
        assert_backward_gives_zeros(on_cuda(cuda_named("cuda_complete")), &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

TEST(cuda_complete, lets_queries_in_16_bits_that_see_no_key_hold_anything)
{
    static const unsigned options[] = { WITH_BLOCK_MASK | WITH_KEY_MASK,
                                        WITH_CAUSAL | WITH_UNEQUAL_LENGTHS | WITH_DROPOUT,
                                        WITH_WINDOW | WITH_TOP_LEFT | WITH_UNEQUAL_LENGTHS,
                                        WITH_EVERYTHING };
    size_t empty = 0;
    for (uint64_t seed = 1; seed <= all_or_few(24, 12); seed++) {
        struct test_problem t = narrow_problem(seed, 120, options[seed / 4 % 4]);
        empty += problem_poison_queries_that_see_nothing(&t);
        assert_backward(on_cuda(cuda_named("cuda_complete")), &t);
        problem_free(&t);
    }
    cr_assert(empty > 100, "only %zu queries were empty: this tests nothing", empty);
}

/*
 * Causal: query 100 attends to keys up to 105. NaN in its dO must not reach keys from 128, whose
 * tile of queries, 96 to 127, contains it.
 */
TEST(cuda_complete, keeps_nan_in_16_bits_from_keys_that_a_query_does_not_see)
{
    enum { NQ = 300, NK = 305, QUERY = 100, SEEN = 106, NEXT_BLOCK = 128 };
    struct attention p = narrow_shape(1, NQ, NK, 64);
    p.causal = true;
    struct test_problem t = problem_of(p, 0, 1);
    for (size_t c = 0; c < p.d; c++)
        t.dO[QUERY * p.d + c] = NAN;
    struct result r = cuda_gradients(cuda_named("cuda_complete"), test_device(), &t);
    for (size_t n = 0; n < NK * p.d; n++) {
        const bool nan = isnan(r.of[DK][n]) && isnan(r.of[DV][n]);
        const bool number = !isnan(r.of[DK][n]) && !isnan(r.of[DV][n]);
        cr_assert(n / p.d >= SEEN || nan, "key %zu: dK is %g, dV %g", n / p.d, (double)r.of[DK][n],
                  (double)r.of[DV][n]);
        cr_assert(n / p.d < NEXT_BLOCK || number, "key %zu: dK is %g, dV %g", n / p.d,
                  (double)r.of[DK][n], (double)r.of[DV][n]);
    }
    result_free(&r);
    problem_free(&t);
}

TEST(cuda_complete, gives_zeros_in_16_bits_where_no_query_sees_a_key)
{
    struct attention p = attention_of(2, 2, 1, 70, 90, 32);
    p.dtype = DTYPE_F16;
    struct test_problem t = problem_of(p, WITH_KEY_MASK, 3);
    memset(t.key_mask, 0, 2 * 90);
    struct result r = cuda_gradients(cuda_named("cuda_complete"), test_device(), &t);
    assert_zeros(&r, &t.p, "complete in 16 bits");
    result_free(&r);
    problem_free(&t);
}

/* With no option, and with one that tests each pair. */
TEST(cuda_complete, gives_scores_of_minus_infinity_in_16_bits_no_weight)
{
    enum { N = 100, FEW = 70, D = 32 };
    for (int masked = 0; masked < 2; masked++) {
        struct attention p = narrow_shape(1, N, N, D);
        p.causal = masked;
        p.top_left = masked;
        struct test_problem t = problem_of(p, 0, 1);
        for (size_t i = 0; i < N; i++) {
            t.Q[i * D] = 1.0f;
            t.K[i * D] = i < FEW ? -INFINITY : t.K[i * D];
        }
        struct result r = cuda_gradients(cuda_named("cuda_complete"), test_device(), &t);
        for (size_t n = 0; n < N * D; n++)
            cr_assert((r.of[DK][n] == 0.0f && r.of[DV][n] == 0.0f) == (n / D < FEW),
                      "dK[%zu] is %g, dV %g", n, (double)r.of[DK][n], (double)r.of[DV][n]);
        result_free(&r);
        problem_free(&t);
    }
}

TEST(cuda_complete, gives_the_same_bits_in_16_bits_again)
{
    struct attention p = narrow_shape(2, 200, 330, 64);
    attention_set_dropout(&p, 0.2, 1);
    struct test_problem t = problem_of(p, 0, 5);
    struct lab layer = layer_with_forward(&t);
    const size_t runs = test_device() == &device_cpu ? 4 : 500;
    const struct cuda_spread s =
        cuda_run_again(cuda_named("cuda_complete"), test_device(), &layer, runs);
    for (size_t g = 0; g < GRADIENTS; g++)
        cr_assert(s.elements[g] == 0, "array %zu: %zu elements", g, s.elements[g]);
    forward_free(&layer.x);
    problem_free(&t);
}
