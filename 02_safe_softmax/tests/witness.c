#include "../safe_softmax.h"
#include "softmax_witness.h"
#include "test.h"

TEST(witness, counter_formula_and_machine_agree)
{
    assert_accesses(safe_softmax, safe_softmax_counted, 3);
}
