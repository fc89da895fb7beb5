#include "common/program/attention_load.h"

#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/problem/block_mask.h"
#include "common/program/attention_files.h"
#include "common/program/option_values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_N = 128, USUAL_D = 64 };

static size_t or_else(size_t given, size_t usual)
{
    return given ? given : usual;
}

static struct attention shape_of(const struct options *o)
{
    const size_t H = or_else(o->heads, or_else(o->kv_heads, 1)), Hkv = or_else(o->kv_heads, H);
    const size_t Nq = or_else(o->n_q, or_else(o->n_k, USUAL_N));
    if (H % Hkv != 0)
        options_fail("--kv-heads", "expected a number that divides the %zu query heads, found %zu",
                     H, Hkv);
    return attention_of(or_else(o->batch, 1), H, Hkv, Nq, or_else(o->n_k, Nq),
                        or_else(o->d, USUAL_D));
}

/* Is the input to be made up? */
static bool is_shaped(const struct options *o)
{
    return o->batch || o->heads || o->kv_heads || o->n_q || o->n_k || o->d || o->seed_given;
}

// ---- masks --------------------------------------------------------------------------------------

static void take_key_mask(struct attention_input *input, const char *path)
{
    input->key_mask = attention_mask_read(path, input->p.B, input->p.Nk, "(B, Nk)");
    input->p.key_mask = input->key_mask;
}

/* The mask that --block-mask names. The problem's alignment, on which a band depends, is set. */
static void take_block_mask(struct attention_input *input, const struct options *options)
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

// ---- the problem asked for ----------------------------------------------------------------------

