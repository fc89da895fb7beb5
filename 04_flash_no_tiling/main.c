/*
 * Chapter 04 as a program: attention in one pass, counted, and verified, also against standard
 * attention.
 */
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/program.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/cpu/memory.h"
#include "common/lab/lab.h"
#include "common/measure/watch.h"

#include <stdlib.h>

DECLARE_WATCHED(flash_no_tiling_row);

static void each_row(const struct attention *p, struct tensors x,
                     __typeof__(flash_no_tiling_row) *process_row)
{
    const size_t rows = attention_rows(p);
    for (size_t row = 0; row < rows; row++)
        process_row(p, x.Q, x.K, x.V, row / p->Nq / p->H, row / p->Nq % p->H, row % p->Nq,
                    x.O + row * p->d, x.lse + row);
}

static void one_pass(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    each_row(p, x, flash_no_tiling_row);
}

static void one_pass_watched(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    each_row(p, x, WATCHED(flash_no_tiling_row));
}

static void predict(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t rows = attention_rows(p), pairs = attention_pairs(p);
    (void)size;
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "K loads", pairs * p->d, "pairs d");
    accesses_add(a, "V loads", pairs * p->d, "pairs d");
    accesses_add(a, "O stores", rows * p->d, "Nq d");
    accesses_add(a, "lse stores", rows, "Nq");
}

static const struct step step = {
    .name = "one pass",
    .idea = "a query meets its keys one by one",
    .formula = "2 d pairs + …",
    .run = one_pass,
    .watched = one_pass_watched,
    .predict = predict,
    .supports = SUPPORTS_MASKS | SUPPORTS_GROUPED_HEADS | SUPPORTS_LSE | SUPPORTS_TRACE,
    .usual = { 1, 1 },
};
static const struct step_table table = { &step, 1, .first = -1 };

static const struct chapter chapter = {
    .program = {
        .chapter = 4,
        .name = "04_flash_no_tiling",
        .summary = "attention in one pass over the keys, with no score stored",
        .example = "--n-q 203 --n-k 113 --d 40 --heads 4 --kv-heads 2 --causal",
    },
    .number = "04",
    .title = "Flash attention, no tiling",
    .idea = "one pass over the keys; no score is stored",
    .next = "05_flash_tiled_cpu: tiles, so that a key is read once for many queries",
    .table = &table,
};

/*
 * What the result is compared with: standard attention, poison in heads with masks, which it does
 * not support. None for a large problem, of which only some rows are checked.
 */
static struct previous standard_rows(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const size_t head = p->Nq * p->d;
    if (lab->check.count < attention_rows(p))
        return (struct previous){ .name = NULL };
    float *O = allocate(attention_query_elements(p), sizeof *O, "standard attention's O");
    poison_fill(O, attention_query_elements(p));
    for (size_t n = 0; n < p->B * p->H; n++) {
        const size_t b = n / p->H, h = n % p->H, kv = (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
        if (tile_kind(p, b, h, 0, p->Nq, 0, p->Nk) == TILE_FULL)
            standard_attention(lab->x.Q + n * head, lab->x.K + kv, lab->x.V + kv, O + n * head,
                               p->Nq, p->Nk, p->d, p->scale);
    }
    return (struct previous){ .name = "standard attention", .of = { O } };
}

int main(int argc, char **argv)
{
    struct lab lab = lab_open(&chapter, argc, argv);
    if (lab.o.story)
        return tell_part(&lab.o);
    lab_load(&lab);
    lab_choose(&lab, step.name);
    lab_title(&lab);
    if (lab.o.trace)
        trace_rows(&lab.input);
    if (lab.screen)
        tell_screen();
    lab_input(&lab);
    lab.before = standard_rows(&lab);
    lab_run(&lab, &step);
    lab_count(&lab, &step);
    lab.count.fast_bytes = (2 * lab.input.p.d + 2) * sizeof(float);  // a row's q, o, m and l
    lab_check(&lab, &step);
    if (lab.o.bench)
        bench_against_standard(lab.o.csv);
    return lab_close(&lab);
}
