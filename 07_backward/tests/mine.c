/*
 * Tests of the gradients, to begin with: write more. Each should fail for some way of being wrong.
 */
#include "07_backward/program.h"
#include "07_backward/steps/forward.h"
#include "07_backward/steps/steps.h"
#include "common/tests/test.h"

#include <math.h>

TEST(mine, a_single_key_has_weight_1_so_its_value_has_the_gradient_do)
{
    const struct tile_size size = { .Br = 2, .Bc = 2 };
    struct lab layer = backward_random(&chapter, attention_of(1, 1, 1, 1, 1, 3),
                                       &(const struct options){ .seed = 1 });
    struct result got = backward_run(step_named(&table, "recompute"), &layer, size);
    for (size_t k = 0; k < 3; k++)
        cr_assert(fabsf(got.of[DV][k] - layer.x.dO[k]) <= 1e-6f, "element %zu: dV is %g, dO %g", k,
                  (double)got.of[DV][k], (double)layer.x.dO[k]);
    result_free(&got);
    lab_free(&layer);
}
