#include "../online_softmax.h"
#include "softmax_witness.h"
#include "test.h"

TEST(witness, counter_formula_and_machine_agree)
{
    assert_accesses(online_softmax, online_softmax_counted, 2);
}
