#include "common/tests/golden.h"

#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>

enum alignment { NONE, CAUSAL, TOP_LEFT, CAUSAL_TOP_LEFT };

/* The table of make_golden.py. NAN: the scale is 1/sqrt(d); block (0, 0): no block mask. */
static const struct golden_case {
    const char *name;
    size_t B, H, Hkv, Nq, Nk, d;
    float scale;
    enum alignment alignment;
    ptrdiff_t window_left, window_right;
    bool key_mask;
    size_t mask_rows, mask_cols;
    double dropout;
    uint64_t dropout_seed;
    float softcap;  // 0: none
} cases[] = {
    { "plain", 2, 3, 3, 7, 7, 5, NAN, NONE, -1, -1, false, 0, 0, 0.0, 0, 0.0f },
    { "negative_scale", 1, 2, 2, 6, 9, 3, -0.7f, NONE, -1, -1, false, 0, 0, 0.0, 0, 0.0f },
    { "zero_scale", 1, 1, 1, 5, 6, 3, 0.0f, NONE, -1, -1, false, 0, 0, 0.0, 0, 0.0f },
    { "causal_fewer_queries", 1, 2, 2, 5, 11, 3, NAN, CAUSAL, -1, -1, false, 0, 0, 0.0, 0, 0.0f },
    { "causal_more_queries", 2, 1, 1, 11, 6, 5, NAN, CAUSAL, -1, -1, false, 0, 0, 0.0, 0, 0.0f },
    { "top_left_fewer_queries", 1, 3, 3, 6, 9, 7, NAN, CAUSAL_TOP_LEFT, -1, -1, false, 0, 0, 0.0, 0,
      0.0f },
    { "top_left_more_queries", 1, 1, 1, 10, 6, 3, NAN, CAUSAL_TOP_LEFT, -1, -1, false, 0, 0, 0.0, 0,
      0.0f },
    { "window", 1, 2, 2, 9, 13, 3, NAN, NONE, 3, 2, false, 0, 0, 0.0, 0, 0.0f },
    { "window_left_causal", 1, 2, 2, 13, 9, 5, NAN, CAUSAL, 2, 3, false, 0, 0, 0.0, 0, 0.0f },
    { "window_right_top_left", 1, 1, 1, 10, 7, 3, NAN, TOP_LEFT, -1, 1, false, 0, 0, 0.0, 0, 0.0f },
    { "key_mask", 3, 2, 2, 6, 10, 3, NAN, NONE, -1, -1, true, 0, 0, 0.0, 0, 0.0f },
    { "grouped_heads", 1, 6, 2, 5, 7, 3, NAN, NONE, -1, -1, false, 0, 0, 0.0, 0, 0.0f },
    { "block_mask", 1, 2, 2, 11, 13, 3, NAN, NONE, -1, -1, false, 3, 5, 0.0, 0, 0.0f },
    { "dropout", 2, 3, 3, 7, 9, 5, NAN, NONE, -1, -1, false, 0, 0, 0.3, 0x9E3779B97F4A7C15, 0.0f },
    { "everything", 2, 6, 3, 11, 14, 5, 0.3f, CAUSAL, 9, 0, true, 3, 5, 0.2, 7, 0.0f },
    { "softcap", 1, 4, 4, 6, 9, 5, NAN, NONE, -1, -1, false, 0, 0, 0.0, 0, 0.75f },
    { "softcap_everything", 2, 6, 3, 11, 14, 5, -0.9f, CAUSAL, 9, 0, true, 3, 5, 0.2, 7, 1.5f },
};

enum { CASES = sizeof cases / sizeof cases[0] };

