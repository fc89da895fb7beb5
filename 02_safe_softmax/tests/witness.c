#include "02_safe_softmax/safe_softmax.h"
#include "common/tests/softmax_witness.h"
#include "common/tests/test.h"

TEST(witness, counter_formula_and_machine_agree)
{
    assert_accesses(safe_softmax, safe_softmax_counted, 3);
}
