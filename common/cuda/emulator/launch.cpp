#include "common/cuda/emulator/launch.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/schedules.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/diagnostics/watchdog.h"
#include "common/cuda/emulator/errors.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/settings.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cpu
{

/* A refused launch does not run, as on a GPU. */
static cudaError_t refusal(const launch *l, char *why, size_t size)
{
    const size_t threads = size_t{ l->block.x } * l->block.y * l->block.z;
    const size_t blocks = size_t{ l->grid.x } * l->grid.y * l->grid.z;
    *why = '\0';
    if (blocks == 0 || threads == 0)
        snprintf(why, size, "a grid of %u x %u x %u blocks of %u x %u x %u threads is empty",
                 l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z);
    else if (threads > MAX_THREADS || l->block.z > 64)
        snprintf(why, size, "a block of %u x %u x %u threads; 1024 are the most, and 64 in z",
                 l->block.x, l->block.y, l->block.z);
    else if (l->grid.x > 0x7fffffff || l->grid.y > 65535 || l->grid.z > 65535)
        snprintf(why, size, "a grid of %u x %u x %u blocks; 65535 are the most in y and z",
                 l->grid.x, l->grid.y, l->grid.z);
    if (*why)
        return cudaErrorInvalidConfiguration;
    if (l->shared > l->shared_limit) {
        snprintf(why, size, "%zu bytes of shared memory; %zu are the most%s", l->shared,
                 l->shared_limit,
                 l->shared_limit == SHARED_USUAL ? " (cudaFuncSetAttribute can raise it)" : "");
        return cudaErrorInvalidValue;
    }
    if (stream_given(l->stream) != cudaSuccess) {
        snprintf(why, size, "its stream is none, or was destroyed");
        return cudaErrorInvalidResourceHandle;
    }
    return cudaSuccess;
}

/* A GPU promises no order of blocks, so it changes with that of the threads. */
static std::vector<size_t> order_of_blocks(size_t blocks)
{
    std::vector<size_t> order(blocks);
    std::iota(order.begin(), order.end(), size_t{ 0 });
    if (settings.schedule == CUDA_DESCENDING)
        std::reverse(order.begin(), order.end());
    std::minstd_rand random(unsigned(settings.seed) + 1);
    for (size_t k = settings.schedule == CUDA_RANDOM ? blocks - 1 : 0; k > 0; k--)
        std::swap(order[k], order[random() % (k + 1)]);
    return order;
}

static void run_blocks(const launch *l, const std::vector<size_t> *order, std::atomic<size_t> *next)
{
    const fault_stack on_faults;
    block *b = block_take(size_t{ l->block.x } * l->block.y * l->block.z);
    for (size_t turn; (turn = (*next)++) < order->size();) {
        const size_t k = (*order)[turn];
        block_run(b, l,
                  { unsigned(k % l->grid.x), unsigned(k / l->grid.x % l->grid.y),
                    unsigned(k / l->grid.x / l->grid.y) });
    }
    block_give(b);
}

void run_grid(launch *l)
{
    static unsigned launches;
    shared_packing packed = {};
    l->number = ++launches;
    l->packed = &packed;
    watch_launch(l);

    std::atomic<size_t> next{ 0 };
    const size_t blocks = size_t{ l->grid.x } * l->grid.y * l->grid.z;
    const std::vector<size_t> order = order_of_blocks(blocks);
    size_t workers = settings.threads ? settings.threads : std::thread::hardware_concurrency();
    if (l->instrumented)
        workers = 1;  // instrumentation is not thread-safe
    std::vector<std::thread> others;
    try {
        for (size_t k = 1; k < std::min(workers, blocks); k++)
            others.emplace_back(run_blocks, l, &order, &next);
    } catch (const std::system_error &) {
        // No more OS threads: the ones we have run all blocks.
    }
    run_blocks(l, &order, &next);
    for (std::thread &t : others)
        t.join();
    watch_launch(nullptr);
}

void run(launch *l)
{
    if (self)
        refuse_at(l->at, "a kernel launches %s: kernels in kernels are not supported", l->name);
    l->shared_limit = shared_limit_of(l->kernel);
    char why[160];
    const cudaError_t error = refusal(l, why, sizeof why);
    if (error != cudaSuccess) {
        launch_failed(error, l, why);
        return;
    }
    memory_expose();
    watchdog_begin();
    if (settings.all_schedules)
        run_all_schedules(l);
    else
        run_grid(l);
    watchdog_end();
    memory_hide();
    memory_check(l);
}

void launch_bounds(size_t threads, size_t, size_t)
{
    if (own->threads.size() > threads)
        refuse_at(
            own->launch->at,
            "a block of %zu threads, and the kernel's __launch_bounds__ allow %zu: a GPU would\n"
            "    not run it",
            own->threads.size(), threads);
}

void check_parameter(const void *p, unsigned number, const launch *l)
{
    if (p && !allocation_of(p))
        refuse_at(l->at,
                  "parameter %u of kernel %s points to host memory, not to memory from cudaMalloc",
                  number, l->name);
}

}  // namespace cpu
