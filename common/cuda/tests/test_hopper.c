/* Hopper's units except products (test_wgmma.c). */
#include "common/cuda/tests/hoppers.h"

#include "common/problem/random.h"
#include "common/tests/test.h"

#include "common/cuda/cpu.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { THREADS = 128 };

static int small(unsigned seed, unsigned k)
{
    return (int)(philox4x32((struct philox){ { k, 0, 0, 0 } }, seed).word[0] % 17) - 8;
}

// ---- boxes --------------------------------------------------------------------------------------

enum { MOST_ELEMENTS = 40000, MOST_BYTES = 32768 };

/* Counted from 1; 0 outside. */
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

void assert_boxes(box_runner *run, box_runner *sometimes)
{
    static const int starts[] = { 0, 5, -3, 60, -200, 500 }, rows[] = { 0, 8, -8, 56, -200, 496 };
    for (unsigned rank = 2; rank <= 4; rank++)
        for (unsigned k = 0; k < 36; k++) {
            struct box_test t = { .floats = k % 2, .rank = rank };
            const unsigned box[4] = { t.floats ? 32 : 64, rank == 2 ? 40 : 12, rank > 2 ? 5 : 1,
                                      rank > 3 ? 3 : 1 };
            const uint64_t size[4] = { 72, 50, rank > 2 ? 3 : 1, rank > 3 ? 3 : 1 };
            memcpy(t.box, box, sizeof box);
            memcpy(t.size, size, sizeof size);
            t.from[0] = rows[k % 6] + (t.floats ? 4 : 0);  // a multiple of 16 bytes
            t.from[1] = starts[k / 6];
            t.from[2] = rank > 2 ? (int)(k % 4) - 2 : 0;
            t.from[3] = rank > 3 ? (int)(k % 3) - 1 : 0;
            assert_box(k % 5 ? run : sometimes, &t);
        }
}

TEST(tma, boxes_lie_swizzled_and_hold_zeros_outside_the_array)
{
    assert_boxes(box_cpu, box_instrumented);
}

static void assert_array(const struct box_test *t, const void *array, const unsigned *expected)
{
    const float *const floats = array;
    const unsigned short *const halves = array;
    for (unsigned k = 0; k < t->size[0] * t->size[1] * t->size[2]; k++) {
        const unsigned got = t->floats ? (unsigned)floats[k] : halves[k];
        cr_assert(got == expected[k], "a box to (%d, %d, %d): element %u is %u, expected %u",
                  t->from[0], t->from[1], t->from[2], k, got, expected[k]);
    }
}

/* Elements inside hold their number in the box, others BEFORE; floats twice their number more. */
static void assert_stored_box(stored_box_runner *run, const struct box_test *t)
{
    enum { BEFORE = 7 };
    static unsigned char shared[MOST_BYTES];
    static unsigned short halves[MOST_ELEMENTS];
    static unsigned expected[MOST_ELEMENTS];
    static float floats[MOST_ELEMENTS];
    for (unsigned k = 0; k < MOST_ELEMENTS; k++)
        floats[k] = (float)(expected[k] = halves[k] = BEFORE);
    const unsigned bytes = t->floats ? 4 : 2;
    unsigned short n = 0;
    for (unsigned z = 0; z < t->box[2]; z++)
        for (unsigned y = 0; y < t->box[1]; y++)
            for (unsigned x = 0; x < t->box[0]; x++) {
                const int64_t at[4] = { (int64_t)t->from[0] + x, (int64_t)t->from[1] + y,
                                        (int64_t)t->from[2] + z, 0 };
                const unsigned address = bytes * n++, place = number_at(t, at);
                const float number = n;
                memcpy(shared + (address ^ (address & 0x380) >> 3),
                       t->floats ? (const void *)&number : &n, bytes);
                if (place > 0)
                    expected[place - 1] = t->floats ? BEFORE + 2U * n : n;
            }
    run(t, shared, t->floats ? (void *)floats : halves);
    assert_array(t, t->floats ? (const void *)floats : halves, expected);
}

void assert_stored_boxes(stored_box_runner *run)
{
    static const int starts[] = { 0, 5, -3, 45, -200 }, rows[] = { 0, 8, -8, 56, 496 };
    for (unsigned n = 0; n < 50; n++) {
        const unsigned k = n / 2;
        const struct box_test t = {
            .floats = n % 2,
            .rank = 3,
            .box = { n % 2 ? 32 : 64, 12, k % 2 + 1, 1 },
            .size = { 72, 50, 3, 1 },
            .from = { rows[k % 5], starts[k / 5], (int)(k % 4) - 1, 0 },
        };
        assert_stored_box(run, &t);
    }
}

TEST(tma, boxes_that_are_stored_or_added_leave_alone_what_is_outside_them)
{
    assert_stored_boxes(stored_box_cpu);
    cuda_cpu_watch(CUDA_WATCH_RACES);
    assert_stored_boxes(stored_box_instrumented);
    cuda_cpu_watch(0);
}

// ---- stmatrix -----------------------------------------------------------------------------------

void assert_stored_matrices(stored_matrices_runner *run)
{
    for (int count = 1; count <= 4; count *= 2) {
        unsigned order[32];
        unsigned short out[512], expected[512] = { 0 };
        for (unsigned lane = 0; lane < 32; lane++)
            order[lane] = (lane * 21 + 5) % 64;
        for (unsigned row = 0; row < 8 * (unsigned)count; row++)
            for (unsigned column = 0; column < 8; column++)
                expected[order[row] * 8 + column] =
                    (unsigned short)(8 * (row % 8 * 4 + column / 2) + 2 * (row / 8) + column % 2 +
                                     1);
        run(count, order, out);
        for (unsigned k = 0; k < 512; k++)
            cr_assert(out[k] == expected[k], "x%d: half %u of row %u is %u, expected %u", count,
                      k % 8, k / 8, out[k], expected[k]);
    }
}

TEST(stmatrix, stores_rows_as_ptx_says)
{
    assert_stored_matrices(stored_matrices_cpu);
    cuda_cpu_watch(CUDA_WATCH_RACES);
    assert_stored_matrices(stored_matrices_instrumented);
    cuda_cpu_watch(0);
}

// ---- mbarriers ----------------------------------------------------------------------------------

void assert_ring(ring_runner *run, unsigned rounds)
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
    assert_ring(ring_instrumented, 11);
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

void assert_bulk(bulk_runner *run)
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
    assert_bulk(bulk_instrumented);
    cuda_cpu_watch(0);
}

void assert_turns(turns_runner *run)
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
    assert_turns(turns_instrumented);
    cuda_cpu_watch(0);
}
