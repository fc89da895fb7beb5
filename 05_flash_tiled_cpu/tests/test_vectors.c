/*
 * The pieces that the steps are made of, for as many lanes as they have here. (The Makefile compiles
 * this file as it does them.)
 */
#include "05_flash_tiled_cpu/fast/exp2.h"
#include "05_flash_tiled_cpu/fast/score.h"
#include "05_flash_tiled_cpu/fast/transpose.h"
#include "05_flash_tiled_cpu/fast/vec_philox.h"
#include "05_flash_tiled_cpu/fast/visibility.h"
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/tests/test.h"

#include <math.h>

TEST(exp2, is_right_to_a_few_units_and_exactly_zero_where_it_should_be)
{
    double worst = 0.0;
    for (int k = 0; k < 1000000; k++) {
        const float x = -126.0f + 142.0f * (float)k / 1e6f;
        const double right = exp2((double)x), off = fabs((double)exp2_of(x) - right) / right;
        worst = off > worst ? off : worst;
    }
    cr_assert(worst < 2.5e-7, "off by %.2e of it", worst);
    const float zeros[] = { -INFINITY, -127.0f, -150.0f, -1e30f };
    for (int k = 0; k < 4; k++)
        cr_assert(exp2_of(zeros[k]) == 0.0f, "2^%g is %g", (double)zeros[k],
                  (double)exp2_of(zeros[k]));
    cr_assert(exp2_of(0.0f) == 1.0f && exp2_of(-126.0f) == 0x1p-126f, "2^0 is %g",
              (double)exp2_of(0.0f));
    for (int k = 0; k < 1024; k++) {
        const float x = -127.0f + 0x1p-10f * (float)k;
        const double right = x <= -126.5f ? 0.0 : exp2((double)x);
        cr_assert(fabs((double)exp2_of(x) - right) <= 2.5e-7 * right + 0x1p-149, "2^%.9g is %g",
                  (double)x, (double)exp2_of(x));
    }
    const float nans[] = { NAN, -NAN, nanf("1"), nanf("0x3fffff") };
    for (int k = 0; k < 4; k++)
        cr_assert(isnan(exp2_of(nans[k])), "2^NaN is %g", (double)exp2_of(nans[k]));
}

TEST(exp2, of_vectors_is_that_of_numbers)
{
    for (int k = 0; k < 10000; k++) {
        vec x;
        for (int lane = 0; lane < LANES; lane++)
            x[lane] = -140.0f + 0.0149f * (float)(k + lane);
        x[k % LANES] = k % 2 ? -INFINITY : nanf("0x3fffff");
        const vec y = vec_exp2(x);
        for (int lane = 0; lane < LANES; lane++)
            cr_assert(isnan(x[lane])
                          ? isnan(y[lane])
                          : fabsf(y[lane] - exp2_of(x[lane])) <= 2e-7f * y[lane] + 0x1p-147f,
                      "2^%.9g is %.9g in lane %d", (double)x[lane], (double)y[lane], lane);
    }
}

TEST(transpose, puts_every_element_across_the_diagonal)
{
    vec row[LANES];
    for (int r = 0; r < LANES; r++)
        for (int lane = 0; lane < LANES; lane++)
            row[r][lane] = (float)(100 * r + lane);
    transpose(row);
    for (int r = 0; r < LANES; r++)
        for (int lane = 0; lane < LANES; lane++)
            cr_assert(row[r][lane] == (float)(100 * lane + r), "row %d, lane %d is %g", r, lane,
                      (double)row[r][lane]);
}

TEST(philox, in_lanes_is_philox_in_each_lane)
{
    for (uint32_t k = 0; k < 200; k++) {
        struct vec_counter counter;
        for (int w = 0; w < 4; w++)
            for (int lane = 0; lane < LANES; lane++)
                counter.word[w][lane] = 0x9E3779B9U * (k + 1) * (uint32_t)(w + 7 * lane + 1);
        const struct vec_counter got = vec_philox(counter, 0x0123456789ABCDEF + k);
        for (int lane = 0; lane < LANES; lane++) {
            struct philox one;
            for (int w = 0; w < 4; w++)
                one.word[w] = counter.word[w][lane];
            const struct philox right = philox4x32(one, 0x0123456789ABCDEF + k);
            for (int w = 0; w < 4; w++)
                cr_assert(got.word[w][lane] == right.word[w], "lane %d, word %d", lane, w);
        }
    }
}

static void assert_score(const struct attention *p, float dot, float got, float right,
                         const char *what)
{
    cr_assert(isnan(right) ? isnan(got) : fabsf(got - right) <= 4e-7f * fabsf(right) + 0x1p-126f,
              "the %s of %.9g under --softcap %g --scale %g is %.9g, expected %.9g", what,
              (double)dot, (double)p->softcap, (double)p->scale, (double)got, (double)right);
}

TEST(score, of_vectors_is_that_of_numbers)
{
    static const float caps[] = { 0.5f, 30.0f, 1e6f };
    for (int k = 0; k < 30000; k++) {
        struct attention p = attention_of(1, 1, 1, 1, 1, 1);
        const ivec zero = { 0 };
        vec dot;
        p.softcap = caps[k % 3];
        p.scale = k % 2 ? -0.125f : 1.0f;
        for (int lane = 0; lane < LANES; lane++)
            dot[lane] = ldexpf((float)(k % 97 - 48) + 0.1f * (float)lane, k / 97 % 40 - 30);
        dot[k % LANES] = k % 5 == 0 ? INFINITY : k % 5 == 1 ? -INFINITY : NAN;
        const struct vec_score got = vec_score(&p, 0, 0, zero, zero, dot);
        const struct vec_score right = vec_score_by_lanes(&p, 0, 0, zero, zero, dot);
        for (int lane = 0; lane < LANES; lane++)
            assert_score(&p, dot[lane], got.x[lane], right.x[lane], "score");
        for (int lane = 0; lane < LANES; lane++)  // 1 - t^2 has no more digits than t^2
            cr_assert(isnan(right.slope[lane])
                          ? isnan(got.slope[lane])
                          : fabsf(got.slope[lane] - right.slope[lane]) <= 4e-7f,
                      "the slope at %.9g is %.9g, expected %.9g", (double)dot[lane],
                      (double)got.slope[lane], (double)right.slope[lane]);
    }
}

TEST(seen, is_visible_for_every_lane_and_key)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 2, 2, 70, 70, 2),
                                               random_options(seed, WITH_MASKS));
        const struct attention *p = &t.p;
        struct group g = group_new(p->d);
        visibility_row *seen = visibility_new(p->Nk);
        for (size_t n = 0; n < p->B * p->H; n++) {
            const struct head a = head_of(p, n, problem_tensors(&t, NULL, NULL));
            const size_t i0 = random_between(seed, 99, n, 0, p->Nq - 1);
            const size_t rows = min(GROUP, p->Nq - i0), j0 = i0 % p->Nk;
            group_begin(&g, &a, i0, rows);
            visibility_fill(seen, &g, &a, j0, p->Nk - j0);
            for (size_t j = j0; j < p->Nk; j++)
                for (size_t i = i0; i < i0 + rows; i++) {
                    const int32_t got = seen[j - j0][(i - i0) / LANES][(i - i0) % LANES];
                    cr_assert(got == (visible(p, a.b, a.h, i, j) ? -1 : 0),
                              "%s: query %zu, key %zu: %d", problem_text(&t), i, j, got);
                }
        }
        extra_free((float *)seen);
        group_free(&g);
        problem_free(&t);
    }
}
