/* Correct kernels: right in every order, on any number of cores, without reports. */
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <math.h>

enum { THREADS = 128, N = 384 };

typedef void right_runner(const char *name, const float *in, float *out);
right_runner right_cpu, right_instrumented;

static const char *const names[] = {
    "by_barriers",       "by_two_buffers", "by_warps",    "by_half_warps", "by_vectors",
    "by_small_elements", "by_atomics",     "by_launches", "by_turns",
};
enum { KERNELS = sizeof names / sizeof *names };

static void assert_right(right_runner *run, const char *name)
{
    float in[N], out[N];
    for (int k = 0; k < N; k++) {
        in[k] = (float)k;
        out[k] = NAN;
    }
    run(name, in, out);
    for (int k = 0; k < N; k++) {
        const float expected = in[k / THREADS * THREADS + THREADS - 1 - k % THREADS];
        cr_assert(out[k] == expected, "%s: element %d is %g, expected %g", name, k, (double)out[k],
                  (double)expected);
    }
}

TEST(right, in_every_order_of_the_threads)
{
    for (int order = CUDA_ASCENDING; order <= CUDA_AHEAD; order++)
        for (unsigned seed = 0; seed < (order == CUDA_RANDOM ? 20 : 1); seed++)
            for (int k = 0; k < KERNELS; k++) {
                cuda_cpu_schedule((enum cuda_schedule)order, seed);
                assert_right(right_cpu, names[k]);
            }
}

TEST(right, the_same_bits_in_all_orders)
{
    cuda_cpu_all_schedules(true);
    for (int k = 0; k < KERNELS; k++)
        assert_right(right_cpu, names[k]);
}

TEST(right, on_any_number_of_cores)
{
    for (size_t threads = 1; threads <= 5; threads++)
        for (int k = 0; k < KERNELS; k++) {
            cuda_cpu_threads(threads);
            assert_right(right_cpu, names[k]);
        }
}

TEST(right, with_every_access_instrumented)
{
    cuda_cpu_watch(CUDA_WATCH_RACES | CUDA_WATCH_PROFILE | CUDA_WATCH_TRAFFIC);
    for (int order = CUDA_ASCENDING; order <= CUDA_AHEAD; order++)
        for (int k = 0; k < KERNELS; k++) {
            cuda_cpu_schedule((enum cuda_schedule)order, 1);
            assert_right(right_instrumented, names[k]);
        }
}
