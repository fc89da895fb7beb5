/*
 * The ladder of --bench, of a small problem and without waiting: what it says, not how fast it is.
 */
#ifndef COMMON_LADDER_OUTPUT_H
#define COMMON_LADDER_OUTPUT_H

#include "common/program/options.h"
#include "common/tests/command.h"

/*
 * What `climb`, which calls a chapter's bench_ladder, prints on two threads, and after it the first ten
 * columns of its --csv.
 */
struct command ladder_output(void (*climb)(const struct options *options));

/*
 * All parts are there, in this order, nothing is wrong, and the last line of what is printed is the
 * machine: common/peers/peers.py takes it from there, and the pictures its peak. They end with NULL.
 */
void assert_ladder_output(const struct command *c, const char *const parts[]);

#endif
