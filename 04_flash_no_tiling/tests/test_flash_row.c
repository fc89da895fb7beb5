#include "04_flash_no_tiling/flash_row.h"
#include "common/check/reference.h"
#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/problem/attention.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>

enum { N = 60, D = 5, SEED = 11 };

TEST(flash_row, gives_the_worked_numbers)
{
    const float q[1] = { 1 }, K[4] = { 0.1f, 0.3f, 0.5f, 0.7f }, V[4] = { 7, 8, 9, 10 };
    float o[1] = { NAN };
    flash_row(q, K, V, o, 2, 1, 1.0f);
    cr_assert(fabsf(o[0] - 7.5498f) <= 5e-5f, "after two keys: %g, expected 7.5498", (double)o[0]);
    flash_row(q, K + 2, V + 2, o, 2, 1, 1.0f);
    cr_assert(fabsf(o[0] - 9.5498f) <= 5e-5f, "the last two keys: %g, expected 9.5498",
              (double)o[0]);
    flash_row(q, K, V, o, 4, 1, 1.0f);
    cr_assert(fabsf(o[0] - 8.7472f) <= 5e-5f, "all four keys: %g, expected 8.7472", (double)o[0]);
}

TEST(flash_row, is_right_for_the_keys_seen_so_far_after_every_key)
{
    float Q[D], K[N * D], V[N * D];
    struct flash_row row;
    random_normals(Q, D, SEED, 0);
    random_normals(K, N * D, SEED, 1);
    random_normals(V, N * D, SEED, 2);
    flash_row_begin(&row, Q, D);
    for (size_t j = 0; j < N; j++) {
        struct attention p = attention_of(1, 1, 1, 1, j + 1, D);
        struct exact right[D], lse;
        flash_row_update(&row, K + j * D, V + j * D, D, p.scale);
        rounding_forward_row(&p, Q, K, V, 0, 0, 0, right, &lse);
        const struct difference d = difference_between(row.o, right, 1, D);
        cr_assert(is_explained(d), "after key %zu, o[%zu] is %.9g, expected %.9g", j, d.worst,
                  d.got, d.expected);
        const float got = row.m + logf(row.l);
        cr_assert(is_explained(difference_between(&got, &lse, 1, 1)),
                  "after key %zu, m + ln l is %.9g, expected %.9g", j, (double)got, lse.value);
    }
}

TEST(flash_row, of_one_key_or_of_equal_values_is_that_value_exactly)
{
    const float q[1] = { 0.7f }, K[4] = { 3, 3, 3, 3 }, V[4] = { 0.1f, 0.1f, 0.1f, 0.1f };
    float o[1] = { NAN };
    flash_row(q, K, V, o, 1, 1, 1.0f);
    cr_assert(o[0] == 0.1f, "one key: got %.9g, expected 0.1", (double)o[0]);
    flash_row(q, K, V, o, 4, 1, 1.0f);
    cr_assert(fabsf(o[0] - 0.1f) <= 0x1p-26f, "four keys: got %.9g, expected 0.1", (double)o[0]);
}

TEST(flash_row, does_not_overflow_where_scores_are_large)
{
    const float q[1] = { 100 }, K[3] = { 1, -50, 3 }, V[3] = { 1, 2, 3 };
    float o[1] = { NAN };
    flash_row(q, K, V, o, 3, 1, 1.0f);
    cr_assert(o[0] == 3.0f, "got %g, expected 3, the value of the largest score", (double)o[0]);
}

TEST(flash_row, gives_a_score_of_minus_infinity_no_weight_wherever_it_comes)
{
    const float q[1] = { 1 }, K[3] = { -INFINITY, 1, -INFINITY }, V[3] = { 3, 5, 7 };
    float o[1] = { NAN };
    flash_row(q, K, V, o, 3, 1, 1.0f);
    cr_assert(o[0] == 5.0f, "got %g, expected 5", (double)o[0]);
    flash_row(q, K, V, o, 1, 1, 1.0f);
    cr_assert(o[0] == 0.0f, "of nothing but -inf: got %g, expected 0", (double)o[0]);
}

TEST(flash_row, that_sees_no_key_is_zero)
{
    float q[D] = { 1 }, o[D];
    poison_fill(o, D);
    flash_row(q, NULL, NULL, o, 0, D, 1.0f);
    for (size_t c = 0; c < D; c++)
        cr_assert(o[c] == 0.0f, "column %zu is %g", c, (double)o[c]);
}

TEST(flash_row, does_not_depend_on_the_order_of_the_keys)
{
    float q[D], K[N * D], V[N * D], K_back[N * D], V_back[N * D], o[D], back[D];
    random_normals(q, D, SEED, 0);
    random_normals(K, N * D, SEED, 1);
    random_normals(V, N * D, SEED, 2);
    for (size_t j = 0; j < N; j++)
        for (size_t c = 0; c < D; c++) {
            K_back[(N - 1 - j) * D + c] = K[j * D + c];
            V_back[(N - 1 - j) * D + c] = V[j * D + c];
        }
    flash_row(q, K, V, o, N, D, 1.0f);
    flash_row(q, K_back, V_back, back, N, D, 1.0f);
    for (size_t c = 0; c < D; c++)
        cr_assert(fabsf(o[c] - back[c]) <= 2e-6f, "column %zu: %g forwards, %g backwards", c,
                  (double)o[c], (double)back[c]);
}
