#include "common/problem/attention.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

/* Words 0 to 3 of Philox for zeros: 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8. */
TEST(dropout, keeps_a_weight_whose_word_reaches_the_threshold)
{
    struct attention p = attention_of(1, 1, 1, 1, 4, 1);
    const struct {
        double P;
        const char *kept;
    } cases[] = {
        { 0.0, "####" },          { 0.5, ".###" },          { 0.7, ".##." },
        { 0.9, "...." },          { 0x6627e8p-24, "####" }, { 0x6627e8.01p-24, ".###" },
        { 0x6627e9p-24, ".###" }, { 0xe169c5p-24, ".#.." }, { 0xe169c6p-24, "...." },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        char kept[5] = "";
        attention_set_dropout(&p, cases[n].P, 0);
        for (size_t j = 0; j < 4; j++)
            kept[j] = dropout_keeps(&p, 0, 0, 0, j) ? '#' : '.';
        cr_assert(strcmp(kept, cases[n].kept) == 0, "P = %.9g: expected %s, got %s", cases[n].P,
                  cases[n].kept, kept);
    }
}

/*
 * The word of query 372860 and key 3 under seed 0 is 0x000000aa: even the smallest dropout drops
 * it.
 */
TEST(dropout, of_any_probability_but_zero_drops_the_smallest_words)
{
    struct attention p = attention_of(1, 1, 1, 400000, 4, 1);
    const double probabilities[] = { 0.0, 1e-300, 0x1p-24, 0x1.01p-24 };
    for (size_t n = 0; n < 4; n++) {
        attention_set_dropout(&p, probabilities[n], 0);
        cr_assert(dropout_keeps(&p, 0, 0, 372860, 3) == (n == 0), "P = %g", probabilities[n]);
    }
}

TEST(dropout, is_counted_by_the_coordinates_and_keyed_by_the_seed)
{
    const double P = 0.3;
    const uint64_t seed = 0xFEDCBA9876543210;
    struct attention p = attention_of(3, 4, 2, 5, 11, 1);
    attention_set_dropout(&p, P, seed);
    size_t wrong = 0;
    for (uint32_t n = 0; n < 3 * 4 * 5 * 11; n++) {
        const uint32_t b = n / 220, h = n / 55 % 4, i = n / 11 % 5, j = n % 11;
        const struct philox counter = { { j / 4, i, h, b } };
        const uint32_t word = philox4x32(counter, seed).word[j % 4];
        const bool kept = floor(word / 256.0) >= ceil(P * 16777216.0);
        wrong += dropout_keeps(&p, b, h, i, j) == kept ? 0 : 1;
    }
    cr_assert(wrong == 0, "%zu of 660 decisions are wrong", wrong);
}

/* Pairs of weights (db, dh, di, dj) apart, under two seeds. */
struct apart {
    const char *what;
    size_t db, dh, di, dj;
    uint64_t seed;
};

/*
 * The numbers of weights and of pairs kept are within five standard deviations. A weight is in two
 * pairs, which at most doubles the variance of their number.
 */
static void check_pairs(double P, const struct apart *apart)
{
    enum { B = 3, H = 4, Nq = 60, Nk = 60, TRIALS = B * H * Nq * Nk };
    struct attention p = attention_of(B + 1, H + 1, 1, Nq + 1, Nk + 5, 1), q = p;
    attention_set_dropout(&p, P, 17);
    attention_set_dropout(&q, P, 17 ^ apart->seed);
    double kept = 0.0, both = 0.0;
    for (size_t n = 0; n < TRIALS; n++) {
        const size_t b = n / (H * Nq * Nk), h = n / (Nq * Nk) % H, i = n / Nk % Nq, j = n % Nk;
        const bool one = dropout_keeps(&p, b, h, i, j);
        const bool other =
            dropout_keeps(&q, b + apart->db, h + apart->dh, i + apart->di, j + apart->dj);
        kept += one ? 1.0 : 0.0;
        both += one && other ? 1.0 : 0.0;
    }
    const double one = 1.0 - P, two = one * one;
    cr_assert(fabs(kept - TRIALS * one) <= 5.0 * sqrt(TRIALS * one * P), "P = %g: %g of %d kept", P,
              kept, TRIALS);
    cr_assert(fabs(both - TRIALS * two) <= 5.0 * sqrt(TRIALS * two * (1.0 - two) * 2.0),
              "P = %g: %g of %d pairs kept, %s", P, both, TRIALS, apart->what);
}

TEST(dropout, keeps_the_right_fraction_and_neighbours_know_nothing_of_each_other)
{
    const struct apart neighbours[] = {
        { "neighbouring keys", 0, 0, 0, 1, 0 },
        { "keys four apart", 0, 0, 0, 4, 0 },
        { "neighbouring queries", 0, 0, 1, 0, 0 },
        { "neighbouring heads", 0, 1, 0, 0, 0 },
        { "neighbouring entries", 1, 0, 0, 0, 0 },
        { "neighbouring seeds", 0, 0, 0, 0, 1 },
        { "seeds that differ in the high half", 0, 0, 0, 0, (uint64_t)1 << 32 },
    };
    const double probabilities[] = { 0.05, 0.25, 0.5, 0.9 };
    for (size_t n = 0; n < 4 * 7; n++)
        check_pairs(probabilities[n % 4], &neighbours[n / 4]);
}
