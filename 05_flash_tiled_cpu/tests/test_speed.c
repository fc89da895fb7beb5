/*
 * The ladder of --bench, small.
 */
#include "05_flash_tiled_cpu/fast/bench.h"
#include "05_flash_tiled_cpu/program.h"
#include "common/tests/ladder_output.h"
#include "common/tests/test.h"

#include <string.h>

static void run_ladder(const struct options *o)
{
    bench_all(&chapter, 16, 0.0, o);
}

TEST(ladder, has_every_step_in_every_case_and_ends_with_the_machine)
{
    const struct command c = ladder_output(run_ladder);
    const char *const parts[] = {
        "Ladder",
        "one head, N = 16, d = 64\n",
        " standard           1 ",
        " fa2                1 ",
        " loops              1 ",
        " polynomial         1 ",
        " registers          1 ",
        " block              1 ",
        " skip               1 ",
        " overlap            1 ",
        " threads ",
        " complete ",
        "Options",
        "none ",
        "causal ",
        "window 255,0 ",
        "every 8th key hidden ",
        "half of blocks ",
        "dropout 0.1 ",
        "Shapes",
        "N = 16       N = 15\n",
        "    32 ",
        "   256 ",
        "Pieces",
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads\n",
        "05,standard,f32,1,1,16,64,0,forward,1\n05,fa2,f32,1,1,16,64,0,forward,1\n",
        "05,overlap,f32,1,1,16,64,0,forward,1\n05,threads,f32,1,1,16,64,0,forward,",
        "05,complete,f32,1,1,16,64,0,forward,",
        "05,complete,f32,1,1,16,64,1,forward,",
        "05,complete,f32,1,1,16,128,0,forward,",
        "05,complete,f32,1,1,16,128,1,forward,",
        NULL,
    };
    assert_ladder_output(&c, parts);
}

static void run_fast(const struct options *o)
{
    bench_fast(&chapter, 16, 0.0, o);
}

TEST(fast, has_a_line_for_each_idea)
{
    const struct command c = ladder_output(run_fast);
    const char *const parts[] = {
        "Fast",
        "one head, N = 16, d = 64;",
        "fa2 ",
        "loops ",
        " times as fast:  queries side by side\n",
        "polynomial ",
        " times as fast:  2^x by a polynomial\n",
        "block ",
        " times as fast:  sums in registers\n",
        "complete ",
        " times as fast:  threads, and every option\n",
        " times as fast in all; ",
        NULL,
    };
    const char *const missing = missing_part(c.out, parts);
    cr_assert(!missing && !strstr(c.out, "WRONG"), "no '%s' where it belongs: %s", missing, c.out);
}
