/*
 * What tiles alone can do: standard attention with S and P stored, and a product of three matrices.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

TEST(standard, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("standard")));
}

TEST(standard, agrees_with_the_reference_for_every_scale_grouped_heads_and_unequal_lengths)
{
    assert_forward_with_options(in_tiles(named("standard")), WITH_SHAPES);
}

TEST(standard, agrees_with_the_reference_in_random_tiles)
{
    assert_random_tiles(named("standard"));
}

TEST(standard, computes_as_if_there_were_neither_masks_nor_dropout)
{
    assert_lacks(named("standard"));
}

// ---- block_matmul -------------------------------------------------------------------------------

/* In every tile size. */
static void assert_product(const struct test_problem *t)
{
    const struct attention *p = &t->p;
    const size_t n = attention_query_elements(p), of_head = p->Nq * p->d;
    struct exact *right = allocate(n, sizeof *right, "the reference");
    float *O = allocate(n, sizeof *O, "O");
    for (size_t row = 0; row < attention_rows(p); row++)
        rounding_product_row(p, t->Q, t->K, t->V, row / p->Nq / p->H, row / p->Nq % p->H,
                             row % p->Nq, right + row * p->d);
    for (size_t form = 0; form < TILE_FORMS; form++) {
        const struct tile_size size = tiles_of(named("block_matmul"), form, p);
        poison_fill(O, n);
        named("block_matmul")->run(p, size, problem_tensors(t, O, NULL));
        for (size_t head = 0; head < n; head += of_head) {
            const struct difference d = difference_between(O + head, right + head, p->Nq, p->d);
            cr_assert(is_explained(d),
                      "%s --step block_matmul --br %zu --bc %zu: O[%zu] is %.9g, expected %.9g",
                      problem_text(t), size.Br, size.Bc, head + d.worst, d.got, d.expected);
        }
    }
    free(right);
    free(O);
}

TEST(block_matmul, is_the_product_of_the_three_matrices_in_any_tiles)
{
    const size_t shapes[][3] = { { 1, 1, 1 },     { 2, 7, 3 },      { 64, 63, 16 },
                                 { 65, 129, 59 }, { 200, 65, 256 }, { 1, 300, 40 } };
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        const size_t *s = shapes[k];
        struct test_problem t = problem_of(attention_of(1, 2, 2, s[0], s[1], s[2]), 0, k);
        assert_product(&t);
        problem_free(&t);
    }
}

TEST(block_matmul, knows_scale_grouped_heads_and_unequal_lengths)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 50, 50, 20),
                                               random_options(seed, WITH_SHAPES));
        assert_product(&t);
        problem_free(&t);
    }
}
