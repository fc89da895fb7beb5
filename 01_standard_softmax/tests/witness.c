#include "../standard_softmax.h"
#include "softmax_witness.h"
#include "test.h"

TEST(witness, counter_formula_and_machine_agree)
{
    assert_accesses(standard_softmax, standard_softmax_counted, 2);
}
