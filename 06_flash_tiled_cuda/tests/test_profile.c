/*
 * A kernel's profile: its lines by cost, and a block's units on a clock.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>

TEST(program, profiles_a_kernel_line_by_line)
{
    const struct command c =
        program_run("06_flash_tiled_cuda", "--n-q 40 --d 16 --step fa1 --profile");
    const char *const parts[] = { "Profile",     "fa1, by the lines of its source",
                                  "fa1.cu",      "smem.Q[r][k] * smem.K[c][k]",
                                  "shared load", "51 200",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
}

/* Loads of Q, K and V, two products for 16 384 pairs, and softmax. */
TEST(program, puts_the_works_of_a_block_on_a_clock)
{
    const char *const shape =
        "--n-q 200 --n-k 128 --d 64 --dtype bf16 --step roles --timeline @/t.csv && cat @/t.csv";
    const char *const parts[] = { "Timeline",
                                  "the first block of roles",
                                  "copies                 49 152  bytes",
                                  "tensor cores        4 194 304  FLOP",
                                  "exponentials           16 896  exponentials",
                                  "launch,unit,warp,run,what,begin,end,work,place\n",
                                  "1,copies,8,1,Q,0.0,327.7,16384,06_flash_tiled_cuda/kernels/",
                                  "1,tensor cores,0,",
                                  "product,983.0,",
                                  ",1048576,06_flash_tiled_cuda/kernels/parts/warpgroup.cuh:",
                                  "1,exponentials,0,",
                                  NULL };
    const struct command c = program_run("06_flash_tiled_cuda", shape);
    const char *const missing = missing_part(c.out, parts);
    cr_assert(c.status == 0 && !missing, "status %d, without \"%s\": %s%s", c.status,
              missing ? missing : "", c.out, c.err);
}
