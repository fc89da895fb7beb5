/*
 * The problem of the command line where it is not just random numbers: the course's input, masks, other types, and dO.
 */
#include "common/program/attention_parts.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/problem/block_mask.h"
#include "common/program/option_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attention_take_key_mask(struct attention_input *input, const char *path)
{
    input->key_mask = attention_mask_read(path, input->p.B, input->p.Nk, "(B, Nk)");
    input->p.key_mask = input->key_mask;
}

/* The mask that --block-mask names. The problem's alignment, on which a band depends, is set. */
void attention_take_block_mask(struct attention_input *input, const struct options *options)
{
    struct attention *p = &input->p;
    const struct block_mask_source source = block_mask_source("--block-mask", options->block_mask);
    p->mask_rows = options->mask_rows;
    p->mask_cols = options->mask_cols;
    const size_t rows = block_mask_rows(p), columns = block_mask_columns(p);
    if (source.kind == BLOCK_MASK_FILE) {
        char meaning[80];
        snprintf(meaning, sizeof meaning, "(ceil(Nq / %zu), ceil(Nk / %zu))", p->mask_rows,
                 p->mask_cols);
        input->block_mask = attention_mask_read(options->block_mask, rows, columns, meaning);
    } else {
        input->block_mask = allocate(rows, columns, "the block mask");
        if (source.kind == BLOCK_MASK_BAND)
            block_mask_band(input->block_mask, p, source.width);
        else
            block_mask_random(input->block_mask, p, source.density, source.seed);
    }
    p->block_mask = input->block_mask;
}

struct attention_input attention_usual(void)
{
    static const char *const files[] = { "q.npy", "k.npy", "v.npy", "key_mask.npy" };
    char q[4096], k[4096];  // options_data keeps one path at a time
    for (size_t n = 0; n < sizeof files / sizeof files[0]; n++)
        options_spare(options_data(files[n]));
    snprintf(q, sizeof q, "%s", options_data("q.npy"));
    snprintf(k, sizeof k, "%s", options_data("k.npy"));
    struct attention_input input = attention_files(q, k, options_data("v.npy"));
    attention_take_key_mask(&input, options_data("key_mask.npy"));
    snprintf(input.origin, sizeof input.origin, "common/data/{q,k,v,key_mask}.npy");
    return input;
}

/* Rounds x; returns how many of its numbers have become infinite. */
static size_t round_all(enum dtype type, float *x, size_t n)
{
    size_t before = 0, after = 0;
    for (size_t k = 0; k < n; k++)
        before += isinf(x[k]) ? 1 : 0;
    dtype_round_all(type, x, n);
    for (size_t k = 0; k < n; k++)
        after += isinf(x[k]) ? 1 : 0;
    return after - before;
}

/* Exits unless dO has the shape of Q. */
void attention_check_dO(const struct attention_array *dO, const struct attention *p, int dims,
                        const struct options *options)
{
    const size_t shape[4] = { p->B, p->H, p->Nq, p->d };
    char wanted[100], found[100];
    if (dO->dims != dims || memcmp(dO->shape, shape, sizeof shape) != 0)
        options_fail(options->dO, "expected the shape of %s, %s, found %s", options->q,
                     npy_shape_text(dims, shape + 4 - dims, wanted, sizeof wanted),
                     npy_shape_text(dO->dims, dO->shape + 4 - dO->dims, found, sizeof found));
}

float *attention_input_dO(const struct attention_input *input, const struct options *options)
{
    const struct attention *p = &input->p;
    if (!options->dO) {
        float *const random = attention_dO_random(p, options->seed);
        dtype_round_all(p->dtype, random, attention_query_elements(p));
        return random;
    }
    const struct attention_array dO = attention_array_read(options->dO);
    attention_check_dO(&dO, p, input->dims, options);
    dtype_round_all(p->dtype, dO.x, attention_query_elements(p));
    return dO.x;
}

void attention_round(struct attention_input *input)
{
    const enum dtype type = input->p.dtype;
    const size_t queries = attention_query_elements(&input->p),
                 keys = attention_key_elements(&input->p);
    input->too_large = round_all(type, input->Q, queries) + round_all(type, input->K, keys) +
                       round_all(type, input->V, keys);
}
