/*
 * The chapter's first two kernels: right for every length, and without a race.
 */
#include "06_flash_tiled_cuda/kernels/0_first_steps/first_steps.h"
#include "common/cuda/cpu.h"
#include "common/lab/device.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

DECLARE_LAUNCHERS(add_launcher, add_vectors)
DECLARE_LAUNCHERS(sum_launcher, sum_row)

enum { MOST = 1025 };
static const size_t lengths[] = { 0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, MOST };
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void assert_adds(add_launcher *add, size_t n)
{
    float a[MOST + 1], b[MOST + 1], c[MOST + 1];
    random_normals(a, MOST + 1, 1, 0);
    random_normals(b, MOST + 1, 2, 0);
    memset(c, 0xff, sizeof c);  // NaN
    add(a, b, c, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(c[i] == a[i] + b[i], "n %zu: element %zu is %g, expected %g", n, i, (double)c[i],
                  (double)(a[i] + b[i]));
    cr_assert(isnan(c[n]), "n %zu: element %zu is written", n, n);
}

static void assert_sums(sum_launcher *sum, size_t n)
{
    float x[MOST + 1];
    double right = 0.0, size = 0.0;
    random_normals(x, MOST + 1, 3, 0);
    x[n] = NAN;
    for (size_t i = 0; i < n; i++)
        right += (double)x[i], size += fabs((double)x[i]);
    const double off = fabs((double)sum(x, n) - right);
    cr_assert(off <= 16.0 * 6e-8 * size, "n %zu: off by %g", n,
              off);  // 4 terms per thread, then 8 rounds
}

TEST(first_steps, are_right_for_every_length)
{
    for (size_t k = 0; k < LENGTHS; k++) {
        assert_adds(add_vectors_cpu, lengths[k]);
        assert_sums(sum_row_cpu, lengths[k]);
    }
}

TEST(first_steps, leave_no_race)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);  // a race ends the process
    assert_adds(add_vectors_instrumented, 300);
    assert_sums(sum_row_instrumented, 300);
    cuda_cpu_watch(0);
}

TEST(first_steps, do_not_depend_on_the_order_of_threads)
{
    cuda_cpu_all_schedules(true);
    assert_adds(add_vectors_cpu, 300);
    assert_sums(sum_row_cpu, 300);
    cuda_cpu_all_schedules(false);
}
