/*
 * Chapter 04 as a program: one row by hand, fusion, accesses with and without S and P.
 */
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/flash_row.h"
#include "04_flash_no_tiling/fusion.h"
#include "04_flash_no_tiling/program/story.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/check/attention_check.h"
#include "common/cpu/memory.h"
#include "common/measure/progress.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/program/attention_files.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"
#include "common/program/report.h"

#include <math.h>
#include <stdlib.h>

static const struct program program = {
    .chapter = 4,
    .name = "04_flash_no_tiling",
    .summary = "attention in one pass over the keys, with no score stored",
    .example = "--n-q 203 --n-k 113 --d 40 --heads 4 --kv-heads 2 --causal",
};

DECLARE_WATCHED(flash_no_tiling_row);

/* Computes the checked rows and counts their accesses; 0 where they cannot be counted. */
static size_t count(const struct attention_input *input, const struct attention_check *check)
{
    if (!CAN_WATCH) {
        report_not_counted("Counted");
        return 0;
    }
    const struct attention *p = &input->p;
    const size_t keys = attention_key_elements(p);
    float *O = allocate(check->count * p->d, sizeof *O, "O");
    float *lse = allocate(check->count, sizeof *lse, "lse");
    size_t pairs = 0;
    traffic_reset();
    traffic_watch("Q", input->Q, attention_query_elements(p));
    traffic_watch("K", input->K, keys);
    traffic_watch("V", input->V, keys);
    traffic_watch("O", O, check->count * p->d);
    traffic_watch("lse", lse, check->count);
    for (size_t k = 0; k < check->count; k++) {
        const size_t i = check->rows[k] % p->Nq, h = check->rows[k] / p->Nq % p->H;
        const size_t b = check->rows[k] / p->Nq / p->H;
        WATCHED(flash_no_tiling_row)
        (p, input->Q, input->K, input->V, b, h, i, O + k * p->d, lse + k);
        for (size_t j = 0; j < p->Nk; j++)
            pairs += visible(p, b, h, i, j) ? 1 : 0;
    }
    const size_t rows = check->count, row = rows * p->d,
                 all = traffic_total().loads + traffic_total().stores;
    const struct counted lines[] = {
        { "Q loads", traffic_of("Q").loads, row, "Nq d", "" },
        { "K loads", traffic_of("K").loads, pairs * p->d, "pairs d", "" },
        { "V loads", traffic_of("V").loads, pairs * p->d, "pairs d", "" },
        { "O stores", traffic_of("O").stores, row, "Nq d", "" },
        { "lse stores", traffic_of("lse").stores, rows, "Nq", "" },
        { "all", all, 2 * pairs * p->d + 2 * row + rows, "2 d / pair + …", "" },
    };
    report_counted("Counted", lines, 6, "pair", pairs ? pairs : 1, "");
    free(lse);
    free(O);
    return all;
}

static void run(const struct attention_input *input, float *O, float *lse)
{
    const struct attention *p = &input->p;
    const size_t rows = attention_rows(p);
    poison_fill(O, rows * p->d);
    poison_fill(lse, rows);
    for (size_t row = 0; row < rows; row++) {
        progress("rows", row, rows);
        flash_no_tiling_row(p, input->Q, input->K, input->V, row / p->Nq / p->H, row / p->Nq % p->H,
                            row % p->Nq, O + row * p->d, lse + row);
    }
    progress("rows", rows, rows);
}

/* Standard attention's output for the checked rows of heads without masks; NaN in the others. */
static float *standard_rows(const struct attention_input *input,
                            const struct attention_check *check)
{
    const struct attention *p = &input->p;
    const size_t head = p->Nq * p->d;
    float *O = allocate(attention_query_elements(p), sizeof *O, "standard attention's O");
    for (size_t n = 0; n < p->B * p->H; n++) {
        const size_t b = n / p->H, h = n % p->H, kv = (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
        poison_fill(O + n * head, head);
        if (tile_kind(p, b, h, 0, p->Nq, 0, p->Nk) == TILE_FULL)
            standard_attention(input->Q + n * head, input->K + kv, input->V + kv, O + n * head,
                               p->Nq, p->Nk, p->d, p->scale);
    }
    float *rows = attention_check_rows(check, O, p->d);
    free(O);
    return rows;
}

int main(int argc, char **argv)
{
    const struct options options = options_parse(&program, argc, argv);
    if (options.story)
        return tell_part(&options);
    struct attention_input input = attention_input_load(&options);
    const struct attention *p = &input.p;

    report_start("04", "Flash attention, no tiling", "one pass over the keys; no score is stored",
                 options.quiet);
    if (options.trace)
        trace_rows(&input);
    if (argc == 1)
        tell_screen();
    attention_describe(&input);
    struct attention_check check = attention_check_begin(&input, options.verify_all);
    const size_t accesses = count(&input, &check);
    const bool small = check.count == attention_rows(p);
    float *O = allocate(attention_query_elements(p), sizeof *O, "O");
    float *lse = allocate(attention_rows(p), sizeof *lse, "lse");
    run(&input, O, lse);

    float *checked = attention_check_rows(&check, O, p->d);
    float *checked_lse = attention_check_rows(&check, lse, 1);
    float *before = small ? standard_rows(&input, &check) : NULL;
    const struct attention_errors errors = attention_check_report(
        &check, checked, checked_lse, small ? "standard attention" : NULL, before);
    attention_write(&options, &input, O, lse);
    if (options.bench)
        bench_against_standard(options.csv);
    else if (options.csv)
        write_summary(options.csv, &input, accesses, errors);
    if (argc == 1)
        report_next("05_flash_tiled_cpu: tiles, so that a key is read once for many queries");
    free(before);
    free(checked_lse);
    free(checked);
    free(lse);
    free(O);
    attention_check_end(&check);
    attention_input_free(&input);
    return report_finish();
}
