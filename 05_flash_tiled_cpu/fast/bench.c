#include "05_flash_tiled_cpu/fast/bench.h"

#include "05_flash_tiled_cpu/fast/pieces.h"
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/lab/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lab lab_random(const struct chapter *chapter, struct attention p,
                             const struct options *o)
{
    struct lab lab = lab_of(chapter, attention_input_random(p, 1), o);
    lab_ready(&lab);
    return lab;
}

static const struct step *complete_of(const struct chapter *chapter)
{
    return step_named(chapter->table, "complete");
}

// ---- options ------------------------------------------------------------------------------------

enum { OPTIONS = 6, MASK_BLOCK = 64 };

static const char *const option_names[OPTIONS] = { "none",           "causal",
                                                   "window 255,0",   "every 8th key hidden",
                                                   "half of blocks", "dropout 0.1" };

/* p with the options of option_names. B = 1, Nq = Nk. */
static void make_option_problems(struct attention p, uint8_t *key_mask, uint8_t *block_mask,
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

static void print_options(const struct round *timed)
{
    report_part("Options");
    report_line("complete, N = %zu, d = %zu, %zu threads; %% of the peak, by unmasked pairs",
                timed->runners[0].p->Nk, timed->runners[0].p->d, threads_in_use());
    report_line("   %-22s %11s %12s %9s", "", "time", "pairs seen", "of peak");
    for (size_t k = 0; k < OPTIONS; k++) {
        const struct attention *p = timed->runners[k].p;
        const double pairs = (double)attention_pairs(p) / (double)p->Nq / (double)p->Nk;
        report_line("   %-22s %8.2f ms %10.1f %% %7.1f %%", option_names[k],
                    1e3 * timed->runners[k].bench->best, 100.0 * pairs,
                    100.0 * round_mark(timed, k).of_peak);
    }
    report_line("with dropout, random numbers take %.0f %% of the time",
                100.0 * (1.0 - timed->runners[0].bench->best / timed->runners[5].bench->best));
}

static void bench_options(const struct chapter *chapter, size_t N, double seconds,
                          const struct options *o)
{
    const size_t blocks = (N - 1) / MASK_BLOCK + 1;
    uint8_t *key_mask = allocate(N, 1, "a key mask"),
            *block_mask = allocate(blocks * blocks, 1, "a block mask");
    struct attention problems[OPTIONS];
    struct lab plain =
                   lab_of(chapter, attention_input_random(attention_of(1, 1, 1, N, N, 64), 1), o),
               labs[OPTIONS];
    struct round timed;
    make_option_problems(plain.input.p, key_mask, block_mask, problems);
    round_begin(&timed, &plain.input.p, plain.x);
    for (size_t k = 0; k < OPTIONS; k++) {
        labs[k] = plain;
        labs[k].input.p = problems[k];
        lab_ready(&labs[k]);
        round_enter(&timed, &labs[k], complete_of(chapter), threads_in_use());
        attention_check_end(&labs[k].check);
    }
    round_run(&timed, seconds);
    print_options(&timed);
    round_end(&timed);
    lab_free(&plain);
    free(key_mask);
    free(block_mask);
}

static double complete_of_peak(const struct chapter *chapter, size_t N, size_t d, double seconds,
                               const struct options *o)
{
    struct lab lab = lab_random(chapter, attention_of(1, 1, 1, N, N, d), o);
    struct round timed;
    round_begin(&timed, &lab.input.p, lab.x);
    round_enter(&timed, &lab, complete_of(chapter), threads_in_use());
    round_run(&timed, seconds);
    const double share = round_mark(&timed, 0).of_peak;
    round_end(&timed);
    lab_free(&lab);
    return share;
}

static double thread_speedup(const struct chapter *chapter, size_t N, size_t d, double seconds,
                             const struct options *o)
{
    struct lab lab = lab_random(chapter, attention_of(1, 1, 1, N, N, d), o);
    struct round timed;
    round_begin(&timed, &lab.input.p, lab.x);
    round_enter(&timed, &lab, complete_of(chapter), threads_in_use());
    round_enter(&timed, &lab, complete_of(chapter), 1);
    round_run(&timed, seconds);
    const double gain = timed.runners[1].bench->best / timed.runners[0].bench->best;
    round_end(&timed);
    lab_free(&lab);
    return gain;
}

static void bench_shapes(const struct chapter *chapter, size_t N, double seconds,
                         const struct options *o)
{
    static const size_t widths[] = { 32, 64, 71, 80, 96, 100, 128, 256 };
    const double each = seconds / 20.0;
    report_part("Shapes");
    report_line("complete, one head, %zu threads; of the peak", threads_in_use());
    report_line("     d   N = %-8zu N = %zu", N, N - 1);
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
        report_line("   %3zu %8.1f %% %10.1f %%", widths[k],
                    100.0 * complete_of_peak(chapter, N, widths[k], each, o),
                    100.0 * complete_of_peak(chapter, N - 1, widths[k], each, o));
    if (threads_in_use() > 1)
        report_line("%zu threads are %.2f times as fast as one at N = %zu, d = 64",
                    threads_in_use(), thread_speedup(chapter, 2 * N, 64, 4.0 * each, o), 2 * N);
}

// ---- pieces -------------------------------------------------------------------------------------

static void bench_pieces(double seconds)
{
    enum { TILE = 128, LONG = 2048, d = 64 };
    double share[PIECES], once = 0.0, each = 0.0;
    pieces_measure(TILE, d, seconds, share);
    report_part("Pieces");
    report_line("of overlap, timed alone, for %d keys and d = %d; 100 %%: both products", TILE, d);
    report_line("at the peak");
    for (int k = 0; k < PIECE_SPLIT; k++) {
        const bool once_a_group = k == PIECE_BEGIN || k == PIECE_END;
        *(once_a_group ? &once : &each) += share[k];
        report_line("   %-38s %6.1f %%%s", piece_names[k], 100.0 * share[k],
                    once_a_group ? "   once per group" : "");
    }
    report_line("   in sequence: %.0f %% of the peak at N = %d, %.0f %% at N = %d",
                100.0 / (each + once), TILE, 100.0 / (each + once * TILE / LONG), LONG);
    report_line("complete, %s: %.1f %% of %d keys' products", piece_names[PIECE_SPLIT],
                100.0 * share[PIECE_SPLIT] * (double)TILE / (double)SPLIT_KEYS, SPLIT_KEYS);
}

// ---- ladder -------------------------------------------------------------------------------------

/* standard, fa2 and the vector steps, which have no formula. */
static size_t choose_rungs(const struct step_table *table, struct rung rungs[ROUND_MOST])
{
    size_t count = 0;
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (!step->formula || strcmp(step->name, "standard") == 0 || strcmp(step->name, "fa2") == 0)
            rungs[count++] = (struct rung){ .step = step, .one_thread = false };
    return count;
}

void bench_all(const struct chapter *chapter, size_t N, double seconds, const struct options *o)
{
    struct rung rungs[ROUND_MOST];
    const size_t count = choose_rungs(chapter->table, rungs);
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    const double peak = speed_ladder(chapter, rungs, count, N, seconds, lab_random, o, csv);
    bench_options(chapter, N, 0.4 * seconds, o);
    bench_shapes(chapter, N, seconds, o);
    bench_pieces(0.2 * seconds);
    report_line("%s; one core: %.1f GFLOP/s of FMA, %.1f GB/s copied", bench_machine(), 1e-9 * peak,
                1e-9 * bench_copy_bandwidth());
    if (o->csv)
        report_csv(o->csv, csv);
}

// ---- "Fast" -------------------------------------------------------------------------------------

static const struct {
    const char *step, *idea;
} ideas[] = {
    { "fa2", "" },
    { "loops", "queries side by side" },
    { "polynomial", "2^x by a polynomial" },
    { "block", "sums in registers" },
    { "complete", "threads, and every option" },
};
enum { IDEAS = sizeof ideas / sizeof ideas[0] };

void bench_fast(const struct chapter *chapter, size_t N, double seconds, const struct options *o)
{
    struct lab lab = lab_random(chapter, attention_of(1, 1, 1, N, N, 64), o);
    struct round timed;
    char time[24], gain[24] = "";
    round_begin(&timed, &lab.input.p, lab.x);
    for (size_t k = 0; k < IDEAS; k++) {
        const struct step *step = step_named(chapter->table, ideas[k].step);
        round_enter(&timed, &lab, step, round_threads(step));
    }
    round_run(&timed, seconds);
    report_part("Fast");
    report_line("one head, N = %zu, d = 64; fa2 and these on one core, complete on %zu", N,
                threads_in_use());
    for (size_t k = 0; k < IDEAS; k++) {
        const double now = timed.runners[k].bench->best;
        if (k > 0)
            snprintf(gain, sizeof gain,
                     "%.1f times as fast:", timed.runners[k - 1].bench->best / now);
        report_line("%-11s%10s %22s  %s", ideas[k].step, report_milliseconds(now, time), gain,
                    ideas[k].idea);
    }
    report_line("%.0f times as fast in all; %s",
                timed.runners[0].bench->best / timed.runners[IDEAS - 1].bench->best,
                bench_machine());
    round_end(&timed);
    lab_free(&lab);
}
