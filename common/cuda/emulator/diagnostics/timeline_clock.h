/*
 * Replays a block's log with a clock: when each unit would work, limited only by its own rate and
 * the waits.
 *
 * Each unit has the published rate of one multiprocessor of an H100 SXM5 and serves several
 * warpgroups in turn. Everything else takes no time: other instructions, and latencies between
 * units. So this neither measures nor simulates a GPU; it shows what the kernel's waits allow.
 */
#ifndef COMMON_CUDA_TIMELINE_CLOCK_H
#define COMMON_CUDA_TIMELINE_CLOCK_H

#include "common/cuda/emulator/diagnostics/timeline.h"

namespace cpu
{

/* Appends the log's jobs to the timeline, after earlier launches. */
void timeline_replay(const timeline_log *log);

}  // namespace cpu

#endif
