#include "07_backward/steps/forward.h"
#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/tile.h"
#include "common/cpu/memory.h"
#include "common/program/attention_load.h"

#include <stdlib.h>

/* For fa1, which has no softcap; complete computes only lse. */
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

void forward_pass(const struct attention *p, struct tensors *x)
{
    const size_t rows = attention_rows(p);
    float *const m = allocate(rows, sizeof *m, "m"), *const l = allocate(rows, sizeof *l, "l");
    x->O = allocate(attention_query_elements(p), sizeof *x->O, "O");
    x->lse = allocate(rows, sizeof *x->lse, "lse");
    complete(p, (struct tile_size){ 64, 128 }, *x);
    for (size_t row = 0; row < rows; row++) {
        const struct head a = head_of(p, row / p->Nq, *x);
        statistics_of_row(&a, row % p->Nq, &m[row], &l[row]);
    }
    x->m = m;
    x->l = l;
}

void forward_free(struct tensors *x)
{
    free(x->O);
    free(x->lse);
    free((float *)x->m);
    free((float *)x->l);
    x->O = x->lse = NULL;
    x->m = x->l = NULL;
}

void backward_load(struct lab *lab)
{
    lab_load(lab);
    lab->x.dO = attention_input_dO(&lab->input, &lab->o);
}

void backward_input(struct lab *lab)
{
    lab_input(lab);
    if (lab->o.dO)
        report_line("dO: %s", lab->o.dO);
    else
        report_line("dO: normal numbers, seed %llu", (unsigned long long)lab->o.seed);
    if (lab->o.dtype != DTYPE_F32)
        report_line("dO and the forward pass's O are rounded too");
}

struct lab backward_random(const struct chapter *chapter, struct attention p,
                           const struct options *options)
{
    struct lab lab = lab_of(chapter, attention_input_random(p, options->seed), options);
    lab.x.dO = attention_dO_random(&p, options->seed);
    forward_pass(&p, &lab.x);
    return lab;
}

struct result backward_run(const struct step *step, const struct lab *lab, struct tile_size size)
{
    const struct tensors x = step_run(step, &lab->input.p, size, lab->x);
    return (struct result){ { x.dQ, x.dK, x.dV }, DTYPE_F32 };
}

void result_free(struct result *r)
{
    for (size_t g = 0; g < GRADIENTS; g++)
        free(r->of[g]);
    *r = (struct result){ .of = { NULL } };
}
