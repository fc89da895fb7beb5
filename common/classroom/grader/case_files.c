/*
 * A case as a program gets it: files, and options of its command line.
 */
#include "common/classroom/grader/grade.h"

#include "common/files/npy.h"

static void put(const char *folder, const char *name, enum npy_type type, int dims,
                const size_t *shape, const void *data)
{
    char path[4096];
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (!npy_write(path, type, dims, shape, data, &error))
        options_fail(path, "%s", error.text);
}

void case_input_write(const struct graded_program *program, const struct test_case *c,
                      const struct case_input *in, const char *folder)
{
    if (program->kind == OF_ROWS) {
        put(folder, "x", NPY_F4, 2, (const size_t[]){ c->rows, c->cols }, in->x);
        return;
    }
    if (program->kind == OF_MERGE || program->kind == OF_SHARE) {
        put(folder, "states", NPY_F4, 2, (const size_t[]){ c->rows, 4 }, in->x);
        return;
    }
    if (program->kind == OF_DSINK) {
        put(folder, "states", NPY_F4, 2, (const size_t[]){ c->rows, 1 + 2 * c->cols }, in->x);
        return;
    }
    const struct attention *p = &in->attention.p;
    const size_t queries[4] = { p->B, p->H, p->Nq, p->d }, keys[4] = { p->B, p->Hkv, p->Nk, p->d };
    put(folder, "q", NPY_F4, 4, queries, in->attention.Q);
    put(folder, "k", NPY_F4, 4, keys, in->attention.K);
    put(folder, "v", NPY_F4, 4, keys, in->attention.V);
    if (program->kind == OF_SINK)
        put(folder, "x", NPY_F4, 1, &p->H, in->x);
    if (c->key_mask)
        put(folder, "mask", NPY_B1, 2, (const size_t[]){ p->B, p->Nk }, in->attention.key_mask);
    if (program->kind == OF_BACKWARD) {
        put(folder, "do", NPY_F4, 4, queries, in->dO);
        put(folder, "o", NPY_F4, 4, queries, in->O);
        put(folder, "lse", NPY_F4, 3, queries, in->lse);
        put(folder, "m", NPY_F4, 3, queries, in->m);
        put(folder, "l", NPY_F4, 3, queries, in->l);
    }
}

char *case_options(const struct graded_program *program, const struct test_case *c, char *text,
                   size_t size)
{
    const struct attention *p = &c->p;
    char scale[40] = "", window[60] = "", blocks[80] = "", dropout[60] = "", tiles[60] = "",
         softcap[40] = "";
    text[0] = '\0';
    if (is_of_rows(program->kind))
        return text;
    if (p->scale != 0.0f)
        snprintf(scale, sizeof scale, " --scale=%.9g", (double)p->scale);
    if (p->softcap > 0.0f)
        snprintf(softcap, sizeof softcap, " --softcap=%.9g", (double)p->softcap);
    if (p->window_left >= 0)
        snprintf(window, sizeof window, " --window=%td,%td", p->window_left, p->window_right);
    if (p->dropout > 0.0)
        snprintf(dropout, sizeof dropout, " --dropout=%.17g --dropout-seed=%d", p->dropout,
                 DROPOUT_SEED);
    if (p->mask_rows > 0)
        snprintf(blocks, sizeof blocks, " --block-mask=band:%d --mask-block=%zu,%zu", BAND,
                 p->mask_rows, p->mask_cols);
    if (c->Br > 0)
        snprintf(tiles, sizeof tiles, " --br=%zu --bc=%zu", c->Br, c->Bc);
    else if (p->dtype != DTYPE_F32)
        snprintf(tiles, sizeof tiles, " --dtype=%s", dtype_name(p->dtype));
    snprintf(text, size, "--q=in/q.npy --k=in/k.npy --v=in/v.npy%s%s%s%s%s%s%s%s%s",
             program->kind == OF_BACKWARD ? " --do=in/do.npy" : "",
             c->key_mask ? " --key-mask=in/mask.npy" : "",
             p->causal ? (p->top_left ? " --causal=top-left" : " --causal") : "", scale, softcap,
             window, dropout, blocks, tiles);
    return text;
}
