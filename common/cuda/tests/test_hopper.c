/*
 * Hopper's copies and products against PTX's own tables.
 *
 * The tables are written here as PTX has them, and not as the engine has them: elements go to their place in an image of shared
 * memory by its definition of the canonical layouts, and fragments by the number i of a lane's element.
 */
#include "hoppers.h"

#include "random.h"
#include "test.h"

#include "cuda/cpu.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { M = 64, K = 16, THREADS = 128 };

static int small(unsigned seed, unsigned k)
{
    return (int)(philox4x32((struct philox){ { k, 0, 0, 0 } }, seed).word[0] % 17) - 8;
}

/* A small whole number as 16 bits of either type: exact. */
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

/* Row and column of element i of A, and of D, in a lane of one of four warps: PTX's figures. */
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

/* One of the ways in which matrices may lie, dense or with gaps, at their first k or further on. */
static struct product_test way(unsigned which)
{
    static const int sizes[] = { 64, 128, 256 };
    struct product_test t = { .bfloat = which % 2,
                              .n = sizes[which / 2 % 3],
                              .add = which / 6 % 2 };
    const unsigned kind = which / 12 % 6;
    const bool gaps = which / 72 % 2;
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

TEST(wgmma, products_of_whole_numbers_are_exact_however_the_matrices_lie)
{
    for (unsigned which = 0; which < 144; which++) {
        const struct product_test t = way(which);
        draw(which);
        assert_product(wgmma_cpu, &t, which);
    }
}

TEST(wgmma, every_element_of_a_and_b_is_where_ptx_has_it)
{
    for (unsigned which = 0; which < 72; which += 12)
        for (unsigned one = 0; one < 2;
             one++) {  // distinct numbers meet a unit matrix, on either side
            struct product_test t = way(which + 2);
            for (unsigned n = 0; n < M * K; n++)
                A[n / K][n % K] = one ? (int)(n % 251) - 125 : n / K % K == n % K;
            for (unsigned n = 0; n < K * MOST_N; n++)
                B[n / MOST_N][n % MOST_N] =
                    one ? n / MOST_N == n % MOST_N % K : (int)(n * 7 % 255) - 127;
            t.add = 0;
            assert_product(wgmma_cpu, &t, which);
        }
}

TEST(wgmma, watched_products_are_the_same)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);
    for (unsigned which = 5; which < 144; which += 31) {
        const struct product_test t = way(which);
        draw(which);
        assert_product(wgmma_watched, &t, which);
    }
    cuda_cpu_watch(0);
}

// ---- boxes --------------------------------------------------------------------------------------

enum { MOST_ELEMENTS = 40000, MOST_BYTES = 32768 };

/* What element (x, y, z, w) of the array holds, counted from 1; 0 outside. */
static unsigned number_at(const struct box_test *t, const int64_t at[4])
{
    uint64_t place = 0, step = 1;
    for (unsigned k = 0; k < t->rank; k++) {
        if (at[k] < 0 || at[k] >= (int64_t)t->size[k])
            return 0;
        place += (uint64_t)at[k] * step;
        step *= t->size[k];
    }
    return (unsigned)place + 1;
}

static void assert_box(box_runner *run, const struct box_test *t)
{
    static unsigned short halves[MOST_ELEMENTS];
    static unsigned floats[MOST_ELEMENTS];
    static unsigned char shared[MOST_BYTES];
    for (unsigned k = 0; k < MOST_ELEMENTS; k++)
        halves[k] = (unsigned short)(floats[k] = k + 1);
    run(t, t->floats ? (const void *)floats : (const void *)halves, shared);
    const unsigned bytes = t->floats ? 4 : 2;
    unsigned n = 0;
    for (unsigned w = 0; w < t->box[3]; w++)
        for (unsigned z = 0; z < t->box[2]; z++)
            for (unsigned y = 0; y < t->box[1]; y++)
                for (unsigned x = 0; x < t->box[0]; x++, n++) {
                    const int64_t at[4] = { (int64_t)t->from[0] + x, (int64_t)t->from[1] + y,
                                            (int64_t)t->from[2] + z, (int64_t)t->from[3] + w };
                    const unsigned address = n * bytes;
                    unsigned got = 0;
                    memcpy(&got, shared + (address ^ (address & 0x380) >> 3), bytes);
                    cr_assert(
                        got == number_at(t, at),
                        "%u dimensions, box from (%d, %d, %d, %d): element (%u, %u, %u, %u) is %u, "
                        "expected %u",
                        t->rank, t->from[0], t->from[1], t->from[2], t->from[3], x, y, z, w, got,
                        number_at(t, at));
                }
}

