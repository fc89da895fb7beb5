#include "05_flash_tiled_cpu/program/costs.h"

#include "05_flash_tiled_cpu/fast/pieces.h"
#include "05_flash_tiled_cpu/program/bench_round.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

#include <stdlib.h>

// ---- what an option costs -----------------------------------------------------------------------

enum { OPTIONS = 6, MASK_BLOCK = 64 };

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

static void print_options(const struct bench_round *timed)
{
    report_part("Options");
    report_line("complete, N = %zu, d = %zu, %zu threads; %% of the peak by the pairs seen",
                timed->runners[0].job.input->p.Nk, timed->runners[0].job.input->p.d,
                threads_in_use());
    report_line("   %-22s %11s %12s %9s", "", "time", "pairs seen", "of peak");
    for (size_t k = 0; k < OPTIONS; k++) {
        const struct attention *p = &timed->runners[k].job.input->p;
        const double pairs = (double)attention_pairs(p) / (double)p->Nq / (double)p->Nk;
        report_line("   %-22s %8.2f ms %10.1f %% %7.1f %%", option_names[k],
                    1e3 * timed->runners[k].bench->best, 100.0 * pairs,
                    100.0 * round_mark(timed, k).of_peak);
    }
    report_line("of the time with dropout its random numbers take %.0f %%",
                100.0 * (1.0 - timed->runners[0].bench->best / timed->runners[5].bench->best));
}

void bench_options(size_t N, double seconds, const struct options *o)
{
    const size_t blocks = (N - 1) / MASK_BLOCK + 1;
    uint8_t *key_mask = allocate(N, 1, "a key mask"),
            *block_mask = allocate(blocks * blocks, 1, "a block mask");
    struct attention problems[OPTIONS];
    struct attention_input inputs[OPTIONS],
        plain = attention_input_random(attention_of(1, 1, 1, N, N, 64), 1);
    struct bench_round timed;
    with_options(plain.p, key_mask, block_mask, problems);
    round_begin(&timed, &plain.p);
    for (size_t k = 0; k < OPTIONS; k++) {
        inputs[k] = plain;
        inputs[k].p = problems[k];
        round_enter(&timed, &steps[COMPLETE], &inputs[k], o);
    }
    round_run(&timed, seconds);
    print_options(&timed);
    round_end(&timed);
    attention_input_free(&plain);
    free(key_mask);
    free(block_mask);
}

// ---- shapes -------------------------------------------------------------------------------------

/* How near the peak `complete` comes with these lengths and widths. */
static double of_peak(size_t N, size_t d, double seconds, const struct options *o)
{
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, d), 1);
    struct bench_round timed;
    round_begin(&timed, &input.p);
    round_enter(&timed, &steps[COMPLETE], &input, o);
    round_run(&timed, seconds);
    const double share = round_mark(&timed, 0).of_peak;
    round_end(&timed);
    attention_input_free(&input);
    return share;
}

static void work_on_one_thread(void *job)
{
    const size_t all = threads_in_use();
    threads_use(1);
    speed_work(job);
    threads_use(all);
}

/* How many times as fast one head is on all threads. */
static double gain_of_threads(size_t N, size_t d, double seconds, const struct options *o)
{
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, d), 1);
    struct bench_round timed;
    round_begin(&timed, &input.p);
    round_enter(&timed, &steps[COMPLETE], &input, o);
    round_enter(&timed, &steps[COMPLETE], &input, o);
    timed.runners[1].bench->work = work_on_one_thread;
    round_run(&timed, seconds);
    const double gain = timed.runners[1].bench->best / timed.runners[0].bench->best;
    round_end(&timed);
    attention_input_free(&input);
    return gain;
}

void bench_shapes(size_t N, double seconds, const struct options *o)
{
    static const size_t widths[] = { 32, 64, 71, 80, 96, 100, 128, 256 };
    const double each = seconds / 20.0;  // two for a width, and some for the threads
    report_part("Shapes");
    report_line("complete, one head, %zu threads; of the peak", threads_in_use());
    report_line("     d   N = %-8zu N = %zu", N, N - 1);
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
        report_line("   %3zu %8.1f %% %10.1f %%", widths[k], 100.0 * of_peak(N, widths[k], each, o),
                    100.0 * of_peak(N - 1, widths[k], each, o));
    if (threads_in_use() > 1)
        report_line("%zu threads take N = %zu, d = 64 %.2f times as fast as one", threads_in_use(),
                    2 * N, gain_of_threads(2 * N, 64, 4.0 * each, o));
}

// ---- pieces -------------------------------------------------------------------------------------

void bench_pieces(double seconds)
{
    enum { TILE = 128, LONG = 2048, d = 64 };
    double share[PIECES], once = 0.0, each = 0.0;
    pieces_measure(TILE, d, seconds, share);
    report_part("Pieces");
    report_line("of overlap, each alone, for %d keys and d = %d; 100 %% is what the products", TILE,
                d);
    report_line("take at the peak");
    for (int k = 0; k < PIECES; k++) {
        const bool once_a_group = k == PIECE_BEGIN || k == PIECE_END;
        *(once_a_group ? &once : &each) += share[k];
        report_line("   %-38s %6.1f %%%s", piece_names[k], 100.0 * share[k],
                    once_a_group ? "   once, however many the keys" : "");
    }
    report_line("   one after the other: %.0f %% of the peak at N = %d, %.0f %% at N = %d",
                100.0 / (each + once), TILE, 100.0 / (each + once * TILE / LONG), LONG);
}
