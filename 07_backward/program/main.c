/*
 * Chapter 07 as a program: every step, what it reads and writes, and whether its gradients are right.
 */
#include "07_backward/program/cuda/program.h"
#include "07_backward/program/ladder.h"
#include "07_backward/program/speed.h"
#include "07_backward/program/stages.h"
#include "07_backward/program/story.h"
#include "07_backward/program/trace.h"
#include "07_backward/program/train.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/watch.h"
#include "common/program/attention_files.h"
#include "common/program/attention_report.h"

#include <stdio.h>
#include <string.h>

enum { LADDER_N = 1024, LADDER_SECONDS = 10 };

static const struct program program = {
    .chapter = 7,
    .name = "07_backward",
    .summary = "the gradients of attention, recomputed instead of stored",
    .example = "--n-q 203 --n-k 113 --d 40 --causal --window 50,0 --dropout 0.1 --step all",
};

// ---- one step, told whole -----------------------------------------------------------------------

static void print_tiles(const struct step *step, const struct attention *p, struct tile_size size)
{
    const struct tile_counts tiles = count_tiles(p, size);
    char full[32], partial[32], skipped[32];
    report_part("Tiles");
    report_line("%s, with Br = %zu queries and Bc = %zu keys", step->name, size.Br, size.Bc);
    report_line("%s tiles full, %s partial, %s skipped",
                report_number(tiles.of_kind[TILE_FULL], full),
                report_number(tiles.of_kind[TILE_PARTIAL], partial),
                report_number(tiles.of_kind[TILE_SKIPPED], skipped));
}

static void print_counts(const struct count *count)
{
    char held[32], stored[32];
    report_line("%s elements of fast memory held; extra slow memory: %s",
                report_number(count->fast_bytes / sizeof(float), held),
                report_bytes(count->slow_bytes, stored));
    step_report_count(count);
}

/*
 * Accesses of vectors are not counted: complete goes through its tiles as one of these does, an element at a time. NULL: none
 * has all the options of p.
 */
static const struct step *in_plain_c(const struct step *step, const struct attention *p)
{
    static const enum step_name plain[] = { FA2, SOFTCAP, FA1 };
    if (step->predict)
        return step;
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; k++)
        if (!step_unsupported(&steps[plain[k]], p))
            return &steps[plain[k]];
    return NULL;
}

static void print_step(const struct step *step, const struct layer *layer, const struct options *o)
{
    const struct attention_input *input = &layer->input;
    const struct tile_size size = step_size(step, o, input->p.d);
    struct gradient_check check = gradient_check_begin(input, layer->dO, o->verify_all);
    const struct step *plain = in_plain_c(step, &input->p);
    struct count count = { .total = 0 };
    if (plain && can_be_counted(plain, &input->p) && (plain == step || o->csv))
        count = count_layer(plain, input, &layer->kept, layer->dO, size);
    if (is_small(&input->p))
        print_tiles(step, &input->p, size);
    if (plain == step && count.total > 0) {
        print_counts(&count);
    } else if (!CAN_WATCH) {
        report_not_counted("Counted");
    } else {
        report_part("Counted");
        report_line(plain == step ? "left out: a counted run of a problem of this size takes long"
                                  : "not done: the step goes through its tiles as fa2 does");
    }
    struct result r = layer_run(step, layer, size);
    struct previous previous = previous_run(step_before(step, &input->p), layer, o);
    const struct attention_errors e = step_check(&check, &previous, &r, true);
    attention_write(o, input, layer->kept.O, layer->kept.lse);
    attention_write_gradients(o, input, r.of[DQ], r.of[DK], r.of[DV]);
    if (o->csv && !o->bench)
        step_write_csv(o->csv, plain ? plain->formula : "", &count,
                       speed_of(step, layer, size, 0.05), previous.name, e);
    result_free(&previous.result);
    result_free(&r);
    gradient_check_end(&check);
}

// ---- the command line ---------------------------------------------------------------------------

static void check_requested(bool all, const struct attention *p, const struct options *o)
{
    if (all && options_single(o))
        options_fail(options_single(o), "expected one --step with it, not all");
    if (o->trace)
        layer_trace_check(p);
}

/* No option that would make the chapter's story the wrong thing to print. */
static bool wants_story(const struct options *o)
{
    return options_usual(o) && !o->device && o->dtype == DTYPE_F32 && !o->trace && !o->traffic &&
           !o->bench && !o->quiet;
}

/* The last line of the input: where dO is from. */
static void print_dO(const struct options *o)
{
    if (o->dO)
        report_line("dO: %s", o->dO);
    else
        report_line("dO: normal numbers, seed %llu", (unsigned long long)o->seed);
}

/* A ladder of its own, for a GPU; a file that one kernel is to write is asked of that kernel. */
static bool is_ladder_of_a_gpu(const struct options *o)
{
    return o->bench && options_usual(o) && cuda_is_wanted(o) && !options_single(o);
}

/* Everything but --step list and --train. */
static void print_problem(const struct options *o)
{
    const bool all = o->step && strcmp(o->step, "all") == 0, cuda = cuda_is_wanted(o);
    struct layer layer = layer_load(o);
    cuda_check_requested(o, &layer.input.p);
    const struct step *step =
        all || cuda ? NULL : step_chosen(&table, o, steps[COMPLETE].name, &layer.input.p);
    check_requested(all, &layer.input.p, o);
    layer_forward(&layer);

    report_start("07", "Backward", "gradients, recomputed instead of stored",
                 o->quiet || o->trace_csv);
    if (o->trace)
        trace_layer(&layer, o->trace_csv);
    if (wants_story(o))
        print_story();
    attention_describe(&layer.input);
    print_dO(o);
    if (o->dtype != DTYPE_F32)
        report_line("and so are dO and the O that the forward pass has left");
    if (cuda) {
        cuda_print_kernel(&layer, o);
        layer_free(&layer);
        return;
    }
    if (all) {
        char csv[REPORT_CSV] = STEPS_CSV;
        if (o->dtype == DTYPE_F32)  // what the steps are in
            print_steps(&layer, o, csv);
        cuda_print_kernels(&layer, o, csv);
        if (o->csv && !o->bench)
            report_csv(o->csv, csv);
    } else {
        print_step(step, &layer, o);
    }
    if (o->bench && options_usual(o))
        bench_ladder(LADDER_N, LADDER_SECONDS, o);
    else if (o->bench)
        bench_steps(o->step && !all ? step : NULL, &layer, o);
    if (wants_story(o))
        report_next("--train: gradient descent with these gradients, and with wrong ones");
    layer_free(&layer);
}

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    if (o.step && strcmp(o.step, "list") == 0) {
        options_no_run(&o, "--step list");
        step_list(&table, o.quiet, o.dtype);
        cuda_list(o.quiet, o.dtype);
        options_flush();
        return EXIT_VERIFIED;
    }
    threads_begin(o.threads);
    if (o.train) {
        train_check(&o);
        report_start("07", "Backward", "gradient descent, and what a wrong scale does", o.quiet);
        train(&o);
    } else if (!is_ladder_of_a_gpu(&o) || !cuda_bench(&o)) {
        print_problem(&o);
    }
    return report_finish();
}
