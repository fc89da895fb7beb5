/*
 * Step: loops over queries.
 *
 * fa2 computes one score after the other, and each addition of a dot product waits for the one
 * before it: four clocks or so for two operations. Queries do not wait for one another. So the inner loop
 * goes over 32 queries, for one element of one key: 32 sums that have nothing to do with each other,
 * side by side. That is what vector instructions do, and the compiler finds them by itself
 * (-O3, and -march=native so that it may use all that this processor has).
 *
 * What it cannot make vectors of is a call to the C library: exp2f is called once for every score.
 */
#include "05_flash_tiled_cpu/fast/columns.h"
#include "05_flash_tiled_cpu/steps/steps.h"

void loops(const struct attention *p, struct tile_size size, struct tensors x)
{
    columns_attention(p, size, x, exp2f);
}
