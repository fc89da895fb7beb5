/*
 * A clock for the log of a block: what each unit would do when, if only its own rate and the waits held it up.
 *
 * Each unit works at the rate that is published for one multiprocessor of an H100 SXM5, and on nothing twice. What
 * several warpgroups ask of one unit it does in turn, a piece of each. Everything else takes no time: other instructions, and the
 * way of a message from one unit to another. So this is no measurement and no simulation of a GPU; it says what the kernel's
 * waits allow, and what they forbid.
 */
#ifndef COMMON_CUDA_TIMELINE_CLOCK_H
#define COMMON_CUDA_TIMELINE_CLOCK_H

#include "common/cuda/emulator/diagnostics/timeline.h"

namespace cpu
{

/* Puts the log's jobs on the clock, after those of the launches before. */
void timeline_replay(const timeline_log *log);

}  // namespace cpu

#endif
