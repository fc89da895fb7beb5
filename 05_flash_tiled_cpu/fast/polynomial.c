/*
 * Step: 2^x by a polynomial.
 *
 * exp2f of the C library is right nearly to the last bit and looks at every special case. There is one
 * call for each score, and it takes some 2 ns: in that time vectors could do both products of a pair with
 * d = 64. Ten additions and multiplications in a row (exp2.h) are nearly as exact, and they are plain
 * arithmetic without a call or a branch: the compiler puts them into the loop over queries.
 */
#include "05_flash_tiled_cpu/fast/columns.h"
#include "05_flash_tiled_cpu/fast/exp2.h"
#include "05_flash_tiled_cpu/steps/steps.h"

void polynomial(const struct attention *p, struct tile_size size, struct tensors x)
{
    columns_attention(p, size, x, exp2_of);
}
