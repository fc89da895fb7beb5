/* Gradients, and a step that is a product, not attention; and the files of a single step. */
#include "common/cpu/memory.h"
#include "common/lab/lab.h"
#include "common/lab/speed.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdlib.h>

struct attention_errors gradient_check_report(const struct gradient_check *check,
                                              float *const got[GRADIENTS], const char *name,
                                              float *const before[GRADIENTS])
{
    struct gradient_verdict v = gradient_verdict_of(check, got, name, before);
    struct comparison lines[2 * GRADIENTS];
    for (size_t g = 0; g < GRADIENTS; g++) {
        lines[g] = v.pairs[g].reference;
        lines[GRADIENTS + g] = v.pairs[g].previous;
    }
    report_compared(lines, 2 * GRADIENTS);
    if (check->count[DQ] < check->shape[DQ][0] * check->shape[DQ][1] * check->shape[DQ][2])
        report_line("  checked at %zu rows of dQ and %zu of dK and dV; --verify=all checks all",
                    check->count[DQ], check->count[DK]);
    return gradient_verdict_end(&v);
}

struct attention_errors lab_compare_gradients(const struct lab *lab, const struct step *step,
                                              struct tensors x, const struct previous *before,
                                              bool tell)
{
    float *const got[] = { x.dQ, x.dK, x.dV };
    float *const *const others = before->name ? before->of : NULL;
    struct gradient_check gradients = lab->gradients;
    gradients.stored = step_stored(step, &lab->input.p);
    return tell ? gradient_check_report(&gradients, got, before->name, others)
                : gradient_check_errors(&gradients, got, others);
}

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
    const struct attention_errors errors =
        tell ? attention_check_report(&c, O, NULL, NULL, NULL)
             : attention_verdict_end(attention_verdict_of(&c, O, NULL, NULL, NULL));
    free(c.O);
    free(O);
    return errors;
}

void lab_write(const struct lab *lab, const struct step *step, const char *previous,
               struct attention_errors errors)
{
    const struct options *const o = &lab->o;
    attention_write(o, &lab->input, lab->x.O, lab->x.lse);
    if (lab->chapter->backward)
        attention_write_gradients(o, &lab->input, lab->x.dQ, lab->x.dK, lab->x.dV);
    if (!o->csv || o->bench)
        return;
    const struct attention *const p = &lab->input.p;
    const struct step *const plain = step->formula || !lab->plain ? step : lab->plain;
    struct count count = lab->count;
    if (plain != step && can_be_counted(lab, plain))
        count = count_step(plain, p, lab->size, lab->x);
    const double seconds =
        step->is_kernel ? device_seconds(lab, step) : speed_of(step, p, lab->size, lab->x, 0.05);
    report_summary(o->csv, &(struct summary){
                               .accesses = step_formula(plain, p),
                               .counted = count.total,
                               .extra_bytes = count.slow_bytes + count.fast_bytes,
                               .milliseconds = 1e3 * seconds,
                               .error = errors.reference,
                               .previous = errors.has_previous ? previous : NULL,
                               .previous_error = errors.previous,
                           });
}
