/*
 * The part of the runtime that there is does what CUDA's does.
 */
#include "test.h"

int copies_cpu(void);
int errors_cpu(void);
int device_cpu(void);
int fresh_memory_cpu(void);

static void assert_right(int line)
{
    cr_assert(line == 0, "kernels/runtime.cu:%d does not hold", line);
}

TEST(runtime, copies_between_host_and_device)
{
    assert_right(copies_cpu());
}

TEST(runtime, remembers_errors_until_somebody_asks)
{
    assert_right(errors_cpu());
}

TEST(runtime, has_a_device_streams_and_events)
{
    assert_right(device_cpu());
}

TEST(runtime, gives_memory_that_begins_as_nan)
{
    assert_right(fresh_memory_cpu());
}
