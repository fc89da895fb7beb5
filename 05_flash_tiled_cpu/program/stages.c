#include "05_flash_tiled_cpu/program/stages.h"

#include "04_flash_no_tiling/flash_no_tiling.h"
#include "05_flash_tiled_cpu/steps/tile.h"
#include "common/cpu/memory.h"
#include "common/program/attention_report.h"

#include <stdlib.h>
#include <string.h>

struct result step_run(const struct step *step, const struct attention_input *input,
                       struct tile_size size)
{
    const struct attention *p = &input->p;
    struct result r = { allocate(attention_query_elements(p), sizeof(float), "O"),
                        allocate(attention_rows(p), sizeof(float), "lse") };
    poison_fill(r.O, attention_query_elements(p));
    poison_fill(r.lse, attention_rows(p));
    step->runs->run(p, size, input->Q, input->K, input->V, r.O, r.lse);
    return r;
}

void result_free(struct result *r)
{
    free(r->O);
    free(r->lse);
    *r = (struct result){ NULL, NULL };
}

const struct step *step_before(const struct step *step, const struct attention *p)
{
    while (step > steps) {
        step--;
        if (step->supports & SUPPORTS_LSE && step_comes_before(step, p))
            return step;
    }
    return NULL;
}

/* The checked rows from chapter 04, which supports all but dropout. */
static float *rows_of_chapter_04(const struct attention_input *input,
                                 const struct attention_check *check)
{
    const struct attention *p = &input->p;
    float *rows = allocate(check->count * p->d, sizeof *rows, "chapter 04's O");
    for (size_t k = 0; k < check->count; k++) {
        const size_t row = check->rows[k], i = row % p->Nq, h = row / p->Nq % p->H;
        flash_no_tiling_row(p, input->Q, input->K, input->V, row / p->Nq / p->H, h, i,
                            rows + k * p->d, NULL);
    }
    return rows;
}

struct previous previous_keep(const struct step *step, const struct attention_input *input,
                              const struct attention_check *check, const struct result *r)
{
    return (struct previous){ step->name, attention_check_rows(check, r->O, input->p.d) };
}

struct previous previous_run(const struct step *step, const struct attention_input *input,
                             const struct attention_check *check, const struct options *options)
{
    if (!step && input->p.dropout_threshold > 0)
        return (struct previous){ "04 no tiling", NULL };
    if (!step)
        return (struct previous){ "04 no tiling", rows_of_chapter_04(input, check) };
    struct result r = step_run(step, input, step_size(step, options, input->p.d));
    const struct previous previous = previous_keep(step, input, check, &r);
    result_free(&r);
    return previous;
}

void previous_free(struct previous *previous)
{
    free(previous->rows);
    previous->rows = NULL;
}

/* The same rows as `check`, with what is right for block_matmul, which has no softmax and no lse. */
static struct attention_check check_of_product(const struct attention_input *input,
                                               const struct attention_check *check)
{
    const struct attention *p = &input->p;
    struct attention_check c = *check;
    c.rows = allocate(c.count, sizeof *c.rows, "the rows to check");
    c.O = allocate(c.count * p->d, sizeof *c.O, "the reference");
    c.lse = NULL;
    memcpy(c.rows, check->rows, c.count * sizeof *c.rows);
    for (size_t k = 0; k < c.count; k++) {
        const size_t row = c.rows[k], head = row / p->Nq;
        rounding_product_row(p, input->Q, input->K, input->V, head / p->H, head % p->H, row % p->Nq,
                             c.O + k * p->d);
    }
    return c;
}

static struct attention_errors compare(const struct attention_check *check, const float *O,
                                       const float *lse, const char *name, const float *before,
                                       bool tell)
{
    return tell ? attention_check_report(check, O, lse, name, before)
                : attention_check_errors(check, O, lse, before);
}

struct attention_errors step_check(const struct step *step, const struct attention_input *input,
                                   const struct attention_check *check,
                                   const struct previous *previous, const struct result *r,
                                   bool tell)
{
    const struct attention *p = &input->p;
    float *O = attention_check_rows(check, r->O, p->d), *lse = NULL;
    struct attention_errors errors;
    if (step->is_product) {
        struct attention_check product = check_of_product(input, check);
        errors = compare(&product, O, NULL, NULL, NULL, tell);
        attention_check_end(&product);
    } else {
        if (step->supports & SUPPORTS_LSE)
            lse = attention_check_rows(check, r->lse, 1);
        errors = compare(check, O, lse, previous->name, previous->rows, tell);
    }
    free(lse);
    free(O);
    return errors;
}
