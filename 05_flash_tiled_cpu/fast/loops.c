/*
 * Step: loops over queries.
 *
 * In fa2 each addition waits four cycles for the previous one. Queries are independent, so the
 * inner loop runs over 32 of them, and the compiler vectorises it. Only exp2f stays scalar.
 */
#include "05_flash_tiled_cpu/fast/columns.h"
#include "05_flash_tiled_cpu/steps/steps.h"

void loops(const struct attention *p, struct tile_size size, struct tensors x)
{
    columns_attention(p, size, x, exp2f);
}
