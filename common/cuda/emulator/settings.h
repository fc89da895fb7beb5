#ifndef COMMON_CUDA_SETTINGS_H
#define COMMON_CUDA_SETTINGS_H

#include "common/cuda/cpu.h"
#include "common/cuda/emulator/site.h"

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
    int capability;      // of the GPU that is imitated: 75 for 7.5
};
extern cuda_settings settings;

/* Ends the program if the GPU that is imitated is too old for this instruction. */
void needs_capability(int capability, const char *instruction, site at);

}  // namespace cpu

#endif
