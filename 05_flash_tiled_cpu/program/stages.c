#include "05_flash_tiled_cpu/program/stages.h"

#include "04_flash_no_tiling/flash_no_tiling.h"
#include "05_flash_tiled_cpu/steps/tile.h"
#include "common/cpu/memory.h"
#include "common/program/attention_report.h"

#include <stdlib.h>
#include <string.h>

const char *step_lacks(const struct step *step, const struct attention *p)
{
    if (p->dropout_threshold > 0 && !step->dropout)
        return "--dropout";
    if (step->masks)
        return NULL;
    if (p->causal && !step->causal)
        return "--causal";
    if (p->window_left >= 0 || p->window_right >= 0)
        return "--window";
    if (p->block_mask)
        return "--block-mask";
    return p->key_mask ? "--key-mask" : NULL;
}

struct tile_size step_size(const struct step *step, const struct options *options, size_t d)
{
    struct tile_size size = step->usual;
    if (options->sram || size.Br == 0)
        size = step->size(options->sram ? options->sram : USUAL_M, d);
    if (options->br)
        size.Br = options->br;
    if (options->bc)
        size.Bc = options->bc;
    return size;
}

struct result step_run(const struct step *step, const struct attention_input *input,
                       struct tile_size size)
{
    const struct attention *p = &input->p;
    struct result r = { allocate(attention_query_elements(p), sizeof(float), "O"),
                        allocate(attention_rows(p), sizeof(float), "lse") };
    poison_fill(r.O, attention_query_elements(p));
    poison_fill(r.lse, attention_rows(p));
    step->run(p, size, input->Q, input->K, input->V, r.O, r.lse);
    return r;
}

void result_free(struct result *r)
{
    free(r->O);
    free(r->lse);
    *r = (struct result){ NULL, NULL };
}

/*
 * The nearest earlier step that can do the problem; NULL: none. Where no step was chosen it is the
 * chapter that is compared, and what comes before is chapter 04, if it can.
 */
static const struct step *step_before(const struct step *step, const struct attention *p,
                                      bool chosen)
{
    if (!chosen && p->dropout_threshold == 0)
        return NULL;
    for (const struct step *s = step - 1; s > &steps[STANDARD]; s--)
        if (s->is_attention && !step_lacks(s, p))
            return s;
    return NULL;
}

/* The checked rows from chapter 04, which knows all but dropout. */
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

/* Row o of (scale Q K^T) V for one query, in double and as float32 computes it. */
static void product_row(struct head a, size_t i, double *right, float *plain)
{
    const size_t d = a.p->d;
    for (size_t k = 0; k < d; k++)
        plain[k] = 0.0f, right[k] = 0.0;
    for (size_t j = 0; j < a.p->Nk; j++) {
        double score = 0.0;
        float score_f = 0.0f;
        for (size_t k = 0; k < d; k++) {
            score += (double)a.Q[i * d + k] * (double)a.K[j * d + k];
            score_f += a.Q[i * d + k] * a.K[j * d + k];
        }
        for (size_t k = 0; k < d; k++) {
            right[k] += (double)a.p->scale * score * (double)a.V[j * d + k];
            plain[k] += a.p->scale * score_f * a.V[j * d + k];
        }
    }
}

/* The same rows as `check`, with what is right for block_matmul, which has no softmax. */
static struct attention_check check_of_product(const struct attention_input *input,
                                               const struct attention_check *check)
{
    const struct attention *p = &input->p;
    struct attention_check c = {
        .count = check->count,
        .shape = { p->B, p->H, p->Nq, p->d },
        .rows = allocate(check->count, sizeof *c.rows, "the rows to check"),
        .values = allocate(p->B * p->H, sizeof *c.values, "the sizes of values"),
        .right = allocate(check->count * p->d, sizeof *c.right, "the reference"),
        .lse = allocate(check->count, sizeof *c.lse, "the reference"),
        .plain = allocate(check->count * p->d, sizeof *c.plain, "the textbook product"),
        .plain_lse = allocate(check->count, sizeof *c.plain_lse, "the textbook product"),
    };
    memcpy(c.values, check->values, p->B * p->H * sizeof *c.values);
    for (size_t k = 0; k < c.count; k++) {
        const size_t row = c.rows[k] = check->rows[k];
        c.lse[k] = 0.0, c.plain_lse[k] = 0.0f;
        product_row(head_of(p, row / p->Nq, input->Q, input->K, input->V, NULL, NULL), row % p->Nq,
                    c.right + k * p->d, c.plain + k * p->d);
    }
    return c;
}

static struct attention_errors compare(const struct attention_check *check,
                                       const struct attention *p, const float *O, const float *lse,
                                       const char *name, const float *before, bool tell)
{
    return tell ? attention_check_report(check, p, O, lse, name, before)
                : attention_check_errors(check, p, O, lse, before);
}

struct verdict step_check(const struct step *step, const struct attention_input *input,
                          const struct attention_check *check, const struct options *options,
                          const struct result *r, bool tell)
{
    const struct attention *p = &input->p;
    struct verdict v = { .before = "" };
    float *O = attention_check_rows(check, r->O, p->d);
    if (!step->is_attention) {
        struct attention_check product = check_of_product(input, check);
        v.errors = compare(&product, p, O, NULL, NULL, NULL, tell);
        attention_check_end(&product);
        free(O);
        return v;
    }
    float *lse = step == &steps[STANDARD] ? NULL : attention_check_rows(check, r->lse, 1);
    float *before = NULL;
    const struct step *earlier = step_before(step, p, options->kernel || !tell);
    v.before = earlier ? earlier->name : "04 no tiling";
    if (earlier) {
        struct result of_earlier = step_run(earlier, input, step_size(earlier, options, p->d));
        before = attention_check_rows(check, of_earlier.O, p->d);
        result_free(&of_earlier);
    } else if (p->dropout_threshold == 0) {
        before = rows_of_chapter_04(input, check);
    }
    v.errors = compare(check, p, O, lse, v.before, before, tell);
    free(before);
    free(lse);
    free(O);
    return v;
}
