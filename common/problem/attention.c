#include "common/cpu/memory.h"
#include "common/problem/attention_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct attention attention_of(size_t B, size_t H, size_t Hkv, size_t Nq, size_t Nk, size_t d)
{
    return (struct attention){
        .B = B,
        .H = H,
        .Hkv = Hkv,
        .Nq = Nq,
        .Nk = Nk,
        .d = d,
        .scale = (float)(1.0 / sqrt((double)d)),
        .window_left = -1,
        .window_right = -1,
        .mask_rows = 64,
        .mask_cols = 64,
    };
}

void attention_set_dropout(struct attention *p, double P, uint64_t seed)
{
    p->dropout = P;
    p->dropout_threshold = (uint32_t)ceil(P * 0x1p24);
    p->dropout_seed = seed;
}

size_t attention_query_elements(const struct attention *p)
{
    return p->B * p->H * p->Nq * p->d;
}

size_t attention_key_elements(const struct attention *p)
{
    return p->B * p->Hkv * p->Nk * p->d;
}

size_t attention_rows(const struct attention *p)
{
    return p->B * p->H * p->Nq;
}

// ---- random numbers -----------------------------------------------------------------------------

/*
 * Keyed apart from dropout, which takes its counters from coordinates: with one key for both, data
 * and mask would share words.
 */
static struct philox random_words(uint64_t seed, uint32_t stream, uint64_t index, uint32_t attempt)
{
    struct philox counter = { { (uint32_t)index, (uint32_t)(index >> 32), attempt, stream } };
    return philox4x32(counter, seed ^ 0x636F75727365);
}

double random_uniform(uint64_t seed, uint32_t stream, uint64_t index)
{
    return random_words(seed, stream, index, 0).word[0] * 0x1p-32;
}

size_t random_between(uint64_t seed, uint32_t stream, uint64_t index, size_t low, size_t high)
{
    return low + (size_t)(random_uniform(seed, stream, index) * (double)(high - low + 1));
}

/*
 * ln x for 0 < x < 1. The C library's log may differ in its last bit from one machine to the next;
 * this one uses nothing but + - * /, which IEEE 754 fixes to the bit.
 * With x = 2^e m and z = (m - 1)/(m + 1):   ln x = e ln 2 + 2 (z + z^3/3 + z^5/5 + …),  |z| < 0.172.
 */
static double logarithm(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        e--;
    }
    double z = (m - 1.0) / (m + 1.0), sum = 0.0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * z * z + 1.0 / k;
    return e * 0.69314718055994531 + 2.0 * z * sum;
}

/* Marsaglia's polar method: random points of a square until one is inside the unit disc. */
double random_normal(uint64_t seed, uint32_t stream, uint64_t index)
{
    for (uint32_t attempt = 1;; attempt++) {
        struct philox w = random_words(seed, stream, index, attempt);
        double u = w.word[0] * 0x1p-31 - 1.0, v = w.word[1] * 0x1p-31 - 1.0;
        double s = u * u + v * v;
        if (s > 0.0 && s < 1.0)
            return u * sqrt(-2.0 * logarithm(s) / s);
    }
}

void random_normals(float *x, size_t n, uint64_t seed, uint32_t stream)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)random_normal(seed, stream, i);
}

// ---- pairs and tiles ----------------------------------------------------------------------------

/* The number of the key `at`, or of the nearest key or end in first … end. */
static size_t key_within(ptrdiff_t at, size_t first, size_t end)
{
    return at < (ptrdiff_t)first ? first : at > (ptrdiff_t)end ? end : (size_t)at;
}

