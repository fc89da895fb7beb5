/*
 * What the program writes for other programs: O, lse and the gradients, the trace, and tables.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/07_backward "

static struct command run(const char *arguments)
{
    return program_run("07_backward", arguments);
}

static void assert_all_are(struct npy *array, const char *name, float value)
{
    const float *const x = array->data;
    for (size_t k = 0; k < array->count; k++)
        cr_assert(fabsf(x[k] - value) <= 1e-6f, "%s: element %zu is %g, expected %g", name, k,
                  (double)x[k], (double)value);
    npy_free(array);
}

/* Q = 0, so all weights are 1/6. V and dO are 1, so dQ = dK = 0, and dV sums 5 queries of 2 heads over 6. */
TEST(outputs, writes_every_array_in_its_shape)
{
    const size_t q[4] = { 1, 4, 5, 3 }, kv[4] = { 1, 2, 6, 3 };
    float ones[1 * 4 * 5 * 3];
    for (size_t k = 0; k < sizeof ones / sizeof ones[0]; k++)
        ones[k] = 1.0f;
    for (int dims = 3; dims <= 4; dims++) {
        command_zeros("q.npy", NPY_F8, dims, q + 4 - dims);
        command_zeros("k.npy", NPY_F2, dims, kv + 4 - dims);
        command_array("v.npy", NPY_F4, dims, kv + 4 - dims, ones);
        command_array("g.npy", NPY_F4, dims, q + 4 - dims, ones);
        command_verified("07_backward",
                         "--q @/q.npy --k @/k.npy --v @/v.npy --do @/g.npy --br 2 --bc 4 --output "
                         "@/o.npy --lse @/l.npy --dq @/dq.npy --dk @/dk.npy --dv @/dv.npy",
                         (const char *const[]){ "Input", "dO: ", "/g.npy\n", NULL });
        struct npy O = command_written("o.npy", dims, q + 4 - dims),
                   lse = command_written("l.npy", 3, q);
        struct npy dQ = command_written("dq.npy", dims, q + 4 - dims);
        struct npy dK = command_written("dk.npy", dims, kv + 4 - dims);
        struct npy dV = command_written("dv.npy", dims, kv + 4 - dims);
        assert_all_are(&O, "O", 1.0f);
        assert_all_are(&lse, "lse", logf(6.0f));
        assert_all_are(&dQ, "dQ", 0.0f);
        assert_all_are(&dK, "dK", 0.0f);
        assert_all_are(&dV, "dV", 10.0f / 6.0f);
    }
    cr_assert(command_files() == 9, "%d files are left", command_files());
}

