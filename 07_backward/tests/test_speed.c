/*
 * The ladder of --bench, small.
 */
#include "07_backward/fast/bench.h"
#include "07_backward/program.h"
#include "common/tests/ladder_output.h"
#include "common/tests/test.h"

static void run_ladder(const struct options *o)
{
    backward_ladder(&chapter, 16, 0.0, o);
}

TEST(ladder, has_every_step_in_every_case_and_ends_with_the_machine)
{
    const struct command c = ladder_output(run_ladder);
    const char *const parts[] = {
        "Ladder",
        "one head, N = 16, d = 64\n",
        " standard         1 ",
        " fa2              1 ",
        "complete         1 ",
        "complete        ",
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads\n",
        "07,standard,f32,1,1,16,64,0,backward,1\n07,fa2,f32,1,1,16,64,0,backward,1\n",
        "07,complete,f32,1,1,16,64,0,backward,1\n07,complete,f32,1,1,16,64,0,backward,",
        "07,complete,f32,1,1,16,64,1,backward,1\n07,complete,f32,1,1,16,64,1,backward,",
        "07,complete,f32,1,1,16,128,0,backward,1\n07,complete,f32,1,1,16,128,0,backward,",
        "07,complete,f32,1,1,16,128,1,backward,1\n07,complete,f32,1,1,16,128,1,backward,",
        NULL,
    };
    assert_ladder_output(&c, parts);
}
