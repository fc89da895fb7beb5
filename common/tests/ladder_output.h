/*
 * The output of --bench's ladder on a small problem; timings are not tested.
 */
#ifndef COMMON_LADDER_OUTPUT_H
#define COMMON_LADDER_OUTPUT_H

#include "common/program/options.h"
#include "common/tests/command.h"

/*
 * The output on two threads of `climb`, which calls a chapter's bench_ladder, then the first ten
 * columns of its --csv.
 */
struct command ladder_output(void (*climb)(const struct options *options));

/*
 * The parts (NULL-terminated) appear in order, the verdict is right, and the last line is the
 * machine: common/peers/peers.py and the plots parse it.
 */
void assert_ladder_output(const struct command *c, const char *const parts[]);

#endif
