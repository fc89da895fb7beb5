/* A step that is a product, not attention; and the files of a single step. */
#include "common/cpu/memory.h"
#include "common/lab/device_speed.h"
#include "common/lab/lab.h"
#include "common/lab/speed.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdlib.h>

struct attention_errors lab_compare_product(const struct lab *lab, const float *whole, bool tell)
{
    const struct attention *p = &lab->input.p;
    struct attention_check c = lab->check;
    float *const O = attention_check_rows(&c, whole, p->d);
    c.O = allocate(c.count * p->d, sizeof *c.O, "the reference");
    for (size_t k = 0; k < c.count; k++) {
        const size_t row = c.rows[k], head = row / p->Nq;
        rounding_product_row(p, lab->x.Q, lab->x.K, lab->x.V, head / p->H, head % p->H, row % p->Nq,
                             c.O + k * p->d);
    }
    const struct attention_errors errors = tell ? attention_check_report(&c, O, NULL, NULL, NULL)
                                                : attention_check_errors(&c, O, NULL, NULL);
    free(c.O);
    free(O);
    return errors;
}

void lab_write(const struct lab *lab, const struct step *step, const char *previous,
               struct attention_errors errors)
{
    const struct options *const o = &lab->o;
    const struct step *const plain = step->formula || !lab->plain ? step : lab->plain;
    attention_write(o, &lab->input, lab->x.O, lab->x.lse);
    if (lab->chapter->backward)
        attention_write_gradients(o, &lab->input, lab->x.dQ, lab->x.dK, lab->x.dV);
    if (!o->csv || o->bench)
        return;
    if (step->is_kernel) {
        step_write_csv(o->csv, step_formula(step, &lab->input.p), &lab->count,
                       device_seconds(lab, step), previous, errors);
        return;
    }
    struct count count = lab->count;
    if (plain != step && can_be_counted(lab, plain))
        count = count_step(plain, &lab->input.p, lab->size, lab->x);
    step_write_csv(o->csv, plain->formula, &count,
                   speed_of(step, &lab->input.p, lab->size, lab->x, 0.05), previous, errors);
}
