#include "common/cuda/cpu.h"

#include "common/tests/test.h"

int copies_cpu(void);
int errors_cpu(void);
int device_cpu(void);
int streams_cpu(void);
int devices_cpu(void);
int fresh_memory_cpu(void);
int shared_memory_cpu(int most);

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

TEST(runtime, counts_what_a_stream_is_given)
{
    assert_right(streams_cpu());
}

TEST(runtime, has_as_many_devices_as_it_is_told_to)
{
    assert_right(devices_cpu());
}

TEST(runtime, gives_memory_that_begins_as_nan)
{
    assert_right(fresh_memory_cpu());
}

TEST(runtime, gives_a_block_the_shared_memory_that_it_is_told_to)
{
    assert_right(shared_memory_cpu(227 * 1024));
    cuda_cpu_shared(99 * 1024);
    assert_right(shared_memory_cpu(99 * 1024));
}
