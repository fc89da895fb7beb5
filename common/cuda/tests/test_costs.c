/* Counts and costs of accesses against values by hand. */
#include "common/cuda/cpu.h"
#include "common/measure/traffic.h"
#include "common/tests/test.h"

#include <string.h>

void costs_instrumented(const char *name);

/* Summed over all lines. */
static struct cuda_line profile_of(const char *name, bool shared, bool store)
{
    const struct cuda_line *lines;
    struct cuda_line sum = { .line = 0 };
    cuda_cpu_watch(CUDA_WATCH_PROFILE);
    costs_instrumented(name);
    const size_t n = cuda_cpu_profile(&lines);
    for (size_t k = 0; k < n; k++) {
        cr_assert(strstr(lines[k].file, "kernels/costs.cu") && lines[k].line > 0,
                  "%s: an access at %s:%d", name, lines[k].file, lines[k].line);
        if (lines[k].shared != shared || lines[k].store != store)
            continue;
        sum.accesses += lines[k].accesses;
        sum.requests += lines[k].requests;
        sum.cost += lines[k].cost;
        sum.least += lines[k].least;
    }
    return sum;
}

static void assert_cost(const char *name, bool shared, bool store, struct cuda_line expected)
{
    const struct cuda_line got = profile_of(name, shared, store);
    cr_assert(
        got.accesses == expected.accesses && got.requests == expected.requests &&
            got.cost == expected.cost && got.least == expected.least,
        "%s: %zu accesses in %zu requests cost %zu, at least %zu; expected %zu, %zu, %zu, %zu",
        name, got.accesses, got.requests, got.cost, got.least, expected.accesses, expected.requests,
        expected.cost, expected.least);
}

static struct cuda_line costs(size_t accesses, size_t requests, size_t cost, size_t least)
{
    return (struct cuda_line){
        .accesses = accesses, .requests = requests, .cost = cost, .least = least
    };
}

TEST(costs, a_column_of_a_tile_is_in_one_bank)
{
    assert_cost("columns", true, true, costs(32, 1, 32, 1));
    assert_cost("columns", true, false, costs(32, 1, 32, 1));
}

TEST(costs, padding_spreads_it_over_all_banks)
{
    assert_cost("padded_columns", true, true, costs(32, 1, 1, 1));
    assert_cost("padded_columns", true, false, costs(32, 1, 1, 1));
}

TEST(costs, every_second_bank_twice)
{
    assert_cost("every_second_bank", true, true, costs(32, 1, 2, 1));
}

TEST(costs, one_word_for_all_is_one_word)
{
    assert_cost("all_read_one", true, false, costs(32, 1, 1, 1));
    assert_cost("all_read_one", true, true, costs(1, 1, 1, 1));
}

TEST(costs, vectors_go_by_quarters_of_a_warp)
{
    assert_cost("vectors_in_a_row", true, true, costs(128, 1, 4, 4));
    assert_cost("vectors_in_a_row", true, false, costs(128, 1, 4, 4));
    assert_cost("vectors_in_a_row", false, true, costs(128, 1, 16, 16));
}

TEST(costs, neighbours_in_global_memory_share_sectors)
{
    assert_cost("in_a_row", false, false, costs(32, 1, 4, 4));
    assert_cost("every_eighth", false, false, costs(32, 1, 32, 4));
    assert_cost("every_eighth", false, true, costs(32, 1, 4, 4));
}

TEST(costs, a_copy_is_two_requests_of_two_memories)
{
    assert_cost("copied", false, false, costs(32, 1, 4, 4));
    assert_cost("copied", true, true, costs(32, 1, 1, 1));
}

TEST(costs, elements_are_as_large_as_their_array_says)
{
    assert_cost("pairs_of_halves", false, false, costs(64, 1, 4, 4));
}

static void assert_counted(const char *kernel, const char *array, size_t loads, size_t stores)
{
    traffic_reset();
    cuda_cpu_watch(CUDA_WATCH_TRAFFIC);
    costs_instrumented(kernel);
    const struct traffic t = traffic_of(array);
    cr_assert(t.loads == loads && t.stores == stores, "%s: %zu loads and %zu stores of %s", kernel,
              t.loads, t.stores, array);
}

TEST(counted, are_loads_and_stores_of_named_arrays)
{
    assert_counted("in_a_row", "in", 32, 0);
    assert_counted("in_a_row", "out", 0, 32);
    assert_counted("vectors_in_a_row", "out", 0, 128);
    assert_counted("added", "out", 64, 64);
    assert_counted("pairs_of_halves", "in", 64, 0);
}
