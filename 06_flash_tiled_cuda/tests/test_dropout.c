/*
 * Dropout: which weights, and the range of those kept.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

/* With V = I, O is P and shows which weights are 0. */
static void assert_drops(enum dtype type)
{
    enum { N = 128, ROWS = 2 * 2 * 150 };
    struct attention p = attention_of(2, 2, 2, 150, N, N);
    p.dtype = type;
    attention_set_dropout(&p, 0.4, 11);
    struct test_problem t = problem_of(p, 0, 3);
    for (size_t n = 0; n < attention_key_elements(&p); n++)
        t.V[n] = n / N % N == n % N ? 1.0f : 0.0f;
    float *O = allocate((size_t)ROWS * N, sizeof *O, "O");
    run_on(test_device(), COMPLETE, &t, O, NULL);
    for (size_t n = 0; n < (size_t)ROWS * N; n++) {
        const size_t row = n / N, b = row / 300, h = row / 150 % 2;
        cr_assert((O[n] != 0.0f) == dropout_keeps(&p, b, h, row % 150, n % N),
                  "b %zu, h %zu, i %zu, j %zu: the weight is %g", b, h, row % 150, n % N,
                  (double)O[n]);
    }
    free(O);
    problem_free(&t);
}

TEST(dropout, drops_the_weights_that_the_cpu_drops)
{
    assert_drops(DTYPE_F32);
    assert_drops(DTYPE_BF16);
}

/*
 * Weights of up to 256, few of them kept: times 1/(1 - P) they would be 74 000, and float16 ends at
 * 65 504.
 */
TEST(dropout, has_room_in_float16_for_what_the_others_leave)
{
    enum { Nq = 40, Nk = 600, FIRST = 64 };  // the others have scores 7.8 powers of 2 higher
    struct attention p = attention_of(1, 1, 1, Nq, Nk, 64);
    p.dtype = DTYPE_F16;
    p.scale = 1.0f;
    attention_set_dropout(&p, 0.997, 3);
    struct test_problem t = problem_of(p, 0, 7);
    for (size_t n = 0; n < Nq * p.d; n++)
        t.Q[n] = n % p.d == 0 ? 1.0f : 0.0f;
    for (size_t n = 0; n < Nk * p.d; n++)
        t.K[n] = n % p.d == 0 && n / p.d >= FIRST ? 5.40625f : 0.0f;
    assert_forward(on_device(COMPLETE), &t);
    problem_free(&t);
}

/* A small weight has few bits in float16, and 1/(1 - P) is 1000: not the kernel's error. */
TEST(dropout, is_right_in_float16_where_nearly_all_is_dropped)
{
    for (uint64_t seed = 5; seed < 10; seed++) {
        struct attention p = attention_of(1, 1, 1, 32, 129, 128);
        p.dtype = DTYPE_F16;
        p.scale = 1.0f;
        attention_set_dropout(&p, 0.999, seed);
        struct test_problem t = problem_of(p, 0, seed);
        assert_forward(on_device(COMPLETE), &t);
        problem_free(&t);
    }
}
