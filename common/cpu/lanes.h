/*
 * For the loops that a compiler turns into vector instructions: lane k of LANES works on elements k,
 * k + LANES, k + 2 LANES, … of a row. A row is thus cut into LANES blocks, merged at the end.
 */
#ifndef COMMON_LANES_H
#define COMMON_LANES_H

enum { LANES = 16 };

/* max as one instruction: unlike fmaxf it need not look for NaN. */
static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

#endif
