#include "03_online_softmax/online_softmax.h"
#include "common/tests/softmax_witness.h"
#include "common/tests/test.h"

TEST(witness, counter_formula_and_machine_agree)
{
    assert_accesses(online_softmax, online_softmax_counted, 2);
}
