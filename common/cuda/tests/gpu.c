/*
 * tensor.h and hopper.h on a GPU, against the same tables as on the CPU: finds a wrong instruction
 * before kernels run. `make test-cuda` builds it as build/cuda/tests/instructions.
 */
#include "common/cuda/tests/hoppers.h"
#include "common/cuda/tests/tensors.h"

#include "common/tests/test.h"

#include <stdbool.h>
#include <stdio.h>

/* Criterion cannot skip tests with their own exit codes. */
static bool is_at_least(int capability)
{
    const int is = capability_gpu();
    const bool known = capability == 90 ? is == 90 : is >= capability;
    if (!known)
        printf("skipped: compute capability %d.%d; expected %d.%d%s\n", is / 10, is % 10,
               capability / 10, capability % 10, capability == 90 ? "" : " or more");
    return known;
}

TEST(gpu, mma_has_its_elements_where_ptx_says)
{
    if (!is_at_least(80))
        return;
    for (enum factors factors = HALVES; factors < HALVES_K8; factors++) {
        assert_places_of_mma(products_gpu, factors);
        assert_products_of_mma(products_gpu, products_gpu, factors);
    }
}

TEST(gpu, mma_k8_has_its_elements_where_ptx_says)
{
    if (!is_at_least(75))
        return;
    assert_places_of_mma(products_gpu, HALVES_K8);
    assert_products_of_mma(products_gpu, products_gpu, HALVES_K8);
}

TEST(gpu, ldmatrix_deals_rows_and_columns)
{
    if (is_at_least(75))
        assert_loads(matrices_gpu);
}

TEST(gpu, copies_bring_what_is_given_and_zeros)
{
    if (is_at_least(80))
        assert_copies(async_copies_gpu);
}

/* ex2.approx is off by at most 2 ulp. */
TEST(gpu, powers_are_near_and_packed_numbers_the_nearest)
{
    if (is_at_least(80))
        assert_conversions(conversions_gpu, 0x1p-22);
}

TEST(gpu, wgmma_finds_matrices_however_they_lie)
{
    if (!is_at_least(90))
        return;
    assert_places_of_elements(wgmma_gpu);
    assert_products(wgmma_gpu);
}

TEST(gpu, boxes_lie_swizzled_and_hold_zeros_outside_the_array)
{
    if (is_at_least(90))
        assert_boxes(box_gpu, box_gpu);
}

TEST(gpu, boxes_that_are_stored_or_added_leave_alone_what_is_outside_them)
{
    if (is_at_least(90))
        assert_stored_boxes(stored_box_gpu);
}

TEST(gpu, stmatrix_stores_rows)
{
    if (is_at_least(90))
        assert_stored_matrices(stored_matrices_gpu);
}

TEST(gpu, a_ring_of_stages_brings_every_box_once)
{
    for (unsigned rounds = 1; rounds <= 16 && is_at_least(90); rounds++)
        assert_ring(ring_gpu, rounds);
}

TEST(gpu, every_sum_in_bulk_is_added_once)
{
    if (is_at_least(90))
        assert_bulk(bulk_gpu);
}

TEST(gpu, two_warpgroups_take_turns_with_other_numbers_of_registers)
{
    if (is_at_least(90))
        assert_turns(turns_gpu);
}
