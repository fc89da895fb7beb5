/* What is not random of the problem of the command line: arrays in files, masks, other types. */
#include "common/program/attention_load.h"

#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/problem/block_mask.h"
#include "common/program/option_table.h"
#include "common/program/report.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An array of numbers with 2 to 4 dimensions, its shape filled up with ones at the front. */
struct attention_array {
    const char *path;
    int dims;
    size_t shape[4];
    float *x;
};
static struct npy read_file(const char *path)
{
    struct npy npy;
    struct file_error error;
    if (!npy_read(path, &npy, &error))
        options_fail(path, "%s", error.text);
    return npy;
}

static struct attention_array read_array(const char *path)
{
    struct npy npy = read_file(path);
    char shape[100];
    if (npy.dims < 2 || npy.dims > 4)
        options_fail(path, "expected shape (N, d), (H, N, d) or (B, H, N, d), found %s",
                     npy_shape_text(npy.dims, npy.shape, shape, sizeof shape));
    if (npy.type == NPY_B1 || npy.type == NPY_U1)
        options_fail(path, "expected float16, float32 or float64 numbers, found a mask");
    struct attention_array a = { .path = path, .dims = npy.dims, .shape = { 1, 1, 1, 1 } };
    for (int k = 0; k < npy.dims; k++)
        a.shape[4 - npy.dims + k] = npy.shape[k];
    a.x = npy_floats(&npy);
    npy_free(&npy);
    return a;
}

/* Exits unless a and b have the same size along `axis`, named `name`. */
static void same_size(const struct attention_array *a, const struct attention_array *b, int axis,
                      const char *name)
{
    if (a->shape[axis] != b->shape[axis])
        options_fail(b->path, "expected the %s of %s, %zu, found %zu", name, a->path,
                     a->shape[axis], b->shape[axis]);
}

static struct attention problem_of(const struct attention_array *Q, const struct attention_array *K,
                                   const struct attention_array *V)
{
    if (K->dims != Q->dims || V->dims != Q->dims)
        options_fail(K->dims != Q->dims ? K->path : V->path,
                     "expected as many dimensions as %s, %d, found %d", Q->path, Q->dims,
                     K->dims != Q->dims ? K->dims : V->dims);
    same_size(Q, K, 0, "batch size");
    same_size(Q, K, 3, "row length d");
    same_size(K, V, 0, "batch size");
    same_size(K, V, 1, "number of heads");
    same_size(K, V, 2, "number of keys");
    same_size(K, V, 3, "row length d");
    if (Q->shape[1] % K->shape[1] != 0)
        options_fail(K->path, "expected a number of heads that divides the %zu of %s, found %zu",
                     Q->shape[1], Q->path, K->shape[1]);
    if (Q->shape[3] > ATTENTION_MAX_D)
        options_fail(Q->path, "expected rows of at most %d elements, found %zu", ATTENTION_MAX_D,
                     Q->shape[3]);
    return attention_of(Q->shape[0], Q->shape[1], K->shape[1], Q->shape[2], K->shape[2],
                        Q->shape[3]);
}

struct attention_input attention_files(const char *q, const char *k, const char *v)
{
    const struct attention_array Q = read_array(q), K = read_array(k), V = read_array(v);
    return (struct attention_input){
        .p = problem_of(&Q, &K, &V),
        .Q = Q.x,
        .K = K.x,
        .V = V.x,
        .dims = Q.dims,
    };
}

static uint8_t *read_mask(const char *path, size_t rows, size_t columns, const char *meaning)
{
    const struct npy npy = read_file(path);
    char found[100], wanted[100];
    const size_t shape[2] = { rows, columns };
    if (npy.type != NPY_B1 && npy.type != NPY_U1)
        options_fail(path, "expected a mask of bool or uint8, found numbers");
    if (npy.dims != 2 || npy.shape[0] != rows || npy.shape[1] != columns)
        options_fail(path, "expected shape %s = %s, found %s", meaning,
                     npy_shape_text(2, shape, wanted, sizeof wanted),
                     npy_shape_text(npy.dims, npy.shape, found, sizeof found));
    return npy.data;
}

