/*
 * Products of warpgroups against PTX's own tables, independently of the emulator: canonical layouts
 * in shared memory, fragments by a lane's element i.
 */
#include "common/cuda/tests/hoppers.h"

#include "common/problem/random.h"
#include "common/tests/test.h"

#include "common/cuda/cpu.h"

#include <stdbool.h>
#include <string.h>

enum { M = 64, K = 16, THREADS = 128, SIZES = 7, WAYS = 48 * SIZES };

static int small(unsigned seed, unsigned k)
{
    return (int)(philox4x32((struct philox){ { k, 0, 0, 0 } }, seed).word[0] % 17) - 8;
}

/* Exact for small integers. */
static unsigned short bits_of(int number, int bfloat)
{
    const float x = (float)number;
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    if (bfloat || number == 0)
        return (unsigned short)(bits >> 16);
    return (unsigned short)((((bits & 0x7fffffff) - (112U << 23)) >> 13) | (bits >> 16 & 0x8000));
}

// ---- matrices in shared memory ------------------------------------------------------------------

/*
 * Cute's layouts for 128-byte swizzle, in units of T = 8 elements of 16 bytes (PTX ISA, "canonical layouts"):
 *     K major     ((8, m), (T, 2 k)) : ((8T, stride), (1, T))
 *     MN major    ((T, 8, m), (8, k)) : ((1, T, leading), (8T, stride))
 * and the swizzle <3, 4, 3>: bits 4 to 6 of the address are XORed with bits 7 to 9.
 */
static unsigned place_of(unsigned begin, unsigned leading, unsigned stride, int columns, unsigned m,
                         unsigned k)
{
    enum { T = 8 };
    const unsigned element = columns ? m % T + m / T % 8 * T + m / (8 * T) * (leading / 2) +
                                           k % 8 * 8 * T + k / 8 * (stride / 2)
                                     : m % 8 * 8 * T + m / 8 * (stride / 2) + k;
    const unsigned address = begin + 2 * element;
    return address ^ (address & 0x380) >> 3;
}

static void put(unsigned char *image, unsigned place, unsigned short bits)
{
    cr_assert(place + 2 <= IMAGE, "the test writes at %u", place);
    memcpy(image + place, &bits, sizeof bits);
}

/* By PTX's figures. */
static int row_of_element(int warp, int lane, int i, bool of_A)
{
    const bool upper = of_A ? (i >= 0 && i < 2) || (i >= 4 && i < 6) : i % 4 < 2;
    return 16 * warp + (lane >> 2) + (upper ? 0 : 8);
}

static int column_of_element(int lane, int i, bool of_A)
{
    return of_A ? lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8) : i / 4 * 8 + lane % 4 * 2 + (i & 1);
}

static int A[M][K], B[K][MOST_N];
static unsigned char image[IMAGE];
static unsigned registers[4 * THREADS];
static float d[THREADS * MOST_N / 2];

static void put_matrices(const struct product_test *t)
{
    memset(image, 0xff, sizeof image);
    memset(registers, 0, sizeof registers);
    for (unsigned m = 0; m < M && !t->a_in_registers; m++)
        for (unsigned k = 0; k < K; k++)
            put(image, place_of(t->a_begin, t->a_leading, t->a_stride, t->a_columns, m, k),
                bits_of(A[m][k], t->bfloat));
    for (unsigned n = 0; n < (unsigned)t->n; n++)
        for (unsigned k = 0; k < K; k++)
            put(image, place_of(t->b_begin, t->b_leading, t->b_stride, t->b_columns, n, k),
                bits_of(B[k][n], t->bfloat));
    for (int thread = 0; thread < THREADS && t->a_in_registers; thread++)
        for (int i = 0; i < 8; i++) {
            const int row = row_of_element(thread / 32, thread % 32, i, true);
            const unsigned bits =
                bits_of(A[row][column_of_element(thread % 32, i, true)], t->bfloat);
            registers[4 * thread + i / 2] |= bits << 16 * (i % 2);
        }
}

