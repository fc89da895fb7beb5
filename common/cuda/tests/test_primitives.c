/* Primitives against their definitions, in blocks of one to three warps. */
#include "common/cuda/tests/primitives.h"

#include "common/cuda/cpu.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>

enum { MOST = 96 };

/* The lane that lane k reads. */
static int source(enum primitive which, int k, int by, int width)
{
    const int begin = k / width * width, end = begin + width;
    switch (which) {
    case SHFL:
        return begin + by % width;
    case SHFL_UP:
        return k - by >= begin ? k - by : k;
    case SHFL_DOWN:
        return k + by < end ? k + by : k;
    default:
        return (k ^ by) < end ? k ^ by : k;
    }
}

static void draw(unsigned *x, unsigned n, unsigned seed)
{
    for (unsigned k = 0; k < n; k++)
        x[k] = philox4x32((struct philox){ { k, 0, 0, 0 } }, seed).word[0];
}

static void assert_shuffles(primitive_runner *run)
{
    static const int widths[] = { 1, 2, 4, 8, 16, 32 };
    unsigned in[MOST], out[MOST];
    draw(in, MOST, 1);
    for (enum primitive which = SHFL; which <= SHFL_XOR; which++)
        for (int w = 0; w < 6; w++)
            for (int by = 0; by < (which == SHFL || which == SHFL_XOR ? 32 : 33); by++) {
                run(which, in, out, MOST, by, widths[w], 0xffffffff);
                for (int k = 0; k < MOST; k++) {
                    const int from = k / 32 * 32 + source(which, k % 32, by, widths[w]);
                    cr_assert(out[k] == in[from],
                              "shuffle %d by %d, width %d: thread %d has not what %d brought",
                              (int)which, by, widths[w], k, from);
                }
            }
}

TEST(primitives, shuffles_read_the_lane_that_they_name)
{
    assert_shuffles(primitive_cpu);
}

TEST(primitives, shuffles_do_so_when_instrumented)
{
    assert_shuffles(primitive_instrumented);
}

/* The result for lane `me`, in a warp that starts at in[0]. */
static unsigned together(enum primitive which, const unsigned *in, unsigned mask, unsigned me)
{
    unsigned ballot = 0, same = 0, sum = 0, least = ~0u, most = 0, all = ~0u, any = 0, parity = 0;
    int lowest = 0x7fffffff, highest = -lowest - 1;
    for (unsigned k = 0; k < 32; k++) {
        if (!(mask >> k & 1))
            continue;
        const int number = (int)in[k];
        ballot |= (unsigned)(in[k] != 0) << k;
        same |= (unsigned)(in[k] == in[me]) << k;
        sum += in[k];
        least = in[k] < least ? in[k] : least;
        most = in[k] > most ? in[k] : most;
        lowest = number < lowest ? number : lowest;
        highest = number > highest ? number : highest;
        all &= in[k];
        any |= in[k];
        parity ^= in[k];
    }
    const unsigned results[] = {
        [VOTE_ALL] = ballot == mask,
        [VOTE_ANY] = ballot != 0,
        [BALLOT] = ballot,
        [MATCH_ANY] = same,
        [REDUCE_ADD] = sum,
        [REDUCE_MIN] = least,
        [REDUCE_MAX] = most,
        [REDUCE_MIN_SIGNED] = (unsigned)lowest,
        [REDUCE_MAX_SIGNED] = (unsigned)highest,
        [REDUCE_AND] = all,
        [REDUCE_OR] = any,
        [REDUCE_XOR] = parity,
    };
    return results[which];
}

