#include "07_backward/steps/differences.h"

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"

#include <stdlib.h>

struct rows {
    size_t first, count;
};

/* The rows of O, in (B, H, Nq), that the element affects. */
static struct rows rows_of(const struct attention *p, size_t array, size_t index)
{
    if (array == DQ)
        return (struct rows){ index / p->d, 1 };
    const size_t head = index / p->d / p->Nk, group = p->H / p->Hkv;
    return (struct rows){ head * group * p->Nq, group * p->Nq };
}

static double loss_in_double(const struct lab *lab, struct rows rows)
{
    const struct attention_input *in = &lab->input;
    const struct attention *p = &in->p;
    double O[ATTENTION_MAX_D], loss = 0.0;
    for (size_t row = rows.first; row < rows.first + rows.count; row++) {
        const size_t h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        reference_forward_row(p, in->Q, in->K, in->V, b, h, row % p->Nq, O, NULL);
        for (size_t k = 0; k < p->d; k++)
            loss += (double)lab->x.dO[row * p->d + k] * O[k];
    }
    return loss;
}

/* O in float32, its sum in double. */
static double loss_in_float(const struct lab *lab, struct rows rows)
{
    const struct attention_input *in = &lab->input;
    const struct attention *p = &in->p;
    float *O = allocate(attention_query_elements(p), sizeof *O, "O");
    double loss = 0.0;
    complete(p, (struct tile_size){ 64, 128 }, tensors_of(in, O, NULL));
    for (size_t n = rows.first * p->d; n < (rows.first + rows.count) * p->d; n++)
        loss += (double)lab->x.dO[n] * (double)O[n];
    free(O);
    return loss;
}

double difference_at(const struct lab *lab, size_t array, size_t index, float h,
                     enum precision precision)
{
    const struct attention_input *in = &lab->input;
    float *const x = (array == DQ ? in->Q : array == DK ? in->K : in->V) + index;
    double (*const loss)(const struct lab *, struct rows) =
        precision == IN_DOUBLE ? loss_in_double : loss_in_float;
    const struct rows rows = rows_of(&in->p, array, index);
    const float at = *x, above = at + h, below = at - h;  // rounded, so not exactly 2h apart
    *x = above;
    const double more = loss(lab, rows);
    *x = below;
    const double less = loss(lab, rows);
    *x = at;
    return (more - less) / ((double)above - (double)below);
}
