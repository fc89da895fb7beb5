/*
 * How long the steps take.
 */
#ifndef FLASH_TILED_SPEED_H
#define FLASH_TILED_SPEED_H

#include "05_flash_tiled_cpu/program/chapter.h"
#include "common/check/attention_check.h"
#include "common/measure/bench.h"
#include "common/program/options.h"

/*
 * The part "Speed": the steps that can do the problem, checked and timed in turn; or, unless it is
 * NULL, only `only` and the stage before it. Written to --csv too.
 */
void bench_steps(const struct step *only, const struct attention_input *input,
                 const struct options *options);

/*
 * The part "Ladder": from S and P in memory to the last step, one head of N queries and keys, d = 64 and
 * 128, without a mask and causal, timed in turn with the machine's peak, in about so many seconds each.
 * Written to --csv too. Then the parts "Options", "Shapes" and "Pieces" (costs.h). The last line is the
 * machine.
 */
void bench_ladder(size_t N, double seconds, const struct options *options);

/* The part "Fast": fa2, and the steps that make it fast (pages/fast.md), one head of N queries and keys, in so many seconds. */
void bench_fast(size_t N, double seconds, const struct options *options);

/* Seconds that the step takes, the best of some runs in about so many seconds. */
double speed_of(const struct step *step, const struct attention_input *input, struct tile_size size,
                double seconds);

// ---- for the two of them ------------------------------------------------------------------------

struct job {
    const struct step *step;
    const struct attention_input *input;
    struct tile_size size;
    float *O, *lse;
};

/* Does a struct job: what is timed. */
void speed_work(void *struct_job);

/* A job, how long it took, and how far it was off. */
struct runner {
    struct job job;
    struct bench *bench;
    double error;
};

/* A step is checked before it is timed. If it is wrong, so is the verdict. */
struct runner speed_line_up(struct job job, const struct attention_check *check,
                            const struct options *options);

/* One line of --csv, whose columns are those of REPORT_SPEED_CSV. */
enum { SPEED_CSV_LINE = 300 };
void speed_csv_line(char line[SPEED_CSV_LINE], const struct runner *runner, size_t threads,
                    double flops, double peak, const char *ratio);

#endif
