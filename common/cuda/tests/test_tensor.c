/*
 * Tensor cores and asynchronous copies against PTX's own tables, by the number i of a lane's
 * element. The emulator is written by register and half, so the same slip is unlikely in both.
 */
#include "common/cuda/tests/tensors.h"

#include "common/cuda/tests/primitives.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { M = 16, N = 8, K = 16, LANES = 32 };

struct place {
    int row, col;
};

static struct place place_in_A(int lane, int i)
{
    const int group = lane >> 2, in_group = lane % 4;
    const struct place p = { (i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8,
                             i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8 };
    return p;
}

static struct place place_in_B(int lane, int i)
{
    const int group = lane >> 2, in_group = lane % 4;
    const struct place p = { i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8, group };
    return p;
}

static struct place place_in_D(int lane, int i)
{
    const int group = lane >> 2, in_group = lane % 4;
    const struct place p = { i < 2 ? group : group + 8, in_group * 2 + (i & 1) };
    return p;
}

/* Exact for small integers. */
static unsigned short bits_of(int number, int bfloat)
{
    const float x = (float)number;
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    if (bfloat || number == 0)
        return (unsigned short)(bits >> 16);
    const unsigned half =
        (bits >> 13) - ((127U - 15U) << 10);  // the exponent's bias is 15, not 127
    return (unsigned short)((half & 0x7fff) | (bits >> 16 & 0x8000));
}

/* Element i of a lane, two per register. */
static void put(unsigned *registers, int of_lane, int lane, int i, unsigned short bits)
{
    unsigned *r = &registers[of_lane * lane + i / 2];
    *r = i % 2 ? (*r & 0xffff) | (unsigned)bits << 16 : (*r & 0xffff0000) | bits;
}

static void put_A(unsigned a[128], int A[M][K], int bfloat)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++) {
            const struct place p = place_in_A(lane, i);
            put(a, 4, lane, i, bits_of(A[p.row][p.col], bfloat));
        }
}

static void put_B(unsigned b[64], int B[K][N], int bfloat)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++) {
            const struct place p = place_in_B(lane, i);
            put(b, 2, lane, i, bits_of(B[p.row][p.col], bfloat));
        }
}

static int small(unsigned seed, unsigned k)
{
    return (int)(philox4x32((struct philox){ { k, 0, 0, 0 } }, seed).word[0] % 17) - 8;
}

/* d += A B for whole numbers, which every order of summing gets exactly. */
static void assert_product(products_runner *run, enum factors factors, int A[M][K], int B[K][N],
                           unsigned seed)
{
    static const char *const names[] = { "f16", "bf16", "f16, k8" };
    const int bfloat = factors == BFLOATS, depth = factors == HALVES_K8 ? 8 : K;
    unsigned a[128], b[64];
    float d[128];
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    put_A(a, A, bfloat);
    put_B(b, B, bfloat);
    for (int k = 0; k < 128; k++)
        d[k] = (float)small(seed + 1, (unsigned)k);
    run(factors, a, b, d, 1);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++) {
            const struct place p = place_in_D(lane, i);
            int sum = small(seed + 1, (unsigned)(4 * lane + i));
            for (int k = 0; k < depth; k++)
                sum += A[p.row][k] * B[k][p.col];
            cr_assert(d[4 * lane + i] == (float)sum,
                      "%s, product %u: lane %d, element %d (row %d, column %d) is %g, expected %d",
                      names[factors], seed, lane, i, p.row, p.col, (double)d[4 * lane + i], sum);
        }
}

void assert_places_of_mma(products_runner *run, enum factors factors)
{
    for (int one = 0; one < M * K + K * N; one++) {
        int A[M][K] = { { 0 } }, B[K][N] = { { 0 } };
        if (one < M * K) {  // one element of A meets a row of different numbers
            A[one / K][one % K] = 1;
            for (int n = 0; n < K * N; n++)
                B[n / N][n % N] = n + 1;
        } else {
            B[(one - M * K) / N][one % N] = 1;
            for (int n = 0; n < M * K; n++)
                A[n / K][n % K] = n % 251 + 1;
        }
        assert_product(run, factors, A, B, (unsigned)one);
    }
}

