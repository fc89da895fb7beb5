/*
 * What the program writes for other programs: O and lse, the trace, and tables.
 */
#include "05_flash_tiled_cpu/program.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/05_flash_tiled_cpu "

static struct command run(const char *arguments)
{
    return program_run("05_flash_tiled_cpu", arguments);
}

static struct command verifies(const char *arguments)
{
    return command_verified("05_flash_tiled_cpu", arguments, NULL);
}

static void verifies_and_tells(const char *arguments, const char *const parts[])
{
    command_verified("05_flash_tiled_cpu", arguments, parts);
}

// ---- files --------------------------------------------------------------------------------------

TEST(outputs, writes_o_and_lse_in_their_shapes)
{
    const size_t q[4] = { 1, 4, 5, 3 }, kv[4] = { 1, 2, 6, 3 };
    float ones[1 * 2 * 6 * 3];
    for (size_t k = 0; k < sizeof ones / sizeof ones[0]; k++)
        ones[k] = 1.0f;
    for (int dims = 3; dims <= 4; dims++) {
        command_zeros("q.npy", NPY_F8, dims, q + 4 - dims);
        command_zeros("k.npy", NPY_F2, dims, kv + 4 - dims);
        command_array("v.npy", NPY_F4, dims, kv + 4 - dims, ones);
        verifies(
            "--q @/q.npy --k @/k.npy --v @/v.npy --br 2 --bc 4 --output @/o.npy --lse @/l.npy");
        struct npy O = command_written("o.npy", dims, q + 4 - dims),
                   lse = command_written("l.npy", 3, q);
        for (size_t k = 0; k < O.count; k++)
            cr_assert(fabsf(((const float *)O.data)[k] - 1.0f) <= 1e-6f, "O[%zu] is %g", k,
                      (double)((const float *)O.data)[k]);
        for (size_t k = 0; k < lse.count; k++)
            cr_assert(fabsf(((const float *)lse.data)[k] - logf(6.0f)) <= 1e-6f, "lse[%zu] is %g",
                      k, (double)((const float *)lse.data)[k]);
        npy_free(&O);
        npy_free(&lse);
    }
    cr_assert(command_files() == 5, "%d files are left", command_files());
}

TEST(outputs, writes_the_same_bytes_with_any_number_of_threads)
{
    const char *const problems[] = {
        "--batch 2 --heads 4 --kv-heads 2 --n-q 203 --n-k 113 --d 40 --causal --window 50,0 "
        "--dropout 0.1 ",
        "--n-q 3 --n-k 700 --d 16 --heads 2 --block-mask random:0.7:1 --mask-block 3,50"
    };
    for (unsigned k = 0; k < sizeof problems / sizeof problems[0]; k++) {
        char words[1000];
        snprintf(words, sizeof words,
                 "for t in 1 2 5; do " PROGRAM "%s --quiet --threads $t --output @/o$t.npy --lse "
                 "@/l$t.npy || exit 9; done; cmp @/o1.npy @/o2.npy && cmp @/o1.npy @/o5.npy && "
                 "cmp @/l1.npy @/l2.npy && cmp @/l1.npy @/l5.npy",
                 problems[k]);
        const struct command c = command_run(words);
        cr_assert(c.status == 0, "%s: status %d: %s%s", problems[k], c.status, c.out, c.err);
    }
}

TEST(outputs, writes_what_another_step_writes)
{
    const struct command c = command_run("for k in fa1 complete; do " PROGRAM
                                         "--n-q 20 --d 4 --quiet --step $k --output @/$k.npy "
                                         "--lse @/lse_$k.npy || exit 9; done");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    const char *const names[2][2] = { { "fa1.npy", "complete.npy" },
                                      { "lse_fa1.npy", "lse_complete.npy" } };
    const size_t shape[] = { 1, 1, 20, 4 };
    for (int k = 0; k < 2; k++) {
        struct npy a = command_written(names[k][0], 4 - k, shape),
                   b = command_written(names[k][1], 4 - k, shape);
        for (size_t n = 0; n < a.count; n++)
            cr_assert(fabsf(((float *)a.data)[n] - ((float *)b.data)[n]) <= 1e-5f, "%s: %zu",
                      names[k][0], n);
        npy_free(&a);
        npy_free(&b);
    }
}

