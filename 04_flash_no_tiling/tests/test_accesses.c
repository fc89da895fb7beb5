#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/flash_row.h"
#include "04_flash_no_tiling/fusion.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/cpu/memory.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

DECLARE_WATCHED(flash_no_tiling);
DECLARE_WATCHED(flash_row);
DECLARE_WATCHED(standard_attention);
DECLARE_WATCHED(unfused);
DECLARE_WATCHED(fused);

static void assert_array(const char *array, size_t loads, size_t stores, const char *problem)
{
    const struct traffic saw = traffic_of(array);
    cr_assert(saw.loads == loads && saw.stores == stores,
              "%s: %s is read %zu times and should be read %zu times; it is written %zu times and "
              "should be written %zu times",
              problem, array, saw.loads, loads, saw.stores, stores);
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

TEST(accesses, of_one_pass_are_those_of_its_formula)
{
    for (uint64_t seed = 1; CAN_WATCH && seed <= 40; seed++) {
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
        WATCHED(flash_no_tiling)(&t.p, t.Q, t.K, t.V, O, lse);
        assert_array("Q", n, 0, problem);
        assert_array("K", pairs * t.p.d, 0, problem);
        assert_array("V", pairs * t.p.d, 0, problem);
        assert_array("O", 0, n, problem);
        assert_array("lse", 0, rows, problem);
        cr_assert(extra_slow_peak() == 0, "%s: it stores %zu bytes whole", problem,
                  extra_slow_peak());
        free(O);
        free(lse);
        problem_free(&t);
    }
}

TEST(accesses, of_one_row_are_those_of_its_formula)
{
    enum { N = 30, D = 7 };
    static float q[D], K[N * D], V[N * D], o[D];
    if (!CAN_WATCH)
        return;
    random_normals(q, D, 1, 0);
    random_normals(K, N * D, 1, 1);
    random_normals(V, N * D, 1, 2);
    traffic_reset();
    traffic_watch("q", q, D);
    traffic_watch("K", K, N * D);
    traffic_watch("V", V, N * D);
    traffic_watch("o", o, D);
    WATCHED(flash_row)(q, K, V, o, N, D, 1.0f);
    assert_array("q", D, 0, "one row");
    assert_array("K", N * D, 0, "one row");
    assert_array("V", N * D, 0, "one row");
    assert_array("o", 0, D, "one row");
}

TEST(accesses, of_standard_attention_are_those_of_its_formula_and_s_and_p_are_stored)
{
    for (uint64_t seed = 1; CAN_WATCH && seed <= 40; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(1, 1, 1, 20, 20, 9), WITH_UNEQUAL_LENGTHS);
        const size_t Nq = t.p.Nq, Nk = t.p.Nk, d = t.p.d;
        const char *problem = problem_text(&t);
        float *O = allocate(Nq * d, sizeof *O, "O"), lse[20];
        watch(&t, O, lse);
        WATCHED(standard_attention)(t.Q, t.K, t.V, O, Nq, Nk, d, t.p.scale);
        cr_assert(extra_slow_peak() == 8 * Nq * Nk, "%s: %zu bytes of S and P", problem,
                  extra_slow_peak());
        assert_array("Q", Nq * d, 0, problem);
        assert_array("K", Nq * Nk * d, 0, problem);
        assert_array("V", Nq * Nk * d, 0, problem);
        assert_array("O", 0, Nq * d, problem);
        assert_array("S", 3 * Nq * Nk, Nq * Nk, problem);
        assert_array("P", Nq * Nk, Nq * Nk, problem);
        free(O);
        problem_free(&t);
    }
}

TEST(accesses, are_a_third_where_three_loops_are_fused)
{
    enum { N = 100 };
    static float x[N], y[N];
    random_normals(x, N, 1, 0);
    for (int fuse = 0; CAN_WATCH && fuse < 2; fuse++) {
        traffic_reset();
        traffic_watch("x", x, N);
        traffic_watch("y", y, N);
        (fuse ? WATCHED(fused) : WATCHED(unfused))(x, y, N, 2.0f, 1.0f);
        assert_array("x", N, 0, fuse ? "fused" : "unfused");
        assert_array("y", fuse ? 0 : 2 * N, fuse ? N : 3 * N, fuse ? "fused" : "unfused");
    }
}
