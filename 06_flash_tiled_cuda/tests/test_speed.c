/*
 * What is measured: a CPU's times never count as a GPU's.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

TEST(program, measures_without_passing_for_a_gpu)
{
    const struct command c = program_run(
        "06_flash_tiled_cuda", "--n-q 40 --d 16 --device cpu --step fa2 --bench --csv @/b.csv && "
                               "cat @/b.csv");
    const char *const parts[] = { "Compared with",
                                  "Speed",
                                  " fa1",
                                  " fa2",
                                  "it says nothing about a GPU's speed",
                                  "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,",
                                  "\n06,fa2,f32,1,1,40,16,0,forward,cpu,",
                                  NULL };
    cr_assert(c.status == 0 && !strstr(c.out, "GFLOP/s") && !missing_part(c.out, parts),
              "status %d: %s%s", c.status, c.out, c.err);
}