TEST(outputs, writes_the_same_bytes_with_any_number_of_threads)
{
    const struct command c = command_run(
        "for t in 1 2 5; do " PROGRAM "--batch 2 --heads 4 --kv-heads 2 --n-q 203 --n-k 113 --d 40 "
        "--causal --window 50,0 --dropout 0.1 --bc 16 --quiet --threads $t --dq @/q$t.npy "
        "--dk @/k$t.npy --dv @/v$t.npy || exit 9; done; for a in q k v; do "
        "cmp @/${a}1.npy @/${a}2.npy && cmp @/${a}1.npy @/${a}5.npy || exit 8; done");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(outputs, does_not_stumble_over_nan_or_infinity)
{
    const float odd[] = { NAN, INFINITY, -INFINITY };
    const char *const uses[] = {
        "--q @/odd.npy --k @/good.npy --v @/good.npy",
        "--q @/good.npy --k @/odd.npy --v @/good.npy",
        "--q @/good.npy --k @/good.npy --v @/odd.npy --do @/odd.npy",
        "--q @/odd.npy --k @/odd.npy --v @/odd.npy --causal",
    };
    float x[6 * 2] = { 1, 2, -1, 0.5f, 3, -2, 0, 1, 2, -3, 1, 1 };
    command_array("good.npy", NPY_F4, 2, (size_t[]){ 6, 2 }, x);
    for (int k = 0; k < 3; k++) {
        x[5] = odd[k];
        command_array("odd.npy", NPY_F4, 2, (size_t[]){ 6, 2 }, x);
        for (unsigned use = 0; use < sizeof uses / sizeof uses[0]; use++)
            for (int all = 0; all < 2; all++) {
                char arguments[200];
                snprintf(arguments, sizeof arguments, "%s --br 2 --bc 2 %s", uses[use],
                         all ? "--step all" : "--dq @/dq.npy");
                const struct command c = run(arguments);
                cr_assert((c.status == 0 || c.status == 1) && !*c.err, "%g, %s: status %d: %s%s",
                          (double)odd[k], arguments, c.status, c.out, c.err);
                cr_assert(strstr(c.out, "WRONG") ? c.status == 1 : c.status == 0,
                          "%g, %s: status %d, and it printed: %s", (double)odd[k], arguments,
                          c.status, c.out);
            }
    }
}

TEST(outputs, traces_a_small_problem)
{
    command_verified("07_backward", "--n-q 2 --n-k 3 --d 2 --heads 2 --kv-heads 1 --causal --trace",
                     (const char *const[]){ "Trace", "b 0, h 0   query 0   S ", "-inf", "P ", "O ",
                                            "dP ", "D ", "dS ", "dQ ", "key   2   dV ",
                                            "b 0, h 1   query 1   dS ", "Input", NULL });
}

TEST(outputs, traces_as_comma_separated_values)
{
    const struct command c = run("--n-q 3 --n-k 4 --d 2 --heads 2 --trace=csv --dropout 0.5");
    cr_assert(c.status == 0 && is_one_line_with(c.err, "ok"), "status %d: %s", c.status, c.err);
    cr_assert(strncmp(c.out, "b,h,what,of,row,column,value\n", 29) == 0, "it printed: %s", c.out);
    // a head has S, P, dP and dS of 3 by 4, D of 3, O and dQ of 3 by 2, dK and dV of 4 by 2
    const int right = 1 + 2 * (4 * 12 + 3 + 2 * 6 + 2 * 8);
    cr_assert(lines_of_fields(c.out, 7) == right, "%d lines, expected %d: %s",
              lines_of_fields(c.out, 7), right, c.out);
    cr_assert(strstr(c.out, "\n0,1,dV,key,3,1,"), "it printed: %s", c.out);
}

TEST(outputs, writes_a_summary)
{
    const struct command c = run("--n-q 40 --d 8 --quiet --csv @/s.csv && cat @/s.csv");
    const char *const parts[] = { "ok\n",
                                  ("chapter,accesses,counted,extra_bytes,milliseconds,error,"
                                   "previous,previous_error,verified\n"),
                                  "07,",
                                  ",split,",
                                  ",yes\n",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts) && lines_of_fields(c.out, 9) == 2,
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(outputs, has_a_line_for_every_step)
{
    const struct command c = run("--n-q 40 --d 8 --quiet --step all --csv @/s.csv && cat @/s.csv");
    const char *const parts[] = { ("chapter,kernel,br,bc,accesses,pairs,products,slow_bytes,"
                                   "fast_bytes,error,previous,previous_error\n07,standard,"),
                                  "\n07,recompute,",
                                  "\n07,fa1,",
                                  "\n07,fa2,",
                                  "\n07,split,",
                                  "\n07,softcap,",
                                  "\n07,complete,",
                                  "\n07,cuda_standard,,,",
                                  "\n07,cuda_recompute,,,",
                                  "\n07,cuda_deterministic,,,",
                                  "\n07,cuda_complete,,,",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts) && lines_of_fields(c.out, 12) == 12,
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(outputs, writes_the_losses_of_its_training)
{
    const struct command c = run("--train --quiet --csv @/t.csv && cut -d, -f1 @/t.csv | tail -n 1 "
                                 "&& head -n 1 @/t.csv");
    const char *const parts[] = { "ok\n", "299\n", "step,standard,complete,wrong_scale\n", NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(outputs, measures_its_speed)
{
    const struct command c = run("--n-q 8 --d 4 --dropout 0.5 --step complete --threads 1 "
                                 "--bench --csv @/b.csv && cat @/b.csv");
    const char *const parts[] = {
        "Compared with",
        "Speed",
        " fa1 ",
        "complete ",
        "GFLOP/s of FMA",
        ("chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,"
         "milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error\n"
         "07,fa1,f32,1,1,8,4,0,backward,1,"),
        "\n07,complete,f32,1,1,8,4,0,backward,1,",
        NULL
    };
    cr_assert(c.status == 0 && !strstr(c.out, "WRONG") && !missing_part(c.out, parts),
              "status %d: %s%s", c.status, c.out, c.err);
}