TEST(tensor, every_element_of_a_and_b_is_where_ptx_has_it)
{
    for (enum factors factors = HALVES; factors < FACTORS; factors++)
        assert_places_of_mma(products_cpu, factors);
}

void assert_products_of_mma(products_runner *run, products_runner *sometimes, enum factors factors)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        int A[M][K], B[K][N];
        for (unsigned n = 0; n < M * K; n++)
            A[n / K][n % K] = small(3 * seed + 100, n);
        for (unsigned n = 0; n < K * N; n++)
            B[n / N][n % N] = small(3 * seed + 101, n);
        assert_product(seed % 10 ? run : sometimes, factors, A, B, seed);
    }
}

TEST(tensor, products_of_whole_numbers_are_exact)
{
    for (enum factors factors = HALVES; factors < FACTORS; factors++)
        assert_products_of_mma(products_cpu, products_instrumented, factors);
}

TEST(tensor, sums_are_rounded_once)
{
    unsigned a[128] = { 0 }, b[64] = { 0 };
    float d[128] = { 0 };
    int A[M][K] = { { 0 } }, B[K][N] = { { 0 } };
    for (int k = 0; k < K; k++)
        A[0][k] = B[k][0] = 1;
    put_A(a, A, 1);
    put_B(b, B, 1);
    d[0] = 0x1p25f;  // where a float's neighbours are 4 apart: 16 ones at a time are not lost
    products_cpu(BFLOATS, a, b, d, 1);
    cr_assert(d[0] == 0x1p25f + 16.0f, "2^25 + 16 is %.9g", (double)d[0]);
}

TEST(tensor, infinity_and_nan_go_through)
{
    unsigned a[128] = { 0 }, b[64] = { 0 };
    float d[128] = { 0 };
    int A[M][K] = { { 1, 0, 0 }, { 1, 1, 0 } }, B[K][N] = { { 0 } };
    put_A(a, A, 1);
    put_B(b, B, 1);
    put(b, 2, 0, 0, 0x7f80);  // B[0][0] is infinite
    put(b, 2, 4, 1, 0x7fc0);  // B[1][1] is NaN
    products_cpu(BFLOATS, a, b, d, 1);
    cr_assert(isinf(d[0]) && isnan(d[4 * 4 + 1]) && isnan(d[4 * 8]), "%g, %g, %g", (double)d[0],
              (double)d[17], (double)d[32]);
}

// ---- ldmatrix -----------------------------------------------------------------------------------

static void assert_load(matrices_runner *run, int count, int trans)
{
    unsigned short x[512];
    unsigned order[32], out[128];
    for (unsigned k = 0; k < 512; k++)
        x[k] = (unsigned short)(k + 1);
    for (unsigned lane = 0; lane < 32; lane++)
        order[lane] = (lane * 21 + 5) % 64;
    memset(out, 0xff, sizeof out);
    run(count, trans, x, order, out);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned m = 0; m < (unsigned)count; m++)
            for (unsigned which = 0; which < 2; which++) {
                const unsigned row = trans ? lane % 4 * 2 + which : lane / 4;
                const unsigned col = trans ? lane / 4 : lane % 4 * 2 + which;
                const unsigned got = out[lane * (unsigned)count + m] >> (16 * which) & 0xffff;
                const unsigned expected = order[8 * m + row] * 8 + col + 1;
                cr_assert(got == expected,
                          "x%d%s: lane %u, register %u, half %u is element %u, expected %u", count,
                          trans ? ".trans" : "", lane, m, which, got, expected);
            }
}

void assert_loads(matrices_runner *run)
{
    for (int count = 1; count <= 4; count *= 2)
        for (int trans = 0; trans < 2; trans++)
            assert_load(run, count, trans);
}

