#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

static void known(struct philox counter, uint64_t key, struct philox right)
{
    const struct philox got = philox4x32(counter, key);
    cr_assert(memcmp(&got, &right, sizeof got) == 0,
              "got %08x %08x %08x %08x, expected %08x %08x %08x %08x", got.word[0], got.word[1],
              got.word[2], got.word[3], right.word[0], right.word[1], right.word[2], right.word[3]);
}

TEST(philox, gives_the_known_answers_of_random123)
{
    known((struct philox){ { 0, 0, 0, 0 } }, 0,
          (struct philox){ { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } });
    known((struct philox){ { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX } }, UINT64_MAX,
          (struct philox){ { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } });
    known((struct philox){ { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 } }, 0x299f31d0a4093822,
          (struct philox){ { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } });
}

TEST(random, normal_numbers_are_the_same_on_every_machine)
{
    // Bits of numbers 0 to 3 of seed 1, stream 0, and of a sum: gcc and clang on x86-64, with and
    // without fused multiply-add.
    const uint32_t right[4] = { 0xbff18f56, 0x3d6b6438, 0x3f7f4c93, 0xbe94352e };
    float x[4];
    random_normals(x, 4, 1, 0);
    for (size_t k = 0; k < 4; k++) {
        uint32_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        cr_assert(bits == right[k], "number %zu is %.9g, bits 0x%08x", k, (double)x[k], bits);
    }
    uint32_t sum = 0;
    for (uint64_t k = 0; k < 100000; k++) {
        const float number = (float)random_normal(2, 3, k);
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        sum = sum * 31 + bits;
    }
    cr_assert(sum == 0x6ce02275, "the sum is 0x%08x", sum);
}

/* Mean 0, variance 1, skewness 0, kurtosis 3, and the tail, each to five standard errors. */
TEST(random, normal_numbers_are_normal)
{
    enum { N = 400000 };
    double sum[5] = { 0 };
    size_t tail = 0;
    for (uint64_t k = 0; k < N; k++) {
        const double x = random_normal(5, 1, k);
        tail += fabs(x) > 3.0;
        for (int power = 1; power <= 4; power++)
            sum[power] += pow(x, power) / N;
    }
    cr_assert(fabs(sum[1]) <= 5 * sqrt(1.0 / N), "mean %g", sum[1]);
    cr_assert(fabs(sum[2] - 1) <= 5 * sqrt(2.0 / N), "variance %g", sum[2]);
    cr_assert(fabs(sum[3]) <= 5 * sqrt(15.0 / N), "third moment %g", sum[3]);
    cr_assert(fabs(sum[4] - 3) <= 5 * sqrt(96.0 / N), "fourth moment %g", sum[4]);
    const double expected = 0.0026997961 * N;
    cr_assert(fabs((double)tail - expected) <= 5 * sqrt(expected), "%zu beyond 3, expected %g",
              tail, expected);
}

TEST(random, numbers_of_other_seeds_streams_and_places_are_other_numbers)
{
    const double x = random_normal(1, 0, 0);
    cr_assert(x != random_normal(2, 0, 0), "the seed does not matter");
    cr_assert(x != random_normal(1, 1, 0), "the stream does not matter");
    cr_assert(x != random_normal(1, 0, 1), "the index does not matter");
    cr_assert(x != random_normal(1, 0, (uint64_t)1 << 32), "the index's high half does not matter");
    cr_assert(x != random_normal((uint64_t)1 << 32 | 1, 0, 0),
              "the seed's high half does not matter");
}

TEST(random, uniform_numbers_fill_the_interval_evenly)
{
    enum { N = 100000, BINS = 10 };
    size_t bin[BINS] = { 0 };
    for (uint64_t k = 0; k < N; k++) {
        const double x = random_uniform(9, 2, k);
        cr_assert(x >= 0.0 && x < 1.0, "number %llu is %g", (unsigned long long)k, x);
        bin[(size_t)(x * BINS)]++;
    }
    for (size_t b = 0; b < BINS; b++)
        cr_assert(fabs((double)bin[b] - (double)N / BINS) <= 5 * sqrt(N * 0.09),
                  "bin %zu holds %zu of %d", b, bin[b], N);
}

TEST(random, whole_numbers_reach_both_ends_and_no_further)
{
    size_t low = 0, high = 0;
    for (uint64_t k = 0; k < 1000; k++) {
        const size_t n = random_between(1, 0, k, 3, 7);
        cr_assert(n >= 3 && n <= 7, "got %zu", n);
        low += n == 3;
        high += n == 7;
    }
    cr_assert(low > 100 && high > 100, "3 came %zu times of 1000, 7 came %zu times", low, high);
    cr_assert(random_between(1, 0, 0, 5, 5) == 5, "between 5 and 5 there is only 5");
}
