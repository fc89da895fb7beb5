/*
 * Chapter 05 as a program: every step, what it reads and writes, and whether it is right.
 */
#include "05_flash_tiled_cpu/program/ladder.h"
#include "05_flash_tiled_cpu/program/speed.h"
#include "05_flash_tiled_cpu/program/stages.h"
#include "05_flash_tiled_cpu/program/story.h"
#include "05_flash_tiled_cpu/program/trace.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/program/attention_files.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdio.h>
#include <string.h>

enum { LADDER_N = 2048, LADDER_SECONDS = 10, FAST_N = 2048, FAST_SECONDS = 6 };

static const struct program program = {
    .chapter = 5,
    .name = "05_flash_tiled_cpu",
    .summary = "attention by tiles, exact, with O(N) memory",
    .example = "--n-q 203 --n-k 113 --d 40 --causal --window 50,0 --dropout 0.1 --step all",
};

// ---- one step, told whole -----------------------------------------------------------------------

static void print_tiles(const struct step *step, const struct attention *p, struct tile_size size)
{
    const size_t splits = step->stores & STORES_SPLITS ? split_count(p) : 1;
    const struct tile_counts tiles = count_tiles_in_splits(p, size, splits);
    char full[32], partial[32], skipped[32];
    report_part("Tiles");
    report_line("%s, with Br = %zu queries and Bc = %zu keys", step->name, size.Br, size.Bc);
    report_line("%s tiles full, %s partial, %s skipped",
                report_number(tiles.of_kind[TILE_FULL], full),
                report_number(tiles.of_kind[TILE_PARTIAL], partial),
                report_number(tiles.of_kind[TILE_SKIPPED], skipped));
    if (splits > 1)
        report_line("the keys in %zu splits, each with tiles of its own", splits);
}

static void print_counts(const struct step *step, const struct count *count,
                         const struct options *o)
{
    const bool from_M = o->sram || (step->usual.Br == 0 && !o->br && !o->bc);
    char held[32], M[32];
    report_line(from_M ? "%s elements of fast memory held, where M is %s"
                       : "%s elements of fast memory held",
                report_number(count->fast_bytes / sizeof(float), held),
                report_number(o->sram ? o->sram : USUAL_M, M));
    step_report_count(count);
}

/* Accesses of vectors are not counted: complete goes through its tiles as one of these does, an element at a time. */
static const struct step *in_plain_c(const struct step *step, const struct attention *p)
{
    if (step->predict || step != &steps[COMPLETE])
        return step;
    return &steps[score_option(p) ? SOFTCAP : split_count(p) > 1 ? SPLIT_KV : DROPOUT];
}

static void print_step(const struct step *step, const struct attention_input *input,
                       const struct options *o)
{
    const struct tile_size size = step_size(step, o, input->p.d);
    struct attention_check check = attention_check_begin(input, o->verify_all);
    const struct step *plain = in_plain_c(step, &input->p);
    struct count count = { .total = 0 };
    if (can_be_counted(plain, &input->p) && (plain == step || o->csv))
        count = count_step(plain, input, size);
    if (is_small(&input->p) && plain->predict)
        print_tiles(step, &input->p, size);
    if (plain == step && count.total > 0) {
        print_counts(step, &count, o);
    } else if (plain->predict && !CAN_WATCH) {
        report_not_counted("Counted");
    } else {
        report_part("Counted");
        if (!step->predict)
            report_line("not done: the step goes through its tiles as %s does",
                        plain == step ? "fa2" : plain->name);
        else
            report_line("left out: a counted run of a problem of this size takes long");
    }
    struct result r = step_run(step, input, size);
    // Where no step was chosen it is the chapter that is compared, and what comes before it is chapter 04, if it can.
    const bool chosen = o->step || input->p.dropout_threshold > 0 || score_option(&input->p);
    struct previous previous =
        previous_run(chosen ? step_before(step, &input->p) : NULL, input, &check, o);
    const struct attention_errors e = step_check(step, input, &check, &previous, &r, true);
    attention_write(o, input, r.O, r.lse);
    if (o->csv && !o->bench)
        step_write_csv(o->csv, plain->formula, &count, speed_of(step, input, size, 0.05),
                       previous.name, e);
    previous_free(&previous);
    result_free(&r);
    attention_check_end(&check);
}

