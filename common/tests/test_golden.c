#include "common/tests/golden.h"
#include "common/tests/test.h"

#include <math.h>

/*
 * Different orders of summation may differ by some roundings of the largest value. PyTorch's zeros
 * and infinities must match exactly: they come from masks and a scale of zero.
 */
static void assert_agree(const char *name, const char *what, const double *got,
                         const double *expected, size_t count)
{
    double largest = 0.0;
    size_t not_zero = 0, at;
    for (size_t n = 0; n < count; n++) {
        if (isfinite(expected[n]))
            largest = fmax(largest, fabs(expected[n]));
        not_zero += expected[n] == 0.0 && got[n] != 0.0 ? 1 : 0;
    }
    const double difference = largest_difference(got, expected, count, &at);
    cr_assert(difference <= 1e-14 * largest, "%s: element %zu of %s: got %.17g, PyTorch has %.17g",
              name, at, what, got[at], expected[at]);
    cr_assert(not_zero == 0, "%s: %zu zeros of %s are something else", name, not_zero, what);
}

TEST(golden, the_reference_agrees_with_pytorch_under_every_option)
{
    for (size_t k = 0; k < golden_count(); k++) {
        struct golden g = golden_open(k);
        struct reference_results r = reference_results_of(&g.t);
        const size_t queries = attention_query_elements(&g.t.p);
        const size_t keys = attention_key_elements(&g.t.p);
        assert_agree(g.name, "O", r.O, g.O, queries);
        assert_agree(g.name, "lse", r.lse, g.lse, attention_rows(&g.t.p));
        assert_agree(g.name, "dQ", r.dQ, g.dQ, queries);
        assert_agree(g.name, "dK", r.dK, g.dK, keys);
        assert_agree(g.name, "dV", r.dV, g.dV, keys);
        reference_results_free(&r);
        golden_free(&g);
    }
}
