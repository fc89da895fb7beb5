#include "common/problem/attention.h"

#include <math.h>

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
