#include "05_flash_tiled_cpu/program/race.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

void race_begin(struct race *race, const struct attention *p)
{
    race->r = (struct result){ allocate(attention_query_elements(p), sizeof(float), "O"),
                               allocate(attention_rows(p), sizeof(float), "lse") };
    race->candidates[0] = (struct bench){ .name = "peak", .work = bench_fma_work };
    race->count = 0;
}

void race_enter(struct race *race, const struct step *step, const struct attention_input *input,
                const struct options *o)
{
    const size_t k = race->count++;
    const struct job job = { step, input, step_size(step, o, input->p.d), race->r.O, race->r.lse };
    struct attention_check check = attention_check_begin(input, false);
    struct runner *runner = &race->runners[k];
    *runner = speed_line_up(job, &check, o);
    runner->bench = &race->candidates[k + 1];
    *runner->bench = (struct bench){ .name = step->name, .work = speed_work, .arg = &runner->job };
    attention_check_end(&check);
}

void race_run(struct race *race, double seconds)
{
    bench_run(race->candidates, race->count + 1, seconds);
}

size_t race_threads(const struct step *step)
{
    return (step->supports & SUPPORTS_THREADS) ? threads_in_use() : 1;
}

double race_peak(const struct race *race)
{
    return bench_fma_operations() / race->candidates[0].best;
}

struct mark race_mark(const struct race *race, size_t k)
{
    const struct job *job = &race->runners[k].job;
    const struct attention *p = &job->input->p;
    const double flops =
        4.0 * (double)attention_pairs(p) * (double)p->d / race->runners[k].bench->best;
    return (struct mark){ flops, flops / race_peak(race) / (double)race_threads(job->step) };
}

void race_end(struct race *race)
{
    result_free(&race->r);
}
