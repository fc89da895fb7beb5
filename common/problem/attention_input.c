#include "common/problem/attention_input.h"

#include "common/cpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* For each j up to Nk: the number of keys before j that the key mask of batch entry b keeps. */
static size_t *keys_before(const struct attention *p, size_t b)
{
    size_t *before = allocate(p->Nk + 1, sizeof *before, "the number of keys");
    before[0] = 0;
    for (size_t j = 0; j < p->Nk; j++)
        before[j + 1] = before[j] + (!p->key_mask || p->key_mask[b * p->Nk + j]);
    return before;
}

static ptrdiff_t between(ptrdiff_t least, ptrdiff_t x, ptrdiff_t most)
{
    return x < least ? least : x > most ? most : x;
}

/* The pairs of queries i0 … i1-1 and keys j0 … j1-1 within the band and the key mask. */
static size_t pairs_in_tile(const struct attention *p, const size_t *before, size_t i0, size_t i1,
                            size_t j0, size_t j1)
{
    const struct band band = attention_band(p);
    const ptrdiff_t nearest = (ptrdiff_t)j0 - (ptrdiff_t)i1 + 1;
    const ptrdiff_t farthest = (ptrdiff_t)j1 - (ptrdiff_t)i0 - 1;
    size_t pairs = 0;
    if (farthest < band.low || nearest > band.high)
        return 0;
    if (nearest >= band.low && farthest <= band.high)
        return (i1 - i0) * (before[j1] - before[j0]);
    for (ptrdiff_t i = (ptrdiff_t)i0; i < (ptrdiff_t)i1; i++) {
        const ptrdiff_t first = between((ptrdiff_t)j0, i + band.low, (ptrdiff_t)j1);
        pairs += before[between(first, i + band.high + 1, (ptrdiff_t)j1)] - before[first];
    }
    return pairs;
}

/* Counts block by block: testing each pair may take longer than the attention itself. */
static size_t pairs_of_head(const struct attention *p, size_t b)
{
    const size_t rows = p->block_mask ? p->mask_rows : p->Nq;
    const size_t columns = p->block_mask ? p->mask_cols : p->Nk;
    const uint8_t *block = p->block_mask;
    size_t *before = keys_before(p, b), pairs = 0;
    for (size_t i = 0; i < p->Nq; i += rows)
        for (size_t j = 0; j < p->Nk; j += columns)
            if (!block || *block++)
                pairs += pairs_in_tile(p, before, i, i + rows < p->Nq ? i + rows : p->Nq, j,
                                       j + columns < p->Nk ? j + columns : p->Nk);
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

static float *numbers(size_t a, size_t b, size_t c, size_t d, uint64_t seed, uint32_t stream)
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
        .Q = numbers(p.B, p.H, p.Nq, p.d, seed, 0),
        .K = numbers(p.B, p.Hkv, p.Nk, p.d, seed, 1),
        .V = numbers(p.B, p.Hkv, p.Nk, p.d, seed, 2),
        .dims = 4,
    };
    snprintf(input.origin, sizeof input.origin, "normal numbers, seed %llu",
             (unsigned long long)seed);
    return input;
}

float *attention_dO_random(const struct attention *p, uint64_t seed)
{
    return numbers(p->B, p->H, p->Nq, p->d, seed, 3);
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

/* The largest norm of n rows of d elements, without infinite ones. */
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

double attention_largest_score(const struct attention_input *input)
{
    const struct attention *p = &input->p;
    return fmax(1.0, fabs((double)p->scale)) * longest_row(input->Q, attention_rows(p), p->d) *
           longest_row(input->K, p->B * p->Hkv * p->Nk, p->d);
}