TEST(outputs, does_not_stumble_over_nan_or_infinity)
{
    const float odd[] = { NAN, INFINITY, -INFINITY };
    const char *const uses[] = {
        "--q @/odd.npy --k @/good.npy --v @/good.npy",
        "--q @/good.npy --k @/odd.npy --v @/good.npy",
        "--q @/good.npy --k @/good.npy --v @/odd.npy",
        "--q @/odd.npy --k @/odd.npy --v @/odd.npy --causal --dropout 0.5",
    };
    float x[6 * 2] = { 1, 2, -1, 0.5f, 3, -2, 0, 1, 2, -3, 1, 1 };
    command_array("good.npy", NPY_F4, 2, (size_t[]){ 6, 2 }, x);
    for (int k = 0; k < 3; k++) {
        x[5] = odd[k];
        x[8] = odd[(k + 1) % 3];
        command_array("odd.npy", NPY_F4, 2, (size_t[]){ 6, 2 }, x);
        for (unsigned use = 0; use < sizeof uses / sizeof uses[0]; use++)
            for (int all = 0; all < 2; all++) {
                char arguments[200];
                snprintf(arguments, sizeof arguments, "%s --br 2 --bc 2 %s", uses[use],
                         all ? "--step all" : "--output @/o.npy");
                const struct command c = run(arguments);
                cr_assert((c.status == 0 || c.status == 1) && !*c.err, "%g, %s: status %d: %s%s",
                          (double)odd[k], arguments, c.status, c.out, c.err);
                cr_assert(strstr(c.out, "WRONG") ? c.status == 1 : c.status == 0,
                          "%g, %s: status %d, and it printed: %s", (double)odd[k], arguments,
                          c.status, c.out);
            }
    }
}

TEST(outputs, lets_no_hidden_nan_through)
{
    float K[4 * 2] = { 1, 2, NAN, NAN, 3, 1, NAN, INFINITY };
    const unsigned char mask[4] = { 1, 0, 1, 0 };
    command_array("k.npy", NPY_F4, 2, (size_t[]){ 4, 2 }, K);
    command_array("m.npy", NPY_B1, 2, (size_t[]){ 1, 4 }, mask);
    const size_t shape[] = { 4, 2 };
    const char *const tiles[] = { "--br 1 --bc 1", "--br 2 --bc 4" };
    for (int k = 0; k < 2; k++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "--q common/data/none.npy --k @/k.npy --v @/k.npy --key-mask @/m.npy %s",
                 tiles[k]);
        snprintf(arguments, sizeof arguments,
                 "--q @/q.npy --k @/k.npy --v @/k.npy --key-mask @/m.npy --output @/o.npy %s",
                 tiles[k]);
        command_zeros("q.npy", NPY_F4, 2, shape);
        verifies(arguments);
        struct npy O = command_written("o.npy", 2, shape);
        for (size_t n = 0; n < O.count; n++)
            cr_assert(fabsf(((float *)O.data)[n] - (n % 2 ? 1.5f : 2.0f)) <= 1e-6f, "O[%zu] is %g",
                      n, (double)((float *)O.data)[n]);
        npy_free(&O);
    }
}

// ---- the trace ----------------------------------------------------------------------------------

TEST(outputs, traces_a_small_problem)
{
    verifies_and_tells("--n-q 4 --n-k 3 --d 2 --br 2 --bc 2 --causal --trace",
                       (const char *const[]){ "Trace", "keys     query S", " m      l  O",
                                              "0 to 1       0", "-inf", "0 to 1       2",
                                              "2            2", "Input", "Compared with", NULL });
    verifies_and_tells("--n-q 2 --n-k 8 --d 8 --br 2 --bc 8 --heads 2 --trace --step fa1",
                       (const char *const[]){ "b 0, h 0", "0 to 7       0 S [", "P [", "O [", "m ",
                                              "b 0, h 1", "0 to 7       0 S [", "Input", NULL });
    verifies("--n-q 1 --n-k 64 --d 8 --bc 64 --trace");
}

