#ifndef COMMON_CUDA_SETTINGS_H
#define COMMON_CUDA_SETTINGS_H

#include "common/cuda/cpu.h"

#include <cstddef>
#include <cstdint>

namespace cpu
{

struct cuda_settings {
    enum cuda_schedule schedule;
    uint64_t seed;
    bool all_schedules;  // run every launch under all of them, and compare
    size_t threads;      // OS threads; 0: as many as there are cores
    unsigned watch;      // what is done with instrumented accesses: enum cuda_watch
    unsigned patience;   // seconds that a thread may run
    size_t shared;       // bytes of shared memory that a block may ask for
    int devices;         // how many there seem to be
};
extern cuda_settings settings;

}  // namespace cpu

#endif
