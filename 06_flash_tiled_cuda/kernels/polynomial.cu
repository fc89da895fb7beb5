/*
 * A share of the powers of 2 is made by multiply-adds.                   as many accesses as wgmma
 *
 * persistent, and one weight of four is a polynomial (polynomial.h). With d = 64 the special-function unit, which makes 16
 * powers a clock, takes as long for a tile's weights as the tensor cores for its products; multiply-adds are 128 a clock.
 */
#include "persistent.cuh"
#include "polynomial.h"

struct shared_powers {
    __device__ static inline float of(int c, float x)
    {
        return is_polynomials(c) ? polynomial_ex2(x) : ex2(x);
    }
};

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a)
{
    launch_persistent<T, D, shared_powers>(p, a);
}

extern "C" void LAUNCHER(polynomial)(const struct attention *p, const struct device_arrays *a)
{
    TENSOR_LAUNCH(launch, p, a);
}
