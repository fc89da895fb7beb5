/*
 * Counter, formula and machine agree, array by array, for the two forms of attention and fusion.
 */
#include "common/tests/witness.h"

#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/flash_row.h"
#include "04_flash_no_tiling/fusion.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/cpu/memory.h"
#include "common/measure/traffic.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

/* What the formula says of one array, held against what was counted and what the machine did. */
static void assert_array(const char *array, size_t loads, size_t stores, struct traffic counted,
                         const char *problem)
{
    const struct witnessed saw = witness_of(array);
    cr_assert(counted.loads == loads && counted.stores == stores,
              "%s: the formula gives %zu loads and %zu stores of %s, counted were %zu and %zu",
              problem, loads, stores, array, counted.loads, counted.stores);
    cr_assert(saw.loads == loads && saw.stores == stores,
              "%s: counted were %zu loads and %zu stores of %s, the machine made %zu and %zu",
              problem, loads, stores, array, saw.loads, saw.stores);
}

static void watch(const struct test_problem *t, const float *O, const float *lse)
{
    traffic_reset();
    traffic_watch("Q", t->Q, attention_query_elements(&t->p));
    traffic_watch("K", t->K, attention_key_elements(&t->p));
    traffic_watch("V", t->V, attention_key_elements(&t->p));
    traffic_watch("O", O, attention_query_elements(&t->p));
    traffic_watch("lse", lse, attention_rows(&t->p));
}

TEST(witness, one_pass_makes_the_accesses_of_its_formula)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(2, 4, 4, 20, 20, 9),
                           random_options(seed, WITH_EVERYTHING & ~WITH_DROPOUT));
        const size_t n = attention_query_elements(&t.p), rows = attention_rows(&t.p);
        const char *problem = problem_text(&t);
        size_t pairs = 0;
        for (size_t row = 0; row < rows; row++)
            for (size_t j = 0; j < t.p.Nk; j++)
                pairs += visible(&t.p, row / t.p.Nq / t.p.H, row / t.p.Nq % t.p.H, row % t.p.Nq, j);
        float *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
        watch(&t, O, lse);
        flash_no_tiling_counted(&t.p, t.Q, t.K, t.V, O, lse);
        witness_start();
        flash_no_tiling(&t.p, t.Q, t.K, t.V, O, lse);
        assert_array("Q", n, 0, traffic_of("Q"), problem);
        assert_array("K", pairs * t.p.d, 0, traffic_of("K"), problem);
        assert_array("V", pairs * t.p.d, 0, traffic_of("V"), problem);
        assert_array("O", 0, n, traffic_of("O"), problem);
        assert_array("lse", 0, rows, traffic_of("lse"), problem);
        cr_assert(extra_slow_peak() == 0, "%s: it stores %zu bytes whole", problem,
                  extra_slow_peak());
        free(O);
        free(lse);
        problem_free(&t);
    }
}

TEST(witness, the_lesson_makes_the_accesses_of_its_formula)
{
    enum { N = 30, D = 7 };
    static float q[D], K[N * D], V[N * D], o[D];
    random_normals(q, D, 1, 0);
    random_normals(K, N * D, 1, 1);
    random_normals(V, N * D, 1, 2);
    traffic_reset();
    traffic_watch("q", q, D);
    traffic_watch("K", K, N * D);
    traffic_watch("V", V, N * D);
    traffic_watch("o", o, D);
    flash_row_counted(q, K, V, o, N, D, 1.0f);
    witness_start();
    flash_row(q, K, V, o, N, D, 1.0f);
    assert_array("q", D, 0, traffic_of("q"), "one row");
    assert_array("K", N * D, 0, traffic_of("K"), "one row");
    assert_array("V", N * D, 0, traffic_of("V"), "one row");
    assert_array("o", 0, D, traffic_of("o"), "one row");
}

TEST(witness, standard_attention_makes_the_accesses_of_its_formula_and_keeps_s_and_p)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(1, 1, 1, 20, 20, 9), WITH_UNEQUAL_LENGTHS);
        const size_t Nq = t.p.Nq, Nk = t.p.Nk, d = t.p.d;
        const char *problem = problem_text(&t);
        float *O = allocate(Nq * d, sizeof *O, "O"), lse[20];
        watch(&t, O, lse);
        standard_attention_counted(t.Q, t.K, t.V, O, Nq, Nk, d, t.p.scale);
        const struct traffic S = traffic_of("S"), P = traffic_of("P");
        cr_assert(S.stores == Nq * Nk && S.loads == 3 * Nq * Nk && P.stores == Nq * Nk &&
                      P.loads == Nq * Nk,
                  "%s: S %zu stores, %zu loads, P %zu stores, %zu loads", problem, S.stores,
                  S.loads, P.stores, P.loads);
        cr_assert(extra_slow_peak() == 8 * Nq * Nk, "%s: %zu bytes of S and P", problem,
                  extra_slow_peak());
        witness_start();
        standard_attention(t.Q, t.K, t.V, O, Nq, Nk, d, t.p.scale);
        assert_array("Q", Nq * d, 0, traffic_of("Q"), problem);
        assert_array("K", Nq * Nk * d, 0, traffic_of("K"), problem);
        assert_array("V", Nq * Nk * d, 0, traffic_of("V"), problem);
        assert_array("O", 0, Nq * d, traffic_of("O"), problem);
        assert_array("S", 3 * Nq * Nk, Nq * Nk, S, problem);
        assert_array("P", Nq * Nk, Nq * Nk, P, problem);
        free(O);
        problem_free(&t);
    }
}

TEST(witness, fusing_three_steps_saves_two_thirds)
{
    enum { N = 100 };
    static float x[N], y[N];
    random_normals(x, N, 1, 0);
    for (int fuse = 0; fuse < 2; fuse++) {
        traffic_reset();
        traffic_watch("x", x, N);
        traffic_watch("y", y, N);
        (fuse ? fused_counted : unfused_counted)(x, y, N, 2.0f, 1.0f);
        witness_start();
        (fuse ? fused : unfused)(x, y, N, 2.0f, 1.0f);
        assert_array("x", N, 0, traffic_of("x"), fuse ? "fused" : "unfused");
        assert_array("y", fuse ? 0 : 2 * N, fuse ? N : 3 * N, traffic_of("y"),
                     fuse ? "fused" : "unfused");
    }
}
