#include "common/cuda/emulator/settings.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/shared.h"

namespace cpu
{
cuda_settings settings = { CUDA_ASCENDING, 0, false, 0, 0, 20, SHARED_MOST, 1, 90 };

void needs_capability(int capability, const char *instruction, site at)
{
    const int has = settings.capability;
    if (has < capability)
        refuse_at(at,
                  "%s needs compute capability %d.%d, and this kernel is for GPUs from %d.%d on",
                  instruction, capability / 10, capability % 10, has / 10, has % 10);
}
}  // namespace cpu

void cuda_cpu_schedule(enum cuda_schedule schedule, uint64_t seed)
{
    cpu::settings.schedule = schedule;
    cpu::settings.seed = seed;
}

void cuda_cpu_all_schedules(bool all)
{
    cpu::settings.all_schedules = all;
}

void cuda_cpu_threads(size_t count)
{
    cpu::settings.threads = count;
}

void cuda_cpu_watch(unsigned what)
{
    cpu::settings.watch = what;
}

void cuda_cpu_patience(unsigned seconds)
{
    cpu::settings.patience = seconds;
}

void cuda_cpu_capability(int capability)
{
    cpu::settings.capability = capability;
}

void cuda_cpu_shared(size_t bytes)
{
    cpu::settings.shared = bytes;
}