void attention_take_key_mask(struct attention_input *input, const char *path)
{
    free(input->key_mask);
    input->key_mask = read_mask(path, input->p.B, input->p.Nk, "(B, Nk)");
    input->p.key_mask = input->key_mask;
}

void attention_take_block_mask(struct attention_input *input, const struct options *options)
{
    struct attention *p = &input->p;
    const struct block_mask_source source = block_mask_source(options->block_mask);
    p->mask_rows = options->mask_rows;
    p->mask_cols = options->mask_cols;
    const size_t rows = block_mask_rows(p), columns = block_mask_columns(p);
    if (source.kind == BLOCK_MASK_FILE) {
        char meaning[80];
        snprintf(meaning, sizeof meaning, "(ceil(Nq / %zu), ceil(Nk / %zu))", p->mask_rows,
                 p->mask_cols);
        input->block_mask = read_mask(options->block_mask, rows, columns, meaning);
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
    char q[4096], k[4096];  // options_data keeps one path at a time
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

float *attention_input_dO(const struct attention_input *input, const struct options *options)
{
    const struct attention *p = &input->p;
    if (!options->dO) {
        float *const random = attention_dO_random(p, options->seed);
        dtype_round_all(p->dtype, random, attention_query_elements(p));
        return random;
    }
    const struct attention_array dO = read_array(options->dO);
    const size_t shape[4] = { p->B, p->H, p->Nq, p->d };
    char wanted[100], found[100];
    if (dO.dims != input->dims || memcmp(dO.shape, shape, sizeof shape) != 0)
        options_fail(options->dO, "expected the shape of %s, %s, found %s", options->q,
                     npy_shape_text(input->dims, shape + 4 - input->dims, wanted, sizeof wanted),
                     npy_shape_text(dO.dims, dO.shape + 4 - dO.dims, found, sizeof found));
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

/* report_close will write x, (B, heads, rows, d), in as many dimensions as Q had. */
static void write_rows(const char *path, const struct attention_input *input, size_t heads,
                       size_t rows, const float *x)
{
    const size_t shape[4] = { input->p.B, heads, rows, input->p.d };
    report_array(path, input->dims, shape + 4 - input->dims, x);
}

void attention_write_gradients(const struct options *options, const struct attention_input *input,
                               const float *dQ, const float *dK, const float *dV)
{
    const struct attention *p = &input->p;
    write_rows(options->dQ, input, p->H, p->Nq, dQ);
    write_rows(options->dK, input, p->Hkv, p->Nk, dK);
    write_rows(options->dV, input, p->Hkv, p->Nk, dV);
}

void attention_write(const struct options *options, const struct attention_input *input,
                     const float *O, const float *lse)
{
    const struct attention *p = &input->p;
    write_rows(options->output, input, p->H, p->Nq, O);
    report_array(options->lse, 3, (const size_t[]){ p->B, p->H, p->Nq }, lse);
}

/* The length of the longest of n rows of d numbers, of those that are finite. */
static double longest_row(const float *x, size_t n, size_t d)
{
    double longest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double squares = 0.0;
        for (size_t c = 0; c < d; c++)
            squares += (double)x[i * d + c] * (double)x[i * d + c];
        if (isfinite(squares))
            longest = fmax(longest, sqrt(squares));
    }
    return longest;
}

void attention_expect_scores(const struct attention_input *input, const struct options *options)
{
    const struct attention *p = &input->p;
    // Floats near 1e8 are 8 apart: rounding a score may change P by a factor of e^4.
    const bool limited = p->softcap > 0.0f && p->softcap <= 1e8f;
    const double most = limited ? (double)FLT_MAX : 1e8;
    const double largest = fmax(1.0, fabs((double)p->scale)) *
                           longest_row(input->Q, attention_rows(p), p->d) *
                           longest_row(input->K, p->B * p->Hkv * p->Nk, p->d);
    if (largest > most)
        options_fail(options->q && !options->scale_given ? options->q : "--scale",
                     "expected scores scale q.k of at most %.2g, found up to %.2g", most, largest);
}
