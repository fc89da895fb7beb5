/*
 * The chapter's steps, in order. The program uses a step only through its row
 * (common/program/step.h). `run` is its function, `watched` its instrumented build
 * (common/measure/watch.h), which vectorised steps do not have.
 */
#include "05_flash_tiled_cpu/steps/steps.h"
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "05_flash_tiled_cpu/program.h"
#include "common/cpu/memory.h"
#include "common/measure/watch.h"

attention_step standard, block_matmul, masks, dropout, split_kv, softcap;
attention_step standard_watched, block_matmul_watched, fa1_watched, fa2_watched, masks_watched,
    dropout_watched, split_kv_watched, softcap_watched;
attention_step loops, polynomial, registers, block, skip, overlap, threads;

/* SHAPES: what every step supports. ANY_TILE: it also writes lse and takes any tile. */
enum { SHAPES = SUPPORTS_GROUPED_HEADS, ANY_TILE = SHAPES | SUPPORTS_LSE | SUPPORTS_BR };

static const struct step steps[] = {
    // ---- steps/, in plain C
    {
        .name = "standard",
        .idea = "S and P stored, matrix products by tiles",
        .formula = "2 Tr Nk d + 6 Nq Nk + …",
        .run = standard,
        .watched = WATCHED(standard),
        .predict = predict_standard,
        .size = standard_size,
        .supports = SHAPES | SUPPORTS_BR,
        .stores = STORES_SCORES,
    },
    {
        .name = "block_matmul",
        .idea = "(Q K^T) V by tiles, no softmax",
        .formula = "2 Tr Nk d + 2 Nq d",
        .run = block_matmul,
        .watched = WATCHED(block_matmul),
        .predict = predict_block_matmul,
        .size = fa2_size,
        .supports = SHAPES | SUPPORTS_BR,
        .is_product = true,
    },
    {
        .name = "fa1",
        .idea = "tiles and the recurrence, outer loop over K, V",
        .formula = "Tc (3 Nq d + 4 Nq) + …",
        .run = fa1,
        .watched = WATCHED(fa1),
        .predict = predict_fa1,
        .size = fa1_size,
        .supports = ANY_TILE | SUPPORTS_TRACE,
        .stores = STORES_STATISTICS,
    },
    {
        .name = "fa2",
        .idea = "outer loop over Q, O divided once",
        .formula = "2 Tr Nk d + 2 Nq d + Nq",
        .run = fa2,
        .watched = WATCHED(fa2),
        .predict = predict_fa2,
        .size = fa2_size,
        .supports = ANY_TILE | SUPPORTS_TRACE,
    },
    {
        .name = "masks",
        .idea = "fully masked tiles are skipped",
        .formula = "2 d / key + …",
        .run = masks,
        .watched = WATCHED(masks),
        .predict = predict_masks,
        .size = fa2_size,
        .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_MASKS,
    },
    {
        .name = "dropout",
        .idea = "random weights dropped, whatever the tiles",
        .formula = "2 d / key + …",
        .run = dropout,
        .watched = WATCHED(dropout),
        .predict = predict_masks,
        .size = fa2_size,
        .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_EVERYTHING,
    },
    {
        .name = "split_kv",
        .idea = "keys in splits, combined at the end",
        .formula = "2 d / key + splits …",
        .run = split_kv,
        .watched = WATCHED(split_kv),
        .predict = predict_split_kv,
        .size = fa2_size,
        .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_EVERYTHING,
        .stores = STORES_SPLITS,
    },
    {
        .name = "softcap",
        .idea = "a changed score, before the mask",
        .formula = "2 d / key + …",
        .run = softcap,
        .watched = WATCHED(softcap),
        .predict = predict_masks,
        .size = fa2_size,
        .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_EVERYTHING | SUPPORTS_SCORE,
    },
    // ---- fast/, vectorised
    {
        .name = "loops",
        .idea = "loops over queries, vectorized by the compiler",
        .run = loops,
        .size = fa2_size,
        .usual = { 32, 64 },
        .supports = SHAPES | SUPPORTS_LSE,
    },
    {
        .name = "polynomial",
        .idea = "2^x by a polynomial",
        .run = polynomial,
        .size = fa2_size,
        .usual = { 32, 64 },
        .supports = SHAPES | SUPPORTS_LSE,
    },
    {
        .name = "registers",
        .idea = "sums in registers",
        .run = registers,
        .size = fa2_size,
        .usual = { 32, 64 },
        .supports = SHAPES | SUPPORTS_LSE,
    },
    {
        .name = "block",
        .idea = "8 keys x 2 vectors at once, 2^x in vectors",
        .run = block,
        .size = fa2_size,
        .usual = { 32, 64 },
        .supports = SHAPES | SUPPORTS_LSE,
    },
    {
        .name = "skip",
        .idea = "causal: masked keys are skipped",
        .run = skip,
        .size = fa2_size,
        .usual = { 32, 64 },
        .supports = SHAPES | SUPPORTS_LSE | SUPPORTS_CAUSAL,
    },
    {
        .name = "overlap",
        .idea = "softmax interleaved with the products",
        .run = overlap,
        .size = fa2_size,
        .usual = { 32, 128 },
        .supports = SHAPES | SUPPORTS_LSE | SUPPORTS_CAUSAL,
    },
    {
        .name = "threads",
        .idea = "all cores, longest tasks first",
        .run = threads,
        .size = fa2_size,
        .usual = { 32, 128 },
        .supports = SHAPES | SUPPORTS_LSE | SUPPORTS_CAUSAL | SUPPORTS_THREADS,
    },
    {
        .name = "complete",
        .idea = "every option, at the speed of overlap",
        .run = complete,
        .predict = predict_complete,
        .size = fa2_size,
        .usual = { 128, 128 },
        .supports = ANY_TILE | SUPPORTS_EVERYTHING | SUPPORTS_SCORE | SUPPORTS_THREADS,
        .stores = STORES_SPLITS,
    },
};

const struct step_table table = { steps, sizeof steps / sizeof steps[0], .first = 0, .width = 12 };

const struct chapter chapter = {
    .program = {
        .chapter = 5,
        .name = "05_flash_tiled_cpu",
        .summary = "attention by tiles, exact, with O(N) memory",
        .example = "--n-q 203 --n-k 113 --d 40 --causal --window 50,0 --dropout 0.1 --step all",
    },
    .number = "05",
    .title = "Flash attention, tiled",
    .idea = "on the CPU: exact attention, a tile at a time",
    .next = "06_flash_tiled_cuda: the same tiles, with a GPU's names for fast and slow memory",
    .table = &table,
};

// ---- what they are compared with ----------------------------------------------------------------

struct previous chapter_04(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    struct previous previous = { .name = "04 no tiling" };
    if (p->dropout_threshold > 0)
        return previous;
    previous.of[0] = allocate(lab->check.count * p->d, sizeof(float), "chapter 04's O");
    for (size_t k = 0; k < lab->check.count; k++) {
        const size_t row = lab->check.rows[k], head = row / p->Nq;
        flash_no_tiling_row(p, lab->x.Q, lab->x.K, lab->x.V, head / p->H, head % p->H, row % p->Nq,
                            previous.of[0] + k * p->d, NULL);
    }
    return previous;
}

const char *in_plain_c(const struct attention *p)
{
    return score_option(p) ? "softcap" : split_count(p) > 1 ? "split_kv" : "dropout";
}
