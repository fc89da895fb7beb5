/*
 * Tests of the gradients, to begin with: write more. Each should fail for some way of being wrong.
 */
#include "07_backward/program/stages.h"
#include "common/tests/test.h"

#include <math.h>

TEST(mine, a_single_key_has_weight_1_so_its_value_has_the_gradient_do)
{
    const struct tile_size size = { .Br = 2, .Bc = 2 };
    struct layer layer = layer_random(attention_of(1, 1, 1, 1, 1, 3), 1);
    struct result got = layer_run(&steps[RECOMPUTE], &layer, size);
    for (size_t k = 0; k < 3; k++)
        cr_assert(fabsf(got.of[DV][k] - layer.dO[k]) <= 1e-6f, "element %zu: dV is %g, dO %g", k,
                  (double)got.of[DV][k], (double)layer.dO[k]);
    result_free(&got);
    layer_free(&layer);
}