TEST(outputs, traces_as_comma_separated_values)
{
    const struct command c = run("--n-q 3 --n-k 5 --d 2 --heads 2 --br 2 --bc 2 --trace=csv "
                                 "--step fa2");
    cr_assert(c.status == 0 && is_one_line_with(c.err, "ok"), "status %d: %s", c.status, c.err);
    cr_assert(strncmp(c.out, "b,h,first_key,first_query,what,row,column,value\n", 48) == 0,
              "it printed: %s", c.out);
    // a head has S and P of 3 by 5 numbers, and after each of 3 blocks of keys 3 of m, of l, 6 of O
    cr_assert(lines_of(c.out) == 1 + 2 * (2 * 15 + 3 * 12), "%d lines", lines_of(c.out));
    cr_assert(lines_of_fields(c.out, 8) == lines_of(c.out), "not 8 fields everywhere: %s", c.out);
    int read = 0, last_of_O = 0;
    for (const char *line = strchr(c.out, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        unsigned long number[8];  // b, h, first key, first query, -, row, column, -
        const char *at = line;
        for (int k = 0; k < 7; k++, at += strcspn(at, ",") + 1)
            number[k] = strtoul(at, NULL, 10);
        read += number[0] == 0 && number[1] < 2 && number[2] % 2 == 0 && number[2] < 5 &&
                number[3] % 2 == 0 && number[3] < 3 && number[5] < 2 && number[6] < 2 &&
                isfinite(strtof(at, NULL));
        last_of_O += strncmp(line, "0,1,4,2,O,0,1,", 14) == 0;
    }
    cr_assert(read == lines_of(c.out) - 1 && last_of_O == 1, "%d lines are as they should be: %s",
              read, c.out);
}

// ---- tables for other programs ------------------------------------------------------------------

TEST(outputs, writes_a_summary)
{
    const struct command c = run("--n-q 40 --d 8 --quiet --csv @/s.csv && cat @/s.csv");
    const char *const parts[] = { "ok\n",
                                  ("chapter,accesses,counted,extra_bytes,milliseconds,error,"
                                   "previous,previous_error,verified\n"),
                                  "05,",
                                  ",1320,",
                                  ",04 no tiling,",
                                  ",yes\n",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts) && lines_of_fields(c.out, 9) == 2,
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(outputs, has_a_line_for_every_step)
{
    const struct command c = run("--n-q 40 --d 8 --quiet --step all --csv @/s.csv && cat @/s.csv");
    enum { MOST = 40 };
    char rows[MOST][40];
    const char *parts[MOST + 2] = {
        "chapter,kernel,br,bc,accesses,pairs,slow_bytes,fast_bytes,error,previous,previous_error\n"
    };
    for (size_t k = 0; k < table.count; k++) {
        snprintf(rows[k], sizeof rows[k], "\n05,%s,", table.steps[k].name);
        parts[k + 1] = rows[k] + (k == 0);
    }
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
    cr_assert(lines_of_fields(c.out, 11) == 1 + (int)table.count, "not 11 fields a line: %s",
              c.out);
    const char *const lonely = strstr(c.out, "05,block_matmul,");
    cr_assert(lonely[strcspn(lonely, "\n") - 1] == ',', "block_matmul has nothing before it: %s",
              c.out);
}

TEST(outputs, measures_its_speed)
{
    const struct command c = run("--n-q 8 --d 4 --dropout 0.5 --step complete --threads 1 "
                                 "--bench --csv @/b.csv && cat @/b.csv");
    const char *const parts[] = {
        "Compared with",
        "Speed",
        " split_kv ",
        "complete ",
        "GFLOP/s of FMA",
        ("chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,"
         "milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error\n"
         "05,split_kv,f32,1,1,8,4,0,forward,1,"),
        "\n05,complete,f32,1,1,8,4,0,forward,1,",
        NULL
    };
    cr_assert(c.status == 0 && !strstr(c.out, "WRONG") && !missing_part(c.out, parts),
              "status %d: %s%s", c.status, c.out, c.err);
    cr_assert(lines_of_fields(c.out, 15) == 3, "not a header and two lines: %s", c.out);
}
