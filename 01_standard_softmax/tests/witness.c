#include "01_standard_softmax/standard_softmax.h"
#include "common/tests/softmax_witness.h"
#include "common/tests/test.h"

TEST(witness, counter_formula_and_machine_agree)
{
    assert_accesses(standard_softmax, standard_softmax_counted, 2);
}
