#include "common/check/attention_check.h"

#include "common/check/plain.h"
#include "common/cpu/memory.h"
#include "common/program/attention_report.h"
#include "common/program/options.h"
#include "common/program/report.h"
#include "common/tests/test.h"

#include <math.h>

/* Checks textbook attention of two heads, the first with large values, with a fault in O. */
static int verdict(size_t element, float fault, const float *before)
{
    struct attention_input input = attention_input_random(attention_of(1, 2, 2, 20, 20, 16), 1);
    float O[2 * 20 * 16], lse[2 * 20];
    for (size_t k = 0; k < 20 * 16; k++)
        input.V[k] *= 1e7f;
    plain_forward(&input.p, input.Q, input.K, input.V, O, lse);
    O[element] += fault;
    struct attention_check check = attention_check_begin(&input, false);
    report_start("00", "test", "", true);
    attention_check_report(&check, O, lse, "the stage before", before);
    attention_check_end(&check);
    attention_input_free(&input);
    return report_finish();
}

TEST(attention_check, passes_what_is_right)
{
    cr_assert(verdict(0, 0.0f, NULL) == EXIT_VERIFIED, "textbook attention was rejected");
}

TEST(attention_check, sees_a_fault_in_a_head_of_small_values)
{
    cr_assert(verdict(20 * 16 + 5, 0.001f, NULL) == EXIT_DISAGREES, "a fault in head 1 passed");
    cr_assert(verdict(20 * 16 + 5, NAN, NULL) == EXIT_DISAGREES, "NaN in head 1 passed");
}

TEST(attention_check, compares_with_the_stage_before_where_that_has_something)
{
    float before[2 * 20 * 16];
    poison_fill(before, 2 * 20 * 16);
    cr_assert(verdict(0, 0.0f, before) == EXIT_VERIFIED,
              "a stage that has nothing was compared with");
    for (size_t k = 0; k < 20 * 16; k++)
        before[k] = 0.5f;
    cr_assert(verdict(0, 0.0f, before) == EXIT_VERIFIED,
              "a wrong stage before is no fault of this one");
}

TEST(attention_check, compares_with_another_stage_besides)
{
    enum { SIZE = 20 * 16 };
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, 20, 20, 16), 1);
    struct attention_check check = attention_check_begin(&input, false);
    float O[SIZE], lse[20], other[SIZE], before[SIZE];
    plain_forward(&input.p, input.Q, input.K, input.V, O, lse);
    for (size_t k = 0; k < SIZE; k++)
        other[k] = before[k] = O[k];
    other[7] += 2e-7f;
    before[9] += 1e-7f;
    check.other_name = "another";
    check.other = other;
    struct attention_errors e =
        attention_verdict_end(attention_verdict_of(&check, O, lse, "the stage before", before));
    cr_assert(e.right && e.has_previous && e.other > 1e-7 && e.previous > 5e-8 &&
                  e.previous < e.other,
              "other %g, previous %g", e.other, e.previous);
    e = attention_verdict_end(attention_verdict_of(&check, O, lse, NULL, NULL));
    cr_assert(e.right && !e.has_previous && e.other > 1e-7, "alone: other %g", e.other);
    attention_check_end(&check);
    attention_input_free(&input);
}

/* One number a head, cancelling to almost 0: the textbook may hit it by chance. */
TEST(attention_check, passes_what_is_right_where_values_cancel_out)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct attention_input input =
            attention_input_random(attention_of(1, 8, 8, 1, 256, 1), seed);
        struct attention back = input.p;
        struct attention_check check = attention_check_begin(&input, false);
        float O[8], lse[8];
        for (size_t n = 0; n < 8; n++)  // keys in reverse: other roundings
            for (size_t j = 0; j < 128; j++) {
                float *const K = input.K + n * 256, *const V = input.V + n * 256;
                const float k = K[j], v = V[j];
                K[j] = K[255 - j], V[j] = V[255 - j];
                K[255 - j] = k, V[255 - j] = v;
            }
        plain_forward(&back, input.Q, input.K, input.V, O, lse);
        cr_assert(attention_verdict_end(attention_verdict_of(&check, O, lse, NULL, NULL)).right,
                  "seed %d is rejected", (int)seed);
        attention_check_end(&check);
        attention_input_free(&input);
    }
}

static void checks(struct attention p, size_t count)
{
    struct attention_input input = attention_input_random(p, 1);
    struct attention_check check = attention_check_begin(&input, false);
    size_t heads = 0;
    cr_assert(check.count == count, "%zu rows of %zu are checked", check.count, attention_rows(&p));
    for (size_t k = 0; k < count; k++) {
        cr_assert(check.rows[k] < attention_rows(&p) &&
                  (k == 0 || check.rows[k] >= check.rows[k - 1]));
        const bool is_first = k == 0 || check.rows[k] / p.Nq != check.rows[k - 1] / p.Nq;
        const bool is_last = k + 1 == count || check.rows[k] / p.Nq != check.rows[k + 1] / p.Nq;
        heads += is_first;
        cr_assert(!is_first || check.rows[k] % p.Nq == 0, "row %zu is the first of its head",
                  check.rows[k]);
        cr_assert(!is_last || check.rows[k] % p.Nq == p.Nq - 1, "row %zu is the last of its head",
                  check.rows[k]);
    }
    cr_assert(heads == p.B * p.H, "%zu heads of %zu have a checked row", heads, p.B * p.H);
    attention_check_end(&check);
    attention_input_free(&input);
}

TEST(attention_check, has_rows_of_every_head_of_a_large_problem)
{
    checks(attention_of(1, 1, 1, 100, 3, 2), 100);
    checks(attention_of(1, 1, 1, 8200, 8200, 64), 64);
    checks(attention_of(8, 8, 8, 1024, 1024, 64), 192);
    checks(attention_of(16, 8, 2, 1024, 1024, 64), 384);
}
