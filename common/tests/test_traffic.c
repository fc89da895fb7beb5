/*
 * The access counter: each access is counted, at its array, and no other.
 */
#define COUNT_TRAFFIC
#include "common/measure/traffic.h"

#include "common/tests/test.h"

#include <math.h>
#include <signal.h>

static float a[10], b[5];

static void watch_both(void)
{
    traffic_reset();
    traffic_watch("a", a, 10);
    traffic_watch("b", b, 5);
}

TEST(traffic, counts_loads_and_stores_of_each_array)
{
    watch_both();
    for (size_t j = 0; j < 5; j++)
        store(&b[j], load(&a[j]) + load(&a[9 - j]));
    store(&a[0], load(&a[0]) + 1.0f);
    cr_assert(traffic_of("a").loads == 11 && traffic_of("a").stores == 1,
              "a: %zu loads, %zu stores", traffic_of("a").loads, traffic_of("a").stores);
    cr_assert(traffic_of("b").loads == 0 && traffic_of("b").stores == 5, "b: %zu loads, %zu stores",
              traffic_of("b").loads, traffic_of("b").stores);
    cr_assert(traffic_total().loads == 11 && traffic_total().stores == 6, "all: %zu, %zu",
              traffic_total().loads, traffic_total().stores);
}

TEST(traffic, reads_and_writes_what_it_counts)
{
    watch_both();
    store(&a[3], 7.5f);
    cr_assert(a[3] == 7.5f && load(&a[3]) == 7.5f, "stored 7.5, found %g", (double)a[3]);
}

TEST(traffic, starts_from_zero_after_a_reset)
{
    watch_both();
    load(&a[0]);
    watch_both();
    cr_assert(traffic_total().loads == 0, "%zu loads are left", traffic_total().loads);
}

Test(traffic, ends_the_program_on_an_access_to_an_array_that_nobody_watches, .signal = SIGABRT,
     .timeout = TEST_SECONDS)
{
    float other = 0.0f;
    watch_both();
    load(&other);
}

Test(traffic, ends_the_program_where_arrays_overlap, .signal = SIGABRT, .timeout = TEST_SECONDS)
{
    watch_both();
    traffic_watch("c", a + 9, 1);
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

TEST(extra, slow_memory_is_instrumented_and_keeps_its_counts_when_it_goes)
{
    watch_both();
    for (int head = 0; head < 3; head++) {
        float *S = extra_slow("S", 20);
        store(&S[19], 1.0f);
        load(&S[19]);
        extra_free(S);
    }
    cr_assert(traffic_of("S").stores == 3 && traffic_of("S").loads == 3, "S: %zu loads, %zu stores",
              traffic_of("S").loads, traffic_of("S").stores);
}

Test(extra, fast_memory_is_not_counted_so_load_refuses_it, .signal = SIGABRT,
     .timeout = TEST_SECONDS)
{
    watch_both();
    load(extra_fast("tile", 1));
}

TEST(extra, fast_memory_starts_as_nan_so_that_what_was_never_written_shows)
{
    float *tile = extra_fast("tile", 33);
    for (size_t j = 0; j < 33; j++)
        cr_assert(isnan(tile[j]), "element %zu is %g", j, (double)tile[j]);
    extra_free(tile);
}
