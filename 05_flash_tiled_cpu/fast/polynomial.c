/*
 * Step: 2^x by a polynomial.
 *
 * exp2f takes about as long as both products of a pair with d = 64. exp2.h needs eleven operations
 * and no call, so the compiler vectorises it.
 */
#include "05_flash_tiled_cpu/fast/columns.h"
#include "05_flash_tiled_cpu/fast/exp2.h"
#include "05_flash_tiled_cpu/steps/steps.h"

void polynomial(const struct attention *p, struct tile_size size, struct tensors x)
{
    columns_attention(p, size, x, exp2_of);
}
