#include "common/measure/traffic.h"

#include "common/measure/watch.h"
#include "common/tests/test.h"
#include "common/tests/watched.h"

#include <math.h>

static float a[10], b[5];

static void watch_both(void)
{
    traffic_reset();
    traffic_watch("a", a, 10);
    traffic_watch("b", b, 5);
}

static void assert_counts(size_t a_loads, size_t a_stores, size_t b_loads, size_t b_stores)
{
    const struct traffic of_a = traffic_of("a"), of_b = traffic_of("b"), all = traffic_total();
    cr_assert(of_a.loads == a_loads && of_a.stores == a_stores, "a: %zu loads, %zu stores",
              of_a.loads, of_a.stores);
    cr_assert(of_b.loads == b_loads && of_b.stores == b_stores, "b: %zu loads, %zu stores",
              of_b.loads, of_b.stores);
    cr_assert(all.loads == a_loads + b_loads && all.stores == a_stores + b_stores, "all: %zu, %zu",
              all.loads, all.stores);
}

TEST(traffic, counts_loads_and_stores_of_each_array)
{
    if (!CAN_WATCH)
        return;
    watch_both();
    watched_sum(b, a, a + 5, 5);
    assert_counts(10, 0, 0, 5);
    watched_add(a, 1.0f, 3);
    assert_counts(13, 3, 0, 5);
}

TEST(traffic, counts_what_is_copied_and_cleared)
{
    if (!CAN_WATCH)
        return;
    watch_both();
    watched_copy(b, a, 5);
    watched_clear(a, 10);
    assert_counts(5, 10, 0, 5);
    watched_copy_pair((struct watched_pair *)b, (const struct watched_pair *)a);
    assert_counts(7, 10, 0, 7);
}

/* Before, between and after arrays, and in one no longer watched. */
TEST(traffic, counts_no_other_accesses)
{
    if (!CAN_WATCH)
        return;
    static float room[5][8];
    traffic_reset();
    traffic_watch("a", room[1], 8);
    traffic_watch("b", room[3], 8);
    for (int twice = 0; twice < 2; twice++)
        for (size_t n = 0; n < 5; n += 2)
            watched_add(room[n], 1.0f, 8);
    assert_counts(0, 0, 0, 0);
    watched_add(room[1] + 7, 1.0f, 1);
    watched_add(room[3], 1.0f, 1);
    assert_counts(1, 1, 1, 1);
    traffic_watch("a", room[0], 8);
    watched_add(room[1], 1.0f, 8);
    watched_add(room[0], 1.0f, 8);
    assert_counts(9, 9, 1, 1);
    traffic_reset();
    watched_add(room[0], 1.0f, 8);
    cr_assert(traffic_total().loads == 0, "%zu loads of nothing", traffic_total().loads);
}

static size_t asked;

static void ask(const void *at, size_t bytes, bool writes, bool aligned, const void *instruction)
{
    asked += at == b && bytes == 4 && writes && aligned && instruction;
}

TEST(traffic, goes_to_who_asks_for_all_accesses_instead)
{
    if (!CAN_WATCH)
        return;
    watch_both();
    watch_with(ask);
    watched_sum(b, a, a, 1);
    watch_with(NULL);
    cr_assert(asked == 1, "%zu stores", asked);
    assert_counts(0, 0, 0, 0);
    watched_sum(b, a, a, 1);
    assert_counts(2, 0, 0, 1);
}

TEST(traffic, starts_from_zero_after_a_reset)
{
    if (!CAN_WATCH)
        return;
    watch_both();
    watched_load(a);
    watch_both();
    assert_counts(0, 0, 0, 0);
}

TEST(extra, memory_is_counted_at_its_peak)
{
    traffic_reset();
    float *S = extra_slow("S", 100), *tile = extra_fast("tile", 10);
    float *P = extra_slow("P", 50);
    extra_free(S);
    float *more = extra_fast("tile", 5);
    extra_free(tile);
    extra_free(more);
    extra_free(P);
    extra_free(NULL);
    cr_assert(extra_slow_peak() == 600, "slow: %zu bytes, expected 600", extra_slow_peak());
    cr_assert(extra_fast_peak() == 60, "fast: %zu bytes, expected 60", extra_fast_peak());
    traffic_reset();
    cr_assert(extra_slow_peak() == 0 && extra_fast_peak() == 0, "the peaks outlive a reset");
}

TEST(traffic, of_slow_memory_stays_when_the_memory_goes)
{
    if (!CAN_WATCH)
        return;
    watch_both();
    for (int head = 0; head < 3; head++) {
        float *S = extra_slow("S", 20), *tile = extra_fast("tile", 20);
        watched_add(S + 19, 1.0f, 1);
        watched_add(tile, 1.0f, 20);
        extra_free(tile);
        extra_free(S);
    }
    cr_assert(traffic_of("S").stores == 3 && traffic_of("S").loads == 3, "S: %zu loads, %zu stores",
              traffic_of("S").loads, traffic_of("S").stores);
    cr_assert(traffic_total().loads == 3, "fast memory is counted");
}

TEST(extra, fast_memory_starts_as_nan_so_that_what_was_never_written_shows)
{
    float *tile = extra_fast("tile", 33);
    for (size_t j = 0; j < 33; j++)
        cr_assert(isnan(tile[j]), "element %zu is %g", j, (double)tile[j]);
    extra_free(tile);
}
