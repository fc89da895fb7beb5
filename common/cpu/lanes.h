/*
 * For loops that a compiler vectorises: lane k of LANES works on elements k, k + LANES, k + 2
 * LANES, … of a row. A row is split into LANES blocks, merged at the end.
 */
#ifndef COMMON_LANES_H
#define COMMON_LANES_H

enum { LANES = 16 };

/* max in one instruction: unlike fmaxf it need not handle NaN. */
static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

#endif