TEST(primitives, votes_and_reductions_are_those_of_the_lanes_in_the_mask)
{
    static const unsigned masks[] = { 0xffffffff, 0x0000ffff, 0x80000001, 0x55555555, 0x00000010 };
    unsigned in[MOST], out[MOST];
    for (enum primitive which = VOTE_ALL; which <= REDUCE_XOR; which++)
        for (unsigned n = 0; n < 30; n++) {
            const unsigned mask = masks[n % 5];
            draw(in, MOST, n);
            for (int k = 0; k < MOST; k++) {
                in[k] &= n < 10 ? 1 : n < 20 ? 0xffff0003 : 0xffffffff;
                out[k] = 12345;
            }
            primitive_cpu(which, in, out, MOST, 0, 32, mask);
            for (unsigned k = 0; k < MOST; k++) {
                const bool inside = mask >> k % 32 & 1;
                const unsigned expected =
                    inside ? together(which, in + k / 32 * 32, mask, k % 32) : 12345;
                cr_assert(out[k] == expected,
                          "operation %d, mask %08x: thread %u has %u, expected %u", (int)which,
                          mask, k, out[k], expected);
            }
        }
}

TEST(primitives, barriers_count_true_values)
{
    unsigned in[MOST], out[MOST];
    for (unsigned n = 0; n < 40; n++) {
        draw(in, MOST, n);
        unsigned count = 0;
        for (int k = 0; k < MOST; k++) {
            in[k] = n == 0 ? 0 : n == 1 ? 7 : in[k] & 1;
            count += in[k] != 0;
        }
        const unsigned expected[] = { count, count == MOST, count > 0 };
        for (int which = BARRIER_COUNT; which <= BARRIER_OR; which++) {
            primitive_cpu((enum primitive)which, in, out, MOST, 0, 32, 0xffffffff);
            for (int k = 0; k < MOST; k++)
                cr_assert(out[k] == expected[which - BARRIER_COUNT], "thread %d has %u", k, out[k]);
        }
    }
}

TEST(primitives, every_thread_has_its_own_place_in_the_grid)
{
    static unsigned out[COORDINATES];
    const unsigned *at = out;
    coordinates_cpu(out);
    for (unsigned bz = 0; bz < 4; bz++)
        for (unsigned by = 0; by < 3; by++)
            for (unsigned bx = 0; bx < 2; bx++)
                for (unsigned t = 0; t < 5 * 6 * 7; t++, at += 6)
                    cr_assert(at[0] == t % 5 && at[1] == t / 5 % 6 && at[2] == t / 30 &&
                                  at[3] == bx && at[4] == by && at[5] == bz,
                              "thread (%u,%u,%u) of block (%u,%u,%u) is not in its place", at[0],
                              at[1], at[2], at[3], at[4], at[5]);
}

static void assert_atomics(void (*run)(double out[12]))
{
    double out[12];
    int swapped = 0, parity = 0;
    for (int k = 0; k < 1024; k++) {
        swapped = (swapped * 3 + 1) & 0xffff;
        parity ^= k;
    }
    run(out);
    const double expected[12] = {
        1023 * 512,          -1023, 1023, ~127, 127, parity, 1, swapped, 4294967296.0 - 2048,
        1024 * 8589934592.0, 512,   256,
    };
    for (int k = 0; k < 12; k++)
        cr_assert(out[k] == expected[k] || (k == 6 && (out[k] == 1 || out[k] == 11)),
                  "result %d is %.0f, expected %.0f", k, out[k], expected[k]);
}

TEST(primitives, atomics_lose_nothing_on_many_cores)
{
    cuda_cpu_threads(4);
    for (int run = 0; run < 20; run++)
        assert_atomics(atomics_cpu);
}

TEST(primitives, arithmetic_is_what_its_name_says)
{
    float out[FUNCTIONS];
    const float x = 3.7f, y = -2.5f;
    arithmetic_cpu(x, y, out);
    const double a = (double)x, b = (double)y;
    const double expected[FUNCTIONS] = {
        exp(a), exp2(a), log(a), log2(a), 1 / sqrt(a), a * b + 1, a, b, b, a, 3,
    };
    for (int k = 0; k < FUNCTIONS; k++)
        cr_assert(fabs((double)out[k] - expected[k]) <= 2e-7 * fabs(expected[k]),
                  "function %d gives %.9g, expected %.9g", k, (double)out[k], expected[k]);
}