TEST(tensor, ldmatrix_deals_rows_and_columns_as_ptx_says)
{
    assert_loads(matrices_cpu);
    assert_loads(matrices_instrumented);
}

// ---- copies -------------------------------------------------------------------------------------

void assert_copies(async_copies_runner *run)
{
    char in[1024], out[1024];
    for (int k = 0; k < 1024; k++)
        in[k] = (char)(k % 100 + 1);
    for (int bytes = 4; bytes <= 16; bytes *= 2)
        for (int given = 0; given <= bytes; given++) {
            memset(out, 55, sizeof out);
            run(bytes, in, out, given);
            for (int k = 0; k < 64 * bytes; k++)
                cr_assert(out[k] == (k % bytes < given ? in[k] : 0),
                          "%d of %d bytes: byte %d is %d", given, bytes, k, out[k]);
        }
}

TEST(tensor, copies_bring_what_is_given_and_zeros)
{
    assert_copies(async_copies_cpu);
    assert_copies(async_copies_instrumented);
}

TEST(tensor, copies_land_when_they_are_waited_for_and_not_before)
{
    static const int waits[] = { 0, 1, 2, 9 }, landed[] = { 5, 4, 3, 0 };
    float in[20], out[10];
    for (int k = 0; k < 20; k++)
        in[k] = (float)(10 + k);
    for (int n = 0; n < 4; n++) {
        groups_cpu(waits[n], in, out);
        for (int k = 0; k < 5; k++) {
            const float right = k == 3 ? -1.0f : in[4 * k + 1];  // nothing was copied
            const bool there = out[k] == right;
            cr_assert(k < landed[n] || k == 3 ? there : isnan(out[k]),
                      "a wait for all but %d groups: place %d holds %g", waits[n], k,
                      (double)out[k]);
            cr_assert(out[5 + k] == right, "in the end place %d holds %g", k, (double)out[5 + k]);
        }
    }
}

// ---- conversions --------------------------------------------------------------------------------

void assert_conversions(conversions_runner *run, double error)
{
    enum { COUNT = 4096 };
    static float x[COUNT], powers[COUNT], inverses[COUNT];
    static unsigned halves[COUNT], bfloats[COUNT];
    for (unsigned k = 0; k < COUNT; k++)
        x[k] = -160.0f + (float)k * 0.0777f;
    x[0] = -INFINITY;
    x[1] = INFINITY;
    x[2] = 0.0f;
    x[3] = NAN;
    run(x, COUNT, powers, inverses, halves, bfloats);
    cr_assert(powers[0] == 0.0f && powers[1] == INFINITY && powers[2] == 1.0f && isnan(powers[3]),
              "%g, %g, %g, %g", (double)powers[0], (double)powers[1], (double)powers[2],
              (double)powers[3]);
    for (unsigned k = 4; k < COUNT; k++) {
        const double right = exp2((double)x[k]), got = (double)powers[k];
        const bool too_small = x[k] < -126.0f, too_large = x[k] >= 128.0f;
        uint32_t bits;
        uint16_t half, bfloat;
        memcpy(&bits, &x[k], sizeof bits);
        to_halves_cpu(bits, 1, &half);
        to_bfloats_cpu(bits, 1, &bfloat);
        cr_assert(too_small   ? got == 0.0
                  : too_large ? isinf(powers[k])
                              : fabs(got - right) <= error * right,
                  "2^%g is %.9g", (double)x[k], got);
        cr_assert(fabs((double)inverses[k] * (double)x[k] - 1.0) <= error, "1 / %g is %.9g",
                  (double)x[k], (double)inverses[k]);
        cr_assert(halves[k] == (0xc000u << 16 | half) && bfloats[k] == (0xc000u << 16 | bfloat),
                  "(%g, -2) is %08x and %08x", (double)x[k], halves[k], bfloats[k]);
    }
}

TEST(tensor, powers_and_packed_numbers_are_the_nearest)
{
    assert_conversions(conversions_cpu, 0x1p-23);
}
