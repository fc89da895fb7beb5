#include "05_flash_tiled_cpu/program/bench_round.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

void round_begin(struct bench_round *timed, const struct attention *p)
{
    timed->r = (struct result){ allocate(attention_query_elements(p), sizeof(float), "O"),
                                allocate(attention_rows(p), sizeof(float), "lse") };
    timed->candidates[0] = (struct bench){ .name = "peak", .work = bench_fma_work };
    timed->count = 0;
}

void round_enter(struct bench_round *timed, const struct step *step,
                 const struct attention_input *input, const struct options *o)
{
    const size_t k = timed->count++;
    const struct job job = { step, input, step_size(step, o, input->p.d), timed->r.O,
                             timed->r.lse };
    struct attention_check check = attention_check_begin(input, false);
    struct runner *runner = &timed->runners[k];
    *runner = speed_line_up(job, &check, o);
    runner->bench = &timed->candidates[k + 1];
    *runner->bench = (struct bench){ .name = step->name, .work = speed_work, .arg = &runner->job };
    attention_check_end(&check);
}

void round_run(struct bench_round *timed, double seconds)
{
    bench_run(timed->candidates, timed->count + 1, seconds);
}

size_t round_threads(const struct step *step)
{
    return (step->supports & SUPPORTS_THREADS) ? threads_in_use() : 1;
}

double round_peak(const struct bench_round *timed)
{
    return bench_fma_operations() / timed->candidates[0].best;
}

struct mark round_mark(const struct bench_round *timed, size_t k)
{
    const struct job *job = &timed->runners[k].job;
    const struct attention *p = &job->input->p;
    const double flops =
        4.0 * (double)attention_pairs(p) * (double)p->d / timed->runners[k].bench->best;
    return (struct mark){ flops, flops / round_peak(timed) / (double)round_threads(job->step) };
}

void round_end(struct bench_round *timed)
{
    result_free(&timed->r);
}