static void assert_product(wgmma_runner *run, const struct product_test *t, unsigned seed)
{
    const int each = t->n / 2;
    put_matrices(t);
    for (int k = 0; k < THREADS * each; k++)
        d[k] = (float)small(seed + 7, (unsigned)k);
    run(t, image, registers, d);
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < each; i++) {
            const int row = row_of_element(thread / 32, thread % 32, i, false);
            const int col = column_of_element(thread % 32, i, false);
            int sum = t->add ? small(seed + 7, (unsigned)(each * thread + i)) : 0;
            for (int k = 0; k < K; k++)
                sum += A[row][k] * B[k][col];
            cr_assert(
                d[each * thread + i] == (float)sum,
                "%s, N = %d, A %s, B by %s: thread %d, element %d (%d, %d) is %g, expected %d",
                t->bfloat ? "bf16" : "f16", t->n,
                t->a_in_registers ? "in registers"
                : t->a_columns    ? "by columns"
                                  : "by rows",
                t->b_columns ? "columns" : "rows", thread, i, row, col,
                (double)d[each * thread + i], sum);
        }
}

static void draw(unsigned seed)
{
    for (unsigned n = 0; n < M * K; n++)
        A[n / K][n % K] = small(seed, n);
    for (unsigned n = 0; n < K * MOST_N; n++)
        B[n / MOST_N][n % MOST_N] = small(seed + 1, n);
}

/* Dense or with gaps, at the first k or later. */
static struct product_test way(unsigned which)
{
    static const int sizes[] = { 64, 80, 96, 128, 176, 192, 256 };
    struct product_test t = { .bfloat = which % 2,
                              .n = sizes[which / 2 % SIZES],
                              .add = which / (2 * SIZES) % 2 };
    const unsigned kind = which / (4 * SIZES) % 6;
    const bool gaps = which / (24 * SIZES) % 2;
    t.a_in_registers = kind >= 4;
    t.a_columns = kind == 1 || kind == 3;
    t.b_columns = kind == 2 || kind == 3 || kind == 5;
    t.a_stride = t.b_stride = gaps ? 2048 : 1024;
    t.a_leading = 4096;
    t.b_leading = gaps ? 8192 : 2048;
    t.a_begin = 1024 + (t.a_columns ? 2048 : gaps ? 96 : 32);
    t.b_begin = 24 * 1024 + (t.b_columns ? 0 : gaps ? 64 : 0);
    return t;
}

void assert_products(wgmma_runner *run)
{
    for (unsigned which = 0; which < WAYS; which++) {
        const struct product_test t = way(which);
        draw(which);
        assert_product(run, &t, which);
    }
}

TEST(wgmma, products_of_whole_numbers_are_exact_however_the_matrices_lie)
{
    assert_products(wgmma_cpu);
}

void assert_places_of_elements(wgmma_runner *run)
{
    for (unsigned which = 0; which < WAYS / 2; which += 4 * SIZES)
        for (unsigned one = 0; one < 2;
             one++) {  // distinct numbers times a unit matrix, on either side
            struct product_test t = way(which + 2);
            for (unsigned n = 0; n < M * K; n++)
                A[n / K][n % K] = one ? (int)(n % 251) - 125 : n / K % K == n % K;
            for (unsigned n = 0; n < K * MOST_N; n++)
                B[n / MOST_N][n % MOST_N] =
                    one ? n / MOST_N == n % MOST_N % K : (int)(n * 7 % 255) - 127;
            t.add = 0;
            assert_product(run, &t, which);
        }
}

TEST(wgmma, every_element_of_a_and_b_is_where_ptx_has_it)
{
    assert_places_of_elements(wgmma_cpu);
}

TEST(wgmma, instrumented_products_are_the_same)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);
    for (unsigned which = 5; which < WAYS; which += 31) {
        const struct product_test t = way(which);
        draw(which);
        assert_product(wgmma_instrumented, &t, which);
    }
    cuda_cpu_watch(0);
}
