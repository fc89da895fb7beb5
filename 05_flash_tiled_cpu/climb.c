/*
 * The whole ladder, timed.
 *
 * The machine's peak takes its turn among the rungs: what is measured at another moment is no measure.
 */
#include "ladder.h"
#include "memory.h"
#include "rungs/pieces.h"
#include "speed.h"
#include "stages.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>

static const enum step_name on_the_ladder[] = { STANDARD, FA2,  LOOPS,   POLYNOMIAL, REGISTERS,
                                                BLOCK,    SKIP, OVERLAP, THREADS,    COMPLETE };
enum {
    LADDER = sizeof on_the_ladder / sizeof on_the_ladder[0],
    CASES = 4,
    OPTIONS = 6,
    MASK_BLOCK = 64,
    PARTS = CASES + 2  // of the measurement
};

/* What one rung did in one case: operations per second, of so many threads' peak; 0 if it cannot. */
struct mark {
    double flops, of_peak;
};

/* Steps on one problem, with the peak as candidate 0. */
struct race {
    struct attention_input input;
    struct attention_check check;
    struct result r;
    struct runner runners[LADDER];
    struct bench candidates[LADDER + 1];
    size_t count;
};

static void race_begin(struct race *race, struct attention p)
{
    race->input = attention_input_random(p, 1);
    race->check = attention_check_begin(&race->input, false);
    race->r = (struct result){ allocate(attention_query_elements(&p), sizeof(float), "O"),
                               allocate(attention_rows(&p), sizeof(float), "lse") };
    race->candidates[0] = (struct bench){ .name = "peak", .work = bench_fma_work };
    race->count = 0;
}

static void race_enter(struct race *race, const struct step *step, const struct options *o)
{
    const size_t k = race->count++;
    const struct job job = { step, &race->input, step_size(step, o, race->input.p.d), race->r.O,
                             race->r.lse };
    struct runner *runner = &race->runners[k];
    *runner = speed_line_up(job, &race->check, o);
    runner->bench = &race->candidates[k + 1];
    *runner->bench = (struct bench){ .name = step->name, .work = speed_work, .arg = &runner->job };
}

static size_t threads_of(const struct step *step)
{
    return step->threads ? threads_in_use() : 1;
}

static struct mark race_mark(const struct race *race, size_t k)
{
    const struct attention *p = &race->input.p;
    const double peak = bench_fma_operations() / race->candidates[0].best,
                 flops =
                     4.0 * (double)attention_pairs(p) * (double)p->d / race->runners[k].bench->best;
    return (struct mark){ flops, flops / peak / (double)threads_of(race->runners[k].job.step) };
}

static void race_end(struct race *race)
{
    result_free(&race->r);
    attention_check_end(&race->check);
    attention_input_free(&race->input);
}

/* The rungs on one problem. Returns the peak of one core, in operations per second. */
static double climb(struct attention p, const struct options *o, struct mark marks[LADDER],
                    char *csv)
{
    struct race race;
    size_t where[LADDER];
    race_begin(&race, p);
    for (size_t k = 0; k < LADDER; k++) {
        marks[k] = (struct mark){ 0 };
        if (!step_lacks(&steps[on_the_ladder[k]], &p)) {
            where[race.count] = k;
            race_enter(&race, &steps[on_the_ladder[k]], o);
        }
    }
    bench_run(race.candidates, race.count + 1, 10.0);

    const double peak = bench_fma_operations() / race.candidates[0].best;
    for (size_t n = 0; n < race.count; n++) {
        const struct runner *runner = &race.runners[n];
        char line[SPEED_CSV_LINE], ratio[24] = "";
        if (n > 0)
            snprintf(ratio, sizeof ratio, "%.3f", runner[-1].bench->best / runner->bench->best);
        marks[where[n]] = race_mark(&race, n);
        speed_csv_line(line, runner, threads_of(runner->job.step), marks[where[n]].flops, peak,
                       ratio);
        ladder_append(csv, line);
    }
    race_end(&race);
    return peak;
}

static void tell_ladder(struct mark marks[CASES][LADDER], size_t N)
{
    report_part("Ladder");
    report_line("one head, N = %zu; GFLOP/s, and of the peak of so many cores", N);
    report_line(" # %-12s%7s %16s %16s %16s %16s", "kernel", "threads", "d 64", "causal", "d 128",
                "causal");
    for (size_t k = 0; k < LADDER; k++) {
        const struct step *step = &steps[on_the_ladder[k]];
        char name[24], cell[CASES][24];
        ladder_name(step, name);
        for (size_t n = 0; n < CASES; n++)
            if (marks[n][k].flops > 0.0)
                snprintf(cell[n], sizeof cell[n], "%.1f %5.1f %%", 1e-9 * marks[n][k].flops,
                         100.0 * marks[n][k].of_peak);
            else
                snprintf(cell[n], sizeof cell[n], "-");
        report_line("%s%7zu %16s %16s %16s %16s", name, threads_of(step), cell[0], cell[1], cell[2],
                    cell[3]);
    }
}

// ---- what an option costs -----------------------------------------------------------------------

