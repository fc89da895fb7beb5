/*
 * Times by hand: per cycle a multiprocessor copies 50 bytes and computes 4096 FLOP and 16
 * exponentials; one warp has a quarter of the last two, and mma 63 % of the FLOP.
 */
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

void timeline_instrumented(const char *name);
void timeline_cpu(const char *name);

/* A product of 64 x 64 x 16, a box of 64 x 64 halves, n exponentials per lane. */
#define PRODUCT (2.0 * 64 * 64 * 16 / 4096)
#define BOX (8192.0 / 50)
#define EXPONENTIALS(n) (32.0 * (n) / 4)

/* The nth of this unit and warp. */
static struct cuda_work work_of(const char *name, const char *unit, unsigned warp, unsigned nth)
{
    const struct cuda_work *works;
    cuda_cpu_watch(CUDA_WATCH_TIMELINE);
    timeline_instrumented(name);
    cuda_cpu_watch(0);
    const size_t n = cuda_cpu_timeline(&works);
    for (size_t k = 0; k < n; k++)
        if (strcmp(works[k].unit, unit) == 0 && works[k].warp == warp && nth-- == 0)
            return works[k];
    cr_assert(false, "%s: warp %u has no such work of %s", name, warp, unit);
    return (struct cuda_work){ .launch = 0 };
}

static void assert_when(const char *name, const char *unit, unsigned warp, unsigned nth,
                        double begin, double end)
{
    const struct cuda_work w = work_of(name, unit, warp, nth);
    cr_assert(fabs(w.begin - begin) < 1e-6 && fabs(w.end - end) < 1e-6,
              "%s: %s of warp %u from %.6f to %.6f, expected %.6f to %.6f", name, unit, warp,
              w.begin, w.end, begin, end);
}

TEST(timeline, a_product_waits_for_its_box_and_exponentials_for_the_product)
{
    const char *const name = "box_product_exponentials";
    const double all = 4 * EXPONENTIALS(4) / 4;  // four warps, each on its quarter
    assert_when(name, "copies", 0, 0, 0.0, BOX);
    assert_when(name, "tensor cores", 0, 0, BOX, BOX + PRODUCT);
    for (unsigned warp = 0; warp < 4; warp++)
        assert_when(name, "exponentials", warp, 0, BOX + PRODUCT, BOX + PRODUCT + all);
}

TEST(timeline, what_waits_for_nothing_goes_on_beside_a_product)
{
    assert_when("exponentials_beside", "tensor cores", 0, 0, BOX, BOX + PRODUCT);
    assert_when("exponentials_beside", "exponentials", 3, 0, BOX, BOX + EXPONENTIALS(4));
}

TEST(timeline, warpgroups_take_turns_at_the_tensor_cores)
{
    for (unsigned turn = 0; turn < 4; turn++) {
        const double begin = BOX + turn * PRODUCT;
        assert_when("products_in_turn", "tensor cores", turn % 2 * 4, turn / 2, begin,
                    begin + PRODUCT);
    }
}

TEST(timeline, products_of_one_group_are_one_work_and_of_two_are_two)
{
    const struct cuda_work work[] = { work_of("products_in_turn", "tensor cores", 4, 0),
                                      work_of("products_in_turn", "tensor cores", 4, 1),
                                      work_of("one_group", "tensor cores", 0, 0) };
    cr_assert(work[0].line == work[1].line && work[0].run != work[1].run,
              "lines %d and %d, runs %u and %u", work[0].line, work[1].line, work[0].run,
              work[1].run);
    cr_assert(work[0].work == 2.0 * 64 * 64 * 16 && work[2].work == 2 * work[0].work,
              "%.0f and %.0f FLOP", work[0].work, work[2].work);
}

TEST(timeline, a_copy_waits_for_who_still_needs_the_memory)
{
    const double round = BOX + EXPONENTIALS(4);
    assert_when("box_after_arrivals", "copies", 0, 0, 0.0, BOX);
    assert_when("box_after_arrivals", "copies", 0, 1, round, round + BOX);
    assert_when("box_after_arrivals", "exponentials", 2, 0, BOX, 2 * round);
}

TEST(timeline, a_phase_that_is_over_is_not_the_next)
{
    const double asked = BOX + EXPONENTIALS(3) + 0.25;  // lane 0 has computed its fourth
    assert_when("phase_that_is_over", "exponentials", 1, 0, BOX, BOX + EXPONENTIALS(4));
    assert_when("phase_that_is_over", "copies", 0, 1, asked, asked + BOX);
}

TEST(timeline, barriers_let_warps_work_one_after_the_other)
{
    for (unsigned warp = 0; warp < 4; warp++) {
        const double begin = warp * EXPONENTIALS(8), end = begin + EXPONENTIALS(8);
        assert_when("one_warp_after_the_other", "exponentials", warp, 0, begin, end);
        assert_when("by_named_barriers", "exponentials", warp, 0, begin, end);
        assert_when("without_barriers", "exponentials", warp, 0, 0.0, EXPONENTIALS(8));
    }
}

