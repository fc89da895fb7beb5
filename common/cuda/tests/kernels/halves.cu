/* Conversions of 16-bit numbers, on the host: the code is the same. */
#include "common/cuda/tests/primitives.h"

#include "common/cuda/device.h"

extern "C" void LAUNCHER(to_halves)(uint32_t first, uint32_t count, uint16_t *bits)
{
    for (uint32_t k = 0; k < count; k++)
        bits[k] = __half_as_ushort(__float2half(__uint_as_float(first + k)));
}

extern "C" void LAUNCHER(to_bfloats)(uint32_t first, uint32_t count, uint16_t *bits)
{
    for (uint32_t k = 0; k < count; k++)
        bits[k] = __bfloat16_as_ushort(__float2bfloat16(__uint_as_float(first + k)));
}

extern "C" void LAUNCHER(from_halves)(float x[65536])
{
    for (uint32_t k = 0; k < 65536; k++)
        x[k] = __half2float(__ushort_as_half(uint16_t(k)));
}

extern "C" void LAUNCHER(from_bfloats)(float x[65536])
{
    for (uint32_t k = 0; k < 65536; k++)
        x[k] = __bfloat162float(__ushort_as_bfloat16(uint16_t(k)));
}
