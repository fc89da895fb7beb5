#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#define _DARWIN_C_SOURCE
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/tests/forward.h"
#include "common/tests/test.h"

#include <math.h>
#include <sys/mman.h>

enum {
    OPTIONS = WITH_SCALE | WITH_GROUPED_HEADS | WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT |
              WITH_WINDOW | WITH_KEY_MASK | WITH_BLOCK_MASK
};

TEST(flash_no_tiling, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(flash_no_tiling);
}

TEST(flash_no_tiling, agrees_with_the_reference_under_every_option)
{
    assert_forward_with_options(flash_no_tiling, OPTIONS);
}

TEST(flash_no_tiling, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(flash_no_tiling, WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_forward_ignores_unseen_keys(flash_no_tiling, WITH_CAUSAL | WITH_TOP_LEFT | WITH_WINDOW |
                                                            WITH_UNEQUAL_LENGTHS);
}

TEST(flash_no_tiling, keeps_nan_in_a_key_from_the_queries_that_do_not_see_it)
{
    struct attention p = attention_of(1, 1, 1, 6, 6, 4);
    p.causal = true;
    struct test_problem t = problem_of(p, 0, 1);
    float O[24], lse[6];
    t.K[5 * 4] = t.V[5 * 4] = NAN;  // visible to the last query only
    flash_no_tiling(&p, t.Q, t.K, t.V, O, lse);
    for (size_t n = 0; n < 24; n++)
        cr_assert(isnan(O[n]) ? n >= 20 : n < 20, "element %zu is %g", n, (double)O[n]);
    problem_free(&t);
}

TEST(flash_no_tiling, of_a_query_that_sees_no_key_is_zero_with_lse_minus_infinity)
{
    struct attention p = attention_of(1, 1, 1, 5, 2, 3);
    p.causal = true;  // the first three of five queries have no key
    struct test_problem t = problem_of(p, 0, 1);
    float O[15], lse[5];
    poison_fill(O, 15);
    flash_no_tiling(&p, t.Q, t.K, t.V, O, lse);
    for (size_t n = 0; n < 9; n++)
        cr_assert(O[n] == 0.0f && lse[n / 3] == -INFINITY, "row %zu: O %g, lse %g", n / 3,
                  (double)O[n], (double)lse[n / 3]);
    cr_assert(isfinite(lse[3]) && O[9] != 0.0f, "row 3 sees a key: O %g, lse %g", (double)O[9],
              (double)lse[3]);
    problem_free(&t);
}

static void standard_of_all_heads(const struct attention *p, const float *Q, const float *K,
                                  const float *V, float *O, float *lse)
{
    (void)lse;  // standard attention has none
    for (size_t n = 0; n < p->B * p->H; n++) {
        const size_t kv = (n / p->H * p->Hkv + kv_head(p, n % p->H)) * p->Nk * p->d;
        const size_t head = n * p->Nq * p->d;
        standard_attention(Q + head, K + kv, V + kv, O + head, p->Nq, p->Nk, p->d, p->scale);
    }
}

TEST(standard_attention, agrees_with_the_reference)
{
    forward_forms.without_lse = true;
    assert_forward_with_options(standard_of_all_heads,
                                WITH_SCALE | WITH_GROUPED_HEADS | WITH_UNEQUAL_LENGTHS);
}

/*
 * The second head's keys begin at element 2^31. We touch only the first, so few of these 8 GB are
 * ever allocated.
 */
TEST(flash_no_tiling, finds_a_head_that_begins_at_element_2_to_the_31)
{
    struct attention p = attention_of(1, 2, 2, 1, (size_t)1 << 23, 256);
    p.causal = p.top_left = true;
    const size_t first = p.Nk * p.d, bytes = (first + p.d) * sizeof(float);
    float *K = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (K == MAP_FAILED)
        cr_skip_test("no address space of 8 GB here");
    float Q[512], o[256];
    for (size_t k = 0; k < 256; k++) {
        Q[256 + k] = 1.0f;
        K[first + k] = (float)k;
    }
    flash_no_tiling_row(&p, Q, K, K, 0, 1, 0, o, NULL);
    for (size_t k = 0; k < 256; k++)
        cr_assert(o[k] == (float)k, "element %zu is %g, expected %zu", k, (double)o[k], k);
    munmap(K, bytes);
}

TEST(flash_no_tiling, gives_the_output_that_came_with_the_real_input)
{
    assert_forward_of_the_real_input(flash_no_tiling);
}
