#include "05_flash_tiled_cpu/fast/columns.h"

#include <float.h>

struct columns *columns_new(void)
{
    return (struct columns *)extra_fast("a tile of queries",
                                        sizeof(struct columns) / sizeof(float));
}

columns_row *columns_scores_new(size_t n)
{
    return (columns_row *)extra_fast("a tile of S", n * QUERIES);
}

void columns_begin(struct columns *t, const struct head *a, size_t i0)
{
    const size_t d = a->p->d;
    t->i0 = i0;
    t->scale = scale_of(a->p->scale);
    for (size_t i = 0; i < QUERIES; i++) {
        const float *q = a->Q + min(i0 + i, a->p->Nq - 1) * d;
        for (size_t k = 0; k < d; k++) {
            t->Q[k][i] = t->scale.sign * q[k];
            t->O[k][i] = 0.0f;
        }
        t->m[i] = -FLT_MAX;
        t->l[i] = 0.0f;
    }
}

void columns_end(const struct columns *t, const struct head *a)
{
    const size_t d = a->p->d;
    for (size_t i = 0; i < QUERIES && t->i0 + i < a->p->Nq; i++) {
        const float l = t->l[i], divisor = l == 0.0f ? 1.0f : l;
        for (size_t k = 0; k < d; k++)
            a->O[(t->i0 + i) * d + k] = t->O[k][i] / divisor;
        if (a->lse)
            a->lse[t->i0 + i] = t->m[i] * t->scale.size + logf(l);
    }
}
