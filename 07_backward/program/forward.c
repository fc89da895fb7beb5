/*
 * The forward pass that feeds the backward pass: chapter 05's.
 */
#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/tile.h"
#include "07_backward/program/chapter.h"
#include "common/cpu/memory.h"

#include <stdlib.h>

/* fa1's forward pass keeps m and l, where others keep lse: the keys joined one by one. */
static void statistics_of_row(const struct head *a, size_t i, float *m, float *l)
{
    const struct attention *p = a->p;
    struct softmax_state state = SOFTMAX_EMPTY;
    for (size_t j = 0; j < p->Nk; j++) {
        float x = 0.0f;
        if (!visible(p, a->b, a->h, i, j))
            continue;
        for (size_t k = 0; k < p->d; k++)
            x += a->Q[i * p->d + k] * a->K[j * p->d + k];
        x *= p->scale;
        state = softmax_merge(state, (struct softmax_state){ x, x == -INFINITY ? 0.0f : 1.0f });
    }
    *m = state.m;
    *l = state.l;
}

struct kept kept_by_forward(const struct attention_input *input)
{
    const struct attention *p = &input->p;
    const size_t rows = attention_rows(p);
    struct kept kept = { allocate(attention_query_elements(p), sizeof(float), "O"),
                         allocate(rows, sizeof(float), "lse"), allocate(rows, sizeof(float), "m"),
                         allocate(rows, sizeof(float), "l") };
    complete(p, (struct tile_size){ 64, 128 }, tensors_of(input, kept.O, kept.lse));
    for (size_t row = 0; row < rows; row++) {
        const struct head a = head_of(p, row / p->Nq, tensors_of(input, NULL, NULL));
        statistics_of_row(&a, row % p->Nq, &kept.m[row], &kept.l[row]);
    }
    return kept;
}

void kept_free(struct kept *kept)
{
    free(kept->O);
    free(kept->lse);
    free(kept->m);
    free(kept->l);
    *kept = (struct kept){ NULL, NULL, NULL, NULL };
}

struct tensors backward_tensors(const struct attention_input *input, const struct kept *kept,
                                const float *dO)
{
    return (struct tensors){
        .Q = input->Q,
        .K = input->K,
        .V = input->V,
        .O = kept->O,
        .lse = kept->lse,
        .dO = dO,
        .m = kept->m,
        .l = kept->l,
    };
}
