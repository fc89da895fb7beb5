/*
 * A block for each multiprocessor, which takes one tile of queries after the other: persistent.cuh. All powers of 2 are
 * the special-function unit's.
 */
#include "persistent.cuh"

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a)
{
    launch_persistent<T, D, special_powers>(p, a);
}

extern "C" void LAUNCHER(persistent)(const struct attention *p, const struct device_arrays *a)
{
    TENSOR_LAUNCH(launch, p, a);
}