TEST(timeline, warps_of_one_quarter_share_its_unit)
{
    const struct cuda_work first = work_of("shared_quarters", "exponentials", 0, 0);
    const struct cuda_work last = work_of("shared_quarters", "exponentials", 4, 0);
    assert_when("shared_quarters", "exponentials", 1, 0, 0.0, EXPONENTIALS(8));
    cr_assert(fmax(first.end, last.end) == 2 * EXPONENTIALS(8) &&
                  fmin(first.end, last.end) > 1.9 * EXPONENTIALS(8) && last.begin < 1.0,
              "%.2f to %.2f and %.2f to %.2f", first.begin, first.end, last.begin, last.end);
}

TEST(timeline, a_shuffle_waits_for_the_slowest_lane)
{
    // 32 lanes compute four each in 32 cycles, then one lane four more.
    const struct cuda_work w = work_of("lanes_wait", "exponentials", 0, 0);
    cr_assert(w.work == 32 * 8 + 4 && fabs(w.end - 2 * EXPONENTIALS(4) - 1.0) < 0.3,
              "%.0f exponentials until %.2f", w.work, w.end);
}

TEST(timeline, only_the_first_block_is_written_down)
{
    const struct cuda_work *works;
    cuda_cpu_watch(CUDA_WATCH_TIMELINE);
    timeline_instrumented("lanes_wait");  // three blocks of one warp
    cuda_cpu_watch(0);
    const size_t n = cuda_cpu_timeline(&works);
    cr_assert(n == 1 && works[0].launch == 1, "%zu works", n);
}

TEST(timeline, asynchronous_copies_are_waited_for_in_groups)
{
    const double group = 512.0 / 50, product = 2.0 * 16 * 8 * 16 / (0.63 * 1024);
    assert_when("copies_and_products", "copies", 0, 0, 0.0, 2 * group);
    const struct cuda_work w = work_of("copies_and_products", "tensor cores", 0, 0);
    cr_assert(w.begin < 2 * group && w.begin > group && w.work == 2 * 4096.0 &&
                  fabs(w.end - w.begin - 2 * product) < 1e-6,
              "two products from %.2f to %.2f", w.begin, w.end);
    const struct cuda_work e = work_of("copies_and_products", "exponentials", 0, 0);
    cr_assert(fabs(e.begin - fmax(2 * group, w.end)) < 1e-6 && e.work == 32.0,
              "%.0f exponentials from %.2f", e.work, e.begin);
}

TEST(timeline, copies_from_two_arrays_are_two_works)
{
    for (unsigned k = 0; k < 2; k++) {
        const struct cuda_work w = work_of("copies_of_two", "copies", 0, k);
        cr_assert(strcmp(w.what, k ? "out" : "in") == 0 && w.work == 256.0, "%.0f bytes of %s",
                  w.work, w.what);
    }
}

TEST(timeline, sums_in_bulk_are_waited_for)
{
    assert_when("sums", "sums", 0, 0, 0.0, 4096.0 / 50);
    assert_when("sums", "exponentials", 0, 0, 4096.0 / 50, 4096.0 / 50 + 1.0);
}

TEST(timeline, works_have_names_and_places_and_add_up)
{
    const struct cuda_work copy = work_of("box_product_exponentials", "copies", 0, 0);
    cr_assert(strcmp(copy.what, "in") == 0 && strstr(copy.file, "kernels/timeline.cu") &&
                  copy.line > 0 && copy.work == 8192.0 && copy.launch == 1,
              "copy of %s, at %s:%d", copy.what, copy.file, copy.line);
    const struct cuda_work product = work_of("box_product_exponentials", "tensor cores", 0, 0);
    cr_assert(strcmp(product.what, "product") == 0 && product.work == 2.0 * 64 * 64 * 16 &&
                  product.cycles == PRODUCT && strstr(product.file, "kernels/timeline.cu"),
              "product %s of %.0f FLOP", product.what, product.work);
}

TEST(timeline, launches_come_one_after_the_other)
{
    const struct cuda_work *works;
    cuda_cpu_watch(CUDA_WATCH_TIMELINE);
    timeline_instrumented("without_barriers");
    timeline_instrumented("sums");
    cuda_cpu_watch(0);
    timeline_instrumented("sums");  // no longer watched
    timeline_cpu("sums");
    const size_t n = cuda_cpu_timeline(&works);
    cr_assert(n == 6 && works[3].launch == 1 && works[4].launch == 2 &&
                  works[4].begin == EXPONENTIALS(8),
              "%zu works, the fifth from %.2f on", n, n > 4 ? works[4].begin : 0.0);
    cr_assert(cuda_cpu_timeline(&works) == 0, "they are kept");
}