static struct attention attention_in(const struct golden_case *g)
{
    struct attention p = attention_of(g->B, g->H, g->Hkv, g->Nq, g->Nk, g->d);
    if (!isnan(g->scale))
        p.scale = g->scale;
    p.causal = g->alignment == CAUSAL || g->alignment == CAUSAL_TOP_LEFT;
    p.top_left = g->alignment == TOP_LEFT || g->alignment == CAUSAL_TOP_LEFT;
    p.softcap = g->softcap;
    p.window_left = g->window_left;
    p.window_right = g->window_right;
    if (g->dropout > 0.0)
        attention_set_dropout(&p, g->dropout, g->dropout_seed);
    return p;
}

struct file {
    struct npy array;
    size_t read;
};

static struct file open_golden(const char *name)
{
    char path[100];
    struct file file = { .read = 0 };
    struct file_error error;
    snprintf(path, sizeof path, "common/tests/golden/%s.npy", name);
    cr_assert(npy_read(path, &file.array, &error), "%s: %s", path, error.text);
    cr_assert(file.array.type == NPY_F8 && file.array.dims == 1, "%s: expected a float64 vector",
              path);
    return file;
}

static const double *next(struct file *file, size_t count)
{
    cr_assert(count <= file->array.count - file->read, "the file is too short: %zu numbers",
              file->array.count);
    const double *values = (const double *)file->array.data + file->read;
    file->read += count;
    return values;
}

static float *next_floats(struct file *file, size_t count)
{
    const double *values = next(file, count);
    float *x = allocate(count, sizeof *x, "golden floats");
    size_t rounded = 0;
    for (size_t n = 0; n < count; n++) {
        x[n] = (float)values[n];
        rounded += (double)x[n] == values[n] ? 0 : 1;
    }
    cr_assert(rounded == 0, "%zu of %zu inputs are no float32 numbers", rounded, count);
    return x;
}

static uint8_t *next_mask(struct file *file, size_t count)
{
    const double *values = next(file, count);
    uint8_t *mask = allocate(count, sizeof *mask, "a golden mask");
    size_t other = 0;
    for (size_t n = 0; n < count; n++) {
        mask[n] = values[n] != 0.0;
        other += (double)mask[n] == values[n] ? 0 : 1;
    }
    cr_assert(other == 0, "%zu of %zu elements of a mask are neither 0 nor 1", other, count);
    return mask;
}

/* The problem of a case, with inputs and masks from the start of its file. */
static struct test_problem next_problem(struct file *file, const struct golden_case *g)
{
    struct test_problem t = { .p = attention_in(g) };
    struct attention *p = &t.p;
    t.Q = next_floats(file, attention_query_elements(p));
    t.K = next_floats(file, attention_key_elements(p));
    t.V = next_floats(file, attention_key_elements(p));
    t.dO = next_floats(file, attention_query_elements(p));
    if (g->key_mask)
        p->key_mask = t.key_mask = next_mask(file, p->B * p->Nk);
    if (g->mask_rows > 0) {
        p->mask_rows = g->mask_rows;
        p->mask_cols = g->mask_cols;
        const size_t rows = (p->Nq + p->mask_rows - 1) / p->mask_rows;
        const size_t cols = (p->Nk + p->mask_cols - 1) / p->mask_cols;
        p->block_mask = t.block_mask = next_mask(file, rows * cols);
    }
    return t;
}

size_t golden_count(void)
{
    return CASES;
}

struct golden golden_open(size_t k)
{
    const struct golden_case *const g = &cases[k];
    struct file file = open_golden(g->name);
    struct golden golden = { .name = g->name, .t = next_problem(&file, g) };
    const size_t queries = attention_query_elements(&golden.t.p);
    const size_t keys = attention_key_elements(&golden.t.p);
    golden.O = next(&file, queries);
    golden.lse = next(&file, attention_rows(&golden.t.p));
    golden.dQ = next(&file, queries);
    golden.dK = next(&file, keys);
    golden.dV = next(&file, keys);
    cr_assert(file.read == file.array.count, "%s: the file holds %zu numbers, the case %zu",
              g->name, file.array.count, file.read);
    golden.file = file.array;
    return golden;
}

void golden_free(struct golden *g)
{
    npy_free(&g->file);
    problem_free(&g->t);
}
