/*
 * Replays a block's log: each unit has the published rate of one multiprocessor of an H100 SXM5 and
 * serves warpgroups in turn. All else takes no time: other instructions, latencies. So this neither
 * measures nor simulates a GPU; it shows what the kernel's waits allow.
 */
#ifndef COMMON_CUDA_TIMELINE_CLOCK_H
#define COMMON_CUDA_TIMELINE_CLOCK_H

#include "common/cuda/emulator/diagnostics/timeline.h"

namespace cpu
{

void timeline_replay(const timeline_log *log);

}  // namespace cpu

#endif
