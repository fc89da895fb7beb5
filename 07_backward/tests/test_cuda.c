/*
 * The kernels against the reference, at the sizes and with the options that they know.
 */
#include "07_backward/tests/cuda.h"

#include "common/cuda/cpu.h"

#include "common/tests/test.h"

/* Random problems of every d, with each option alone and then with some together. */
static void assert_options(enum cuda_kernel_name name, uint64_t most)
{
    const unsigned options = cuda_options(name);
    for (uint64_t seed = 1; seed <= all_or_few(most, 12); seed++) {
        const unsigned some = seed <= 18 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = cuda_problem(name, seed, 150, some);
        assert_backward(on_cuda(name), &t);
        problem_free(&t);
    }
}

TEST(cuda_standard, agrees_with_the_reference)
{
    assert_backward_at_unequal_lengths(on_cuda(CUDA_STANDARD));
    assert_options(CUDA_STANDARD, 44);
}

TEST(cuda_recompute, agrees_with_the_reference)
{
    assert_backward_at_every_length(on_cuda(CUDA_RECOMPUTE));
    assert_backward_at_unequal_lengths(on_cuda(CUDA_RECOMPUTE));
    assert_options(CUDA_RECOMPUTE, 44);
}

TEST(cuda_deterministic, agrees_with_the_reference)
{
    assert_backward_at_every_length(on_cuda(CUDA_DETERMINISTIC));
    assert_backward_at_unequal_lengths(on_cuda(CUDA_DETERMINISTIC));
    assert_options(CUDA_DETERMINISTIC, 44);
}

TEST(cuda_mma_split, agrees_with_the_reference)
{
    assert_options(CUDA_MMA_SPLIT, 24);
}

TEST(cuda_mma, agrees_with_the_reference)
{
    assert_options(CUDA_MMA, 24);
}

/* Then its tiles are smaller with d = 128. */
TEST(cuda_mma, agrees_with_the_reference_where_a_block_has_99_kb)
{
    cuda_cpu_shared(99 * 1024);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct attention p = attention_of(1, 2, 2, 30 + 47 * seed, 300 - 61 * seed, 128);
        p.dtype = seed % 2 ? DTYPE_BF16 : DTYPE_F16;
        p.causal = seed > 2;
        struct test_problem t = problem_of(p, 0, seed);
        assert_backward(on_cuda(CUDA_MMA), &t);
        problem_free(&t);
    }
}

static void assert_in_16_bits(size_t Nq, size_t Nk, enum dtype type)
{
    struct attention p = attention_of(1, 1, 1, Nq, Nk, 64);
    p.dtype = type;
    p.causal = Nq != Nk;  // then the first query that sees a key is anywhere in its tile
    struct test_problem t = problem_of(p, 0, Nq + Nk);
    assert_backward(on_cuda_in_16_bits(), &t);
    problem_free(&t);
}

TEST(cuda_tensor_cores, agree_with_the_reference_at_every_length)
{
    static const size_t lengths[][2] = { { 1, 1 },     { 2, 2 },     { 7, 7 },     { 63, 63 },
                                         { 64, 64 },   { 65, 65 },   { 100, 100 }, { 127, 127 },
                                         { 129, 129 }, { 200, 200 }, { 511, 511 }, { 513, 513 },
                                         { 113, 203 }, { 108, 256 }, { 256, 512 }, { 512, 256 },
                                         { 1, 239 },   { 799, 3 },   { 3, 799 },   { 1025, 130 } };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        assert_in_16_bits(lengths[k][0], lengths[k][1], k % 2 ? DTYPE_BF16 : DTYPE_F16);
}

/* Of the course's lengths above 513 a few: computing what is right for them is most of the work. */
TEST(cuda_tensor_cores, agree_with_the_reference_at_1025)
{
    assert_in_16_bits(1025, 1025, DTYPE_F16);
}

TEST(cuda_tensor_cores, agree_with_the_reference_at_2047)
{
    assert_in_16_bits(2047, 2048, DTYPE_BF16);
}

TEST(cuda_complete, agrees_with_the_reference)
{
    assert_backward_at_every_length(on_cuda(CUDA_COMPLETE));
    assert_backward_at_unequal_lengths(on_cuda(CUDA_COMPLETE));
    assert_options(CUDA_COMPLETE, 88);
}

TEST(cuda_complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_EVERYTHING; one *= 2)
        for (unsigned two = 2 * one; two < WITH_EVERYTHING; two *= 2) {
            struct test_problem t = cuda_problem(CUDA_COMPLETE, one + two, 150, one | two);
            assert_backward(on_cuda(CUDA_COMPLETE), &t);
            problem_free(&t);
        }
}