TEST(tma, boxes_lie_swizzled_and_hold_zeros_outside_the_array)
{
    static const int starts[] = { 0, 5, -3, 60, -200, 500 };
    for (unsigned rank = 2; rank <= 4; rank++)
        for (unsigned k = 0; k < 36; k++) {
            struct box_test t = { .floats = k % 2, .rank = rank };
            const unsigned box[4] = { t.floats ? 32 : 64, rank == 2 ? 40 : 12, rank > 2 ? 5 : 1,
                                      rank > 3 ? 3 : 1 };
            const uint64_t size[4] = { 72, 50, rank > 2 ? 3 : 1, rank > 3 ? 3 : 1 };
            memcpy(t.box, box, sizeof box);
            memcpy(t.size, size, sizeof size);
            t.from[0] = starts[k % 6] - (k % 6 == 4 ? 0 : 4 * (int)(k % 2));
            t.from[1] = starts[k / 6];
            t.from[2] = rank > 2 ? (int)(k % 4) - 2 : 0;
            t.from[3] = rank > 3 ? (int)(k % 3) - 1 : 0;
            assert_box(k % 5 ? box_cpu : box_watched, &t);
        }
}

// ---- mbarriers ----------------------------------------------------------------------------------

static void assert_ring(ring_runner *run, unsigned rounds)
{
    static float in[16 * 8 * 32];
    float out[THREADS];
    for (unsigned k = 0; k < rounds * 256; k++)
        in[k] = (float)small(rounds, k);
    run(rounds, in, out);
    for (unsigned thread = 0; thread < THREADS; thread++) {
        float sum = 0.0f;
        for (unsigned row = 0; row < 8 * rounds; row++)
            sum += in[row * 32 + thread % 32];
        cr_assert(out[thread] == sum, "%u rounds: thread %u has %g, expected %g", rounds, thread,
                  (double)out[thread], (double)sum);
    }
}

TEST(mbarrier, a_ring_of_stages_brings_every_box_once)
{
    for (unsigned rounds = 1; rounds <= 16; rounds++)
        assert_ring(ring_cpu, rounds);
    cuda_cpu_all_schedules(true);
    assert_ring(ring_cpu, 11);
    cuda_cpu_all_schedules(false);
    cuda_cpu_watch(CUDA_WATCH_RACES);
    assert_ring(ring_watched, 11);
    cuda_cpu_watch(0);
}

TEST(units, nothing_is_there_before_the_wait)
{
    float in[256], out[4];
    for (int k = 0; k < 256; k++)
        in[k] = (float)(k + 3);
    too_early_cpu(in, out);
    cr_assert(isnan(out[0]) && out[1] == 3.0f, "a box: %g, then %g", (double)out[0],
              (double)out[1]);
    cr_assert(isnan(out[2]) && out[3] == 16.0f, "a product: %g, then %g", (double)out[2],
              (double)out[3]);
}

// ---- the rest -----------------------------------------------------------------------------------

static void assert_bulk(bulk_runner *run)
{
    float out[256];
    memset(out, 0, sizeof out);
    run(out);
    for (int k = 0; k < 256; k++)
        cr_assert(out[k] == 48.0f * (float)(k % 4 + 1), "sum %d is %g", k, (double)out[k]);
}

TEST(bulk, every_sum_is_added_once)
{
    assert_bulk(bulk_cpu);
    cuda_cpu_watch(CUDA_WATCH_RACES);
    assert_bulk(bulk_watched);
    cuda_cpu_watch(0);
}

static void assert_turns(turns_runner *run)
{
    unsigned order[8], elected = 0;
    memset(order, 0xff, sizeof order);
    run(order, &elected);
    for (unsigned k = 0; k < 8; k++)
        cr_assert(order[k] == k % 2, "turn %u was warpgroup %u's", k, order[k]);
    cr_assert(elected == 4, "%u lanes were elected in four warps", elected);
}

TEST(named_barriers, let_two_warpgroups_take_turns)
{
    assert_turns(turns_cpu);
    cuda_cpu_all_schedules(true);
    assert_turns(turns_cpu);
    cuda_cpu_all_schedules(false);
    cuda_cpu_watch(CUDA_WATCH_RACES);
    assert_turns(turns_watched);
    cuda_cpu_watch(0);
}
