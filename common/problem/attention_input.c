#include "common/problem/attention_input.h"

#include "common/cpu/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Pairs of one head, where nothing but the distance of a query and a key counts: a GPU's problems are too large to ask
 * for each pair. */
static size_t pairs_in_band(const struct attention *p)
{
    const struct band band = attention_band(p);
    size_t pairs = 0;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)p->Nq; i++) {
        const ptrdiff_t first = i + band.low < 0 ? 0 : i + band.low;
        const ptrdiff_t last =
            i + band.high < (ptrdiff_t)p->Nk ? i + band.high : (ptrdiff_t)p->Nk - 1;
        pairs += last < first ? 0 : (size_t)(last - first + 1);
    }
    return pairs;
}

size_t attention_pairs(const struct attention *p)
{
    if (!p->key_mask && !p->block_mask)
        return p->B * p->H * pairs_in_band(p);
    size_t pairs = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++)
                for (size_t j = 0; j < p->Nk; j++)
                    pairs += visible(p, b, h, i, j) ? 1 : 0;
    return pairs;
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
