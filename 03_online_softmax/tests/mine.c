/*
 * Your tests of online softmax and of merging. Add more: each should catch some mistake.
 */
#include "03_online_softmax/online_softmax.h"
#include "common/tests/test.h"

#include <math.h>

TEST(mine, two_equal_scores_share_the_weight)
{
    float y[2];
    online_softmax((const float[]){ 1, 1 }, y, 2);
    cr_assert(y[0] == 0.5f && y[1] == 0.5f, "got %g and %g, expected 0.5 twice", (double)y[0],
              (double)y[1]);
}

TEST(mine, two_equal_blocks_merge)
{
    const struct softmax_state one = { 1.0f, 2.0f }, both = softmax_merge(one, one);
    cr_assert(both.m == 1.0f && both.l == 4.0f, "got m %g and l %g, expected 1 and 4",
              (double)both.m, (double)both.l);
}
