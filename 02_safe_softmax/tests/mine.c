/*
 * Your tests of safe_softmax. Add more: each should catch some mistake.
 */
#include "02_safe_softmax/safe_softmax.h"
#include "common/tests/test.h"

#include <math.h>

TEST(mine, two_equal_scores_share_the_weight)
{
    float y[2];
    safe_softmax((const float[]){ 1, 1 }, y, 2);
    cr_assert(y[0] == 0.5f && y[1] == 0.5f, "got %g and %g, expected 0.5 twice", (double)y[0],
              (double)y[1]);
}