/* A row of a block at a time: testing each pair could take longer than the attention. */
static size_t pairs_of_head(const struct attention *p, size_t b)
{
    const struct band band = attention_band(p);
    const size_t width = p->block_mask ? p->mask_cols : p->Nk, columns = (p->Nk - 1) / width + 1;
    size_t *before = allocate(p->Nk + 1, sizeof *before, "the number of keys"), pairs = 0;
    before[0] = 0;
    for (size_t j = 0; j < p->Nk; j++)  // before j, those that the key mask keeps
        before[j + 1] = before[j] + (!p->key_mask || p->key_mask[b * p->Nk + j]);
    for (size_t i = 0; i < p->Nq; i++)
        for (size_t c = 0; c < columns; c++) {
            const size_t j0 = c * width, j1 = width < p->Nk - j0 ? j0 + width : p->Nk;
            const size_t first = key_within((ptrdiff_t)i + band.low, j0, j1);
            const size_t end = key_within((ptrdiff_t)i + band.high + 1, first, j1);
            if (!p->block_mask || p->block_mask[i / p->mask_rows * columns + c])
                pairs += before[end] - before[first];
        }
    free(before);
    return pairs;
}

size_t attention_pairs(const struct attention *p)
{
    size_t pairs = 0;
    for (size_t b = 0; b < (p->key_mask ? p->B : 1); b++)
        pairs += p->H * pairs_of_head(p, b);
    return p->key_mask ? pairs : p->B * pairs;
}

void count_tiles_between(const struct attention *p, struct tile_size size, size_t begin, size_t end,
                         struct tile_counts *counts)
{
    for (size_t n = 0; n < p->B * p->H; n++)
        for (size_t i0 = 0; i0 < p->Nq; i0 += size.Br)
            for (size_t j0 = begin; j0 < end; j0 += size.Bc) {
                const size_t i1 = i0 + size.Br < p->Nq ? i0 + size.Br : p->Nq;
                const size_t j1 = j0 + size.Bc < end ? j0 + size.Bc : end;
                const enum tile_kind kind = tile_kind(p, n / p->H, n % p->H, i0, i1, j0, j1);
                counts->of_kind[kind]++;
                counts->queries += kind == TILE_SKIPPED ? 0 : i1 - i0;
                counts->keys += kind == TILE_SKIPPED ? 0 : j1 - j0;
                counts->pairs += kind == TILE_SKIPPED ? 0 : (i1 - i0) * (j1 - j0);
            }
}

struct tile_counts count_tiles(const struct attention *p, struct tile_size size)
{
    struct tile_counts counts = { .queries = 0 };
    count_tiles_between(p, size, 0, p->Nk, &counts);
    return counts;
}

// ---- inputs -------------------------------------------------------------------------------------

/* a b c d normally distributed numbers; free() them. */
static float *normal_numbers(size_t a, size_t b, size_t c, size_t d, uint64_t seed, uint32_t stream)
{
    if (a > SIZE_MAX / b || a * b > SIZE_MAX / c || a * b * c > SIZE_MAX / d)
        out_of_memory("the input", SIZE_MAX, sizeof(float));
    const size_t n = a * b * c * d;
    float *x = allocate(n, sizeof *x, "the input");
    random_normals(x, n, seed, stream);
    return x;
}

struct attention_input attention_input_random(struct attention p, uint64_t seed)
{
    struct attention_input input = {
        .p = p,
        .Q = normal_numbers(p.B, p.H, p.Nq, p.d, seed, 0),
        .K = normal_numbers(p.B, p.Hkv, p.Nk, p.d, seed, 1),
        .V = normal_numbers(p.B, p.Hkv, p.Nk, p.d, seed, 2),
        .dims = 4,
    };
    snprintf(input.origin, sizeof input.origin, "normal numbers, seed %llu",
             (unsigned long long)seed);
    return input;
}

float *attention_dO_random(const struct attention *p, uint64_t seed)
{
    return normal_numbers(p->B, p->H, p->Nq, p->d, seed, 3);
}

void attention_input_free(struct attention_input *input)
{
    free(input->Q);
    free(input->K);
    free(input->V);
    free(input->key_mask);
    free(input->block_mask);
    *input = (struct attention_input){ 0 };
}

struct tensors tensors_of(const struct attention_input *input, float *O, float *lse)
{
    return (struct tensors){ .Q = input->Q, .K = input->K, .V = input->V, .O = O, .lse = lse };
}
