#include "common/cuda/emulator/engine.h"
#include "common/cuda/emulator/shared.h"

namespace cpu
{
engine_settings engine = { CUDA_ASCENDING, 0, false, 0, 0, 20, SHARED_MOST };
}

void cuda_cpu_schedule(enum cuda_schedule schedule, uint64_t seed)
{
    cpu::engine.schedule = schedule;
    cpu::engine.seed = seed;
}

void cuda_cpu_all_schedules(bool all)
{
    cpu::engine.all_schedules = all;
}

void cuda_cpu_threads(size_t count)
{
    cpu::engine.threads = count;
}

void cuda_cpu_watch(unsigned what)
{
    cpu::engine.watch = what;
}

void cuda_cpu_patience(unsigned seconds)
{
    cpu::engine.patience = seconds;
}

void cuda_cpu_shared(size_t bytes)
{
    cpu::engine.shared = bytes;
}