// ---- the command line ---------------------------------------------------------------------------

/* What is asked for besides a verdict must be there: steps before fa1 have no m, l or lse. */
static void check_requested(const struct step *step, const struct attention *p,
                            const struct options *o)
{
    const char *const single = o->trace ? "--trace" : options_single(o);
    const char *const statistics = o->lse ? "--lse" : "--trace";
    if (!step && single)
        options_fail(single, "expected one --step with it, not all");
    if (step && (o->lse || o->trace) && !(step->supports & SUPPORTS_LSE))
        options_fail(statistics, "expected a --step from fa1 on, found %s", step->name);
    if (o->trace && !(step->supports & SUPPORTS_TRACE))
        options_fail("--trace", "expected a --step from fa1 to split_kv, found %s", step->name);
    if (step && o->threads > 1 && !(step->supports & SUPPORTS_THREADS))
        options_fail("--threads", "expected 1, as %s runs on one thread", step->name);
    if (o->br && step && !(step->supports & SUPPORTS_BR))
        options_fail("--br", "%s takes its queries in groups that fit the vectors", step->name);
    if (step && step->stores & STORES_SCORES)
        extra_check("S and P", 2 * p->Nq * p->Nk);
    if (o->trace)
        trace_check(p);
}

/* The trace of one step. */
static void print_trace(const struct step *step, const struct attention_input *input,
                        const struct options *o)
{
    const struct tile_size size = step_size(step, o, input->p.d);
    if (o->trace_csv) {
        report_aside();
        trace_csv(step, input, size);
        return;
    }
    report_part("Trace");
    trace_step(step, input, size);
}

/* No option that would make the chapter's story the wrong thing to print. */
static bool wants_story(const struct options *o)
{
    return options_usual(o) && !o->trace && !o->traffic && !o->bench && !o->quiet;
}

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    const bool all = o.step && strcmp(o.step, "all") == 0;
    if (o.step && strcmp(o.step, "list") == 0) {
        options_no_run(&o, "--step list");
        step_list(&table, o.quiet, o.dtype);
        options_flush();
        return EXIT_VERIFIED;
    }
    threads_begin(o.threads);
    if (o.step && strcmp(o.step, "fast") == 0) {
        options_no_run(&o, "--step fast");
        bench_fast(FAST_N, FAST_SECONDS, &o);
        return report_finish();
    }
    struct attention_input input = attention_input_load(&o);
    const enum step_name traced = score_option(&input.p) ? SOFTCAP : DROPOUT;
    const char *const usual = steps[o.trace ? traced : COMPLETE].name;
    const struct step *step = all ? NULL : step_chosen(&table, &o, usual, &input.p);
    check_requested(step, &input.p, &o);

    report_start("05", "Flash attention, tiled", "on the CPU: exact attention, a tile at a time",
                 o.quiet || o.trace_csv);
    if (o.trace)
        print_trace(step, &input, &o);
    if (wants_story(&o))
        print_story();
    attention_describe(&input);
    if (all)
        print_steps(COMPLETE, &input, &o);
    else
        print_step(step, &input, &o);
    if (o.bench && options_usual(&o))
        bench_ladder(LADDER_N, LADDER_SECONDS, &o);
    else if (o.bench)
        bench_steps(o.step && !all ? step : NULL, &input, &o);
    if (wants_story(&o))
        report_next(
            "06_flash_tiled_cuda: the same tiles, with a GPU's names for fast and slow memory");
    attention_input_free(&input);
    return report_finish();
}
