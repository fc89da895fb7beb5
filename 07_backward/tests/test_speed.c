/*
 * The ladder of --bench, small.
 */
#include "../speed.h"
#include "climbed.h"
#include "test.h"

static void climb(const struct options *o)
{
    bench_ladder(16, 0.0, o);
}

TEST(ladder, has_every_rung_in_every_case_and_ends_with_the_machine)
{
    const struct command c = climbed(climb);
    const char *const parts[] = {
        "Ladder",
        "one head, N = 16;",
        "d 64           causal            d 128           causal\n",
        "1 standard        1 ",
        "4 fa2             1 ",
        "complete        1 ",
        "complete        ",
        "Pieces",
        "d 64      d 128\n",
        "five products out of the first cache ",
        "with N = 128\n",
        "complete, of the peak ",
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads\n",
        "07,standard,f32,1,1,16,64,0,backward,1\n07,fa2,f32,1,1,16,64,0,backward,1\n",
        "07,complete,f32,1,1,16,64,0,backward,1\n07,complete,f32,1,1,16,64,0,backward,",
        "07,complete,f32,1,1,16,64,1,backward,1\n07,complete,f32,1,1,16,64,1,backward,",
        "07,complete,f32,1,1,16,128,0,backward,1\n07,complete,f32,1,1,16,128,0,backward,",
        "07,complete,f32,1,1,16,128,1,backward,1\n07,complete,f32,1,1,16,128,1,backward,",
        NULL,
    };
    assert_climbed(&c, parts);
}
