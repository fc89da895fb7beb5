/* Writes one step's output. */
#include "common/cpu/memory.h"
#include "common/lab/device_speed.h"
#include "common/lab/lab.h"
#include "common/lab/speed.h"
#include "common/program/attention_files.h"

struct attention_check lab_product_check(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    struct attention_check c = lab->check;
    c.O = allocate(c.count * p->d, sizeof *c.O, "the reference");
    c.lse = NULL;
    for (size_t k = 0; k < c.count; k++) {
        const size_t row = c.rows[k], head = row / p->Nq;
        rounding_product_row(p, lab->x.Q, lab->x.K, lab->x.V, head / p->H, head % p->H, row % p->Nq,
                             c.O + k * p->d);
    }
    return c;
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