static const char *const option_names[OPTIONS] = { "none",           "causal",
                                                   "window 255,0",   "every 8th key hidden",
                                                   "half of blocks", "dropout 0.1" };

/* The same problem with one option each; the masks are filled for N = p.Nk. */
static void with_options(struct attention p, uint8_t *key_mask, uint8_t *block_mask,
                         struct attention problems[OPTIONS])
{
    const size_t blocks = (p.Nk - 1) / MASK_BLOCK + 1;
    for (size_t j = 0; j < p.Nk; j++)
        key_mask[j] = j % 8 != 0;
    for (size_t k = 0; k < blocks * blocks; k++)
        block_mask[k] = (k / blocks + k % blocks) % 2 == 0;
    for (size_t k = 0; k < OPTIONS; k++)
        problems[k] = p;
    problems[1].causal = problems[2].causal = true;
    problems[2].window_left = 255;
    problems[3].key_mask = key_mask;
    problems[4].block_mask = block_mask;
    problems[4].mask_rows = problems[4].mask_cols = MASK_BLOCK;
    attention_set_dropout(&problems[5], 0.1, 1);
}

static void tell_options(const struct race *race, const struct attention problems[OPTIONS])
{
    const double peak = bench_fma_operations() / race->candidates[0].best;
    report_part("Options");
    report_line("complete, N = %zu, d = %zu, %zu threads; %% of the peak by the pairs seen",
                problems->Nk, problems->d, threads_in_use());
    report_line("   %-22s %11s %12s %9s", "", "time", "pairs seen", "of peak");
    for (size_t k = 0; k < OPTIONS; k++) {
        const double pairs = (double)attention_pairs(&problems[k]), N = (double)problems[k].Nk,
                     seconds = race->runners[k].bench->best,
                     flops = 4.0 * pairs * (double)problems[k].d / seconds;
        report_line("   %-22s %8.2f ms %10.1f %% %7.1f %%", option_names[k], 1e3 * seconds,
                    100.0 * pairs / N / N, 100.0 * flops / peak / (double)threads_in_use());
    }
    report_line("of the time with dropout its random numbers take %.0f %%",
                100.0 * (1.0 - race->runners[0].bench->best / race->runners[5].bench->best));
}

/* What each option costs `complete`, timed in turn. */
static void bench_options(size_t N, const struct options *o)
{
    const size_t blocks = (N - 1) / MASK_BLOCK + 1;
    uint8_t *key_mask = allocate(N, 1, "a key mask"),
            *block_mask = allocate(blocks * blocks, 1, "a block mask");
    const struct attention plain = attention_of(1, 1, 1, N, N, 64);
    struct attention problems[OPTIONS];
    struct attention_input inputs[OPTIONS];
    struct race race;
    with_options(plain, key_mask, block_mask, problems);
    race_begin(&race, plain);
    for (size_t k = 0; k < OPTIONS; k++) {
        race_enter(&race, &steps[COMPLETE], o);
        inputs[k] = race.input;
        inputs[k].p = problems[k];
        race.runners[k].job.input = &inputs[k];
    }
    bench_run(race.candidates, race.count + 1, 4.0);
    tell_options(&race, problems);
    race_end(&race);
    free(key_mask);
    free(block_mask);
}

/* Where the time of `overlap` goes: the pieces, each alone. */
static void tell_pieces(size_t d)
{
    enum { TILE = 128, LONG = 2048 };
    double share[PIECES], once = 0.0, each = 0.0;
    pieces_measure(TILE, d, share);
    for (int k = 0; k < PIECES; k++) {
        const bool once_a_group = k == PIECE_BEGIN || k == PIECE_END;
        *(once_a_group ? &once : &each) += share[k];
        report_line("   %-38s %6.1f %%%s", piece_names[k], 100.0 * share[k],
                    once_a_group ? "   once, however many the keys" : "");
    }
    report_line("   so at most %.0f %% of the peak at N = %d, %.0f %% at N = %d",
                100.0 / (each + once), TILE, 100.0 / (each + once * TILE / LONG), LONG);
}

void bench_ladder(size_t N, const struct options *o)
{
    struct mark marks[CASES][LADDER];
    char csv[LADDER_CSV] = SPEED_CSV_TITLE;
    double peak = 0.0;
    for (size_t n = 0; n < CASES; n++) {
        struct attention p = attention_of(1, 1, 1, N, N, n < 2 ? 64 : 128);
        p.causal = n % 2;
        bench_progress(n, PARTS);
        peak = climb(p, o, marks[n], csv);
    }
    tell_ladder(marks, N);
    bench_progress(CASES, PARTS);
    bench_options(N, o);
    bench_progress(CASES + 1, PARTS);
    report_part("Pieces");
    report_line("of overlap, each alone, for 128 keys and d = 64; 100 %% is what the products");
    report_line("take at the peak");
    tell_pieces(64);
    bench_progress(0, 1);
    report_line("%s; one core: %.1f GFLOP/s of FMA, %.1f GB/s copied", bench_machine(), 1e-9 * peak,
                1e-9 * bench_copy_bandwidth());
    if (o->csv)
        report_csv(o->csv, csv);
}