static struct attention_input usual(void)
{
    static const char *const files[] = { "q.npy", "k.npy", "v.npy", "key_mask.npy" };
    char q[4096], k[4096];  // options_data keeps one path at a time
    for (size_t n = 0; n < sizeof files / sizeof files[0]; n++)
        options_spare(options_data(files[n]));
    snprintf(q, sizeof q, "%s", options_data("q.npy"));
    snprintf(k, sizeof k, "%s", options_data("k.npy"));
    struct attention_input input = attention_files(q, k, options_data("v.npy"));
    take_key_mask(&input, options_data("key_mask.npy"));
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

/* What the options say of the scores, but for masks that are read or made. */
static void take_options(struct attention *p, const struct options *options)
{
    p->dtype = options->dtype;
    if (options->scale_given)
        p->scale = options->scale;
    p->softcap = options->softcap;
    p->causal = options->causal;
    p->top_left = options->top_left;
    p->window_left = options->window_left;
    p->window_right = options->window_right;
    if (options->dropout_given)
        attention_set_dropout(p, options->dropout, options->dropout_seed);
}

void attention_expect_scores(const struct attention_input *input, const struct options *options,
                             double most)
{
    const double largest = attention_largest_score(input);
    if (largest > most)
        options_fail(options->scale_given ? "--scale"
                     : options->q         ? options->q
                                          : "--d",
                     "expected scores scale q.k of at most %.2g, found up to %.2g", most, largest);
}

struct attention_input attention_input_load(const struct options *options)
{
    struct attention_input input;
    if (options->q) {
        input = attention_files(options->q, options->k, options->v);
        snprintf(input.origin, sizeof input.origin, "%.120s, %.120s, %.120s", options->q,
                 options->k, options->v);
    } else {
        input =
            is_shaped(options) ? attention_input_random(shape_of(options), options->seed) : usual();
    }
    if (options->key_mask) {
        free(input.key_mask);
        take_key_mask(&input, options->key_mask);
    }
    input.Br = options->br;
    input.Bc = options->bc;
    take_options(&input.p, options);
    input.too_large = round_all(options->dtype, input.Q, attention_query_elements(&input.p)) +
                      round_all(options->dtype, input.K, attention_key_elements(&input.p)) +
                      round_all(options->dtype, input.V, attention_key_elements(&input.p));
    if (options->block_mask)
        take_block_mask(&input, options);
    attention_expect_scores(&input, options, (double)FLT_MAX);
    return input;
}

/* Ends the program unless dO has the shape of Q. */
static void check_dO(const struct attention_array *dO, const struct attention *p, int dims,
                     const struct options *options)
{
    const size_t shape[4] = { p->B, p->H, p->Nq, p->d };
    char wanted[100], found[100];
    if (dO->dims != dims || memcmp(dO->shape, shape, sizeof shape) != 0)
        options_fail(options->dO, "expected the shape of %s, %s, found %s", options->q,
                     npy_shape_text(dims, shape + 4 - dims, wanted, sizeof wanted),
                     npy_shape_text(dO->dims, dO->shape + 4 - dO->dims, found, sizeof found));
}

// ---- in parts -----------------------------------------------------------------------------------

/* The file that was asked for, or the course's own. */
static struct attention_array open_array(struct attention_source *s, enum source which,
                                         const char *given, const char *usual)
{
    static char path[SOURCES][4096];
    snprintf(path[which], sizeof path[which], "%s", given ? given : options_data(usual));
    s->path[which] = path[which];
    return attention_array_open(path[which], &s->of[which]);
}

static void open_mask(struct attention_source *s, const char *path)
{
    static char kept[4096];
    snprintf(kept, sizeof kept, "%s", path);
    s->path[SOURCE_MASK] = kept;
    attention_mask_open(kept, s->p.B, s->p.Nk, "(B, Nk)", &s->of[SOURCE_MASK]);
}

struct attention_source attention_source_open(const struct options *options)
{
    const bool usual = !options->q && !is_shaped(options);
    struct attention_source s = { .seed = options->seed, .dims = 4 };
    if (options->q || usual) {
        const struct attention_array Q = open_array(&s, SOURCE_Q, options->q, "q.npy"),
                                     K = open_array(&s, SOURCE_K, options->k, "k.npy"),
                                     V = open_array(&s, SOURCE_V, options->v, "v.npy");
        s.p = attention_of_arrays(&Q, &K, &V);
        s.dims = Q.dims;
    } else {
        s.p = shape_of(options);
    }
    take_options(&s.p, options);
    if (options->key_mask || usual)
        open_mask(&s, options->key_mask ? options->key_mask : options_data("key_mask.npy"));
    if (options->dO) {
        const struct attention_array dO = open_array(&s, SOURCE_DO, options->dO, NULL);
        check_dO(&dO, &s.p, s.dims, options);
    }
    return s;
}

void attention_source_close(struct attention_source *s)
{
    for (size_t k = 0; k < SOURCES; k++)
        npy_parts_close(&s->of[k]);
}

void attention_source_floats(const struct attention_source *s, enum source which, size_t first,
                             size_t count, float *x)
{
    const struct npy_parts *const file = &s->of[which];
    struct file_error error;
    if (!file->file) {
        for (size_t k = 0; k < count; k++)
            x[k] = (float)random_normal(s->seed, (uint32_t)which, first + k);
        return;
    }
    struct npy read = { .type = file->array.type, .count = count };
    read.data = allocate(count, npy_element_size(read.type), "a part of a file");
    if (!npy_parts_read(file, first, count, read.data, &error))
        options_fail(s->path[which], "%s", error.text);
    float *const floats = npy_floats(&read);
    memcpy(x, floats, count * sizeof *x);
    free(floats);
    npy_free(&read);
}

void attention_source_mask(const struct attention_source *s, size_t first, size_t count,
                           uint8_t *mask)
{
    struct file_error error;
    if (!npy_parts_read(&s->of[SOURCE_MASK], first, count, mask, &error))
        options_fail(s->path[SOURCE_MASK], "%s", error.text);
}

// ---- the gradient of the output -----------------------------------------------------------------

float *attention_input_dO(const struct attention_input *input, const struct options *options)
{
    const struct attention *p = &input->p;
    if (!options->dO) {
        float *const random = attention_dO_random(p, options->seed);
        dtype_round_all(p->dtype, random, attention_query_elements(p));
        return random;
    }
    const struct attention_array dO = attention_array_read(options->dO);
    check_dO(&dO, p, input->dims, options);
    dtype_round_all(p->dtype, dO.x, attention_query_elements(p));
    return dO.x;
}
