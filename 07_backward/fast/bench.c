#include "07_backward/fast/bench.h"

#include "07_backward/steps/forward.h"
#include "common/lab/speed.h"

#include <stdio.h>

static struct lab lab_of_ladder(const struct chapter *chapter, struct attention p,
                                const struct options *o)
{
    struct options seed_1 = *o;
    seed_1.seed = 1;
    struct lab lab = backward_random(chapter, p, &seed_1);
    lab_ready(&lab);
    return lab;
}

void backward_ladder(const struct chapter *chapter, size_t N, double seconds,
                     const struct options *o)
{
    const struct step *const complete = step_named(chapter->table, "complete");
    const struct rung rungs[] = { { step_named(chapter->table, "standard"), true },
                                  { step_named(chapter->table, "fa2"), true },
                                  { complete, true },
                                  { complete, false } };
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    const double peak = speed_ladder(chapter, rungs, sizeof rungs / sizeof rungs[0], N, seconds,
                                     lab_of_ladder, o, csv);
    report_line("%s; one core: %.1f GFLOP/s of FMA, %.1f GB/s copied", bench_machine(), 1e-9 * peak,
                1e-9 * bench_copy_bandwidth());
    if (o->csv)
        report_csv(o->csv, csv);
}
