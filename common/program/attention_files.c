#include "common/program/attention_files.h"

#include "common/files/npy.h"
#include "common/program/report.h"

#include <stdio.h>

/* The shape of `npy`, whose numbers are not read. */
static struct attention_array array_of(const char *path, const struct npy *npy)
{
    char shape[100];
    if (npy->dims < 2 || npy->dims > 4)
        options_fail(path, "expected shape (N, d), (H, N, d) or (B, H, N, d), found %s",
                     npy_shape_text(npy->dims, npy->shape, shape, sizeof shape));
    if (npy->type == NPY_B1 || npy->type == NPY_U1)
        options_fail(path, "expected float16, float32 or float64 numbers, found a mask");
    struct attention_array a = { .path = path, .dims = npy->dims, .shape = { 1, 1, 1, 1 } };
    for (int k = 0; k < npy->dims; k++)
        a.shape[4 - npy->dims + k] = npy->shape[k];
    return a;
}

struct attention_array attention_array_read(const char *path)
{
    struct npy npy;
    struct file_error error;
    if (!npy_read(path, &npy, &error))
        options_fail(path, "%s", error.text);
    struct attention_array a = array_of(path, &npy);
    a.x = npy_floats(&npy);
    npy_free(&npy);
    return a;
}

struct attention_array attention_array_open(const char *path, struct npy_parts *parts)
{
    struct file_error error;
    if (!npy_parts_open(path, parts, &error))
        options_fail(path, "%s", error.text);
    return array_of(path, &parts->array);
}

/* Exits unless a and b have the same size along `axis`, named `name`. */
static void same_size(const struct attention_array *a, const struct attention_array *b, int axis,
                      const char *name)
{
    if (a->shape[axis] != b->shape[axis])
        options_fail(b->path, "expected the %s of %s, %zu, found %zu", name, a->path,
                     a->shape[axis], b->shape[axis]);
}

struct attention attention_of_arrays(const struct attention_array *Q,
                                     const struct attention_array *K,
                                     const struct attention_array *V)
{
    if (K->dims != Q->dims || V->dims != Q->dims)
        options_fail(K->dims != Q->dims ? K->path : V->path,
                     "expected as many dimensions as %s, %d, found %d", Q->path, Q->dims,
                     K->dims != Q->dims ? K->dims : V->dims);
    same_size(Q, K, 0, "batch size");
    same_size(Q, K, 3, "row length d");
    same_size(K, V, 0, "batch size");
    same_size(K, V, 1, "number of heads");
    same_size(K, V, 2, "number of keys");
    same_size(K, V, 3, "row length d");
    if (Q->shape[1] % K->shape[1] != 0)
        options_fail(K->path, "expected a number of heads that divides the %zu of %s, found %zu",
                     Q->shape[1], Q->path, K->shape[1]);
    if (Q->shape[3] > ATTENTION_MAX_D)
        options_fail(Q->path, "expected rows of at most %d elements, found %zu", ATTENTION_MAX_D,
                     Q->shape[3]);
    return attention_of(Q->shape[0], Q->shape[1], K->shape[1], Q->shape[2], K->shape[2],
                        Q->shape[3]);
}

struct attention_input attention_files(const char *q, const char *k, const char *v)
{
    const struct attention_array Q = attention_array_read(q), K = attention_array_read(k),
                                 V = attention_array_read(v);
    return (struct attention_input){
        .p = attention_of_arrays(&Q, &K, &V),
        .Q = Q.x,
        .K = K.x,
        .V = V.x,
        .dims = Q.dims,
    };
}

/* Exits unless the mask is one, and has this shape. */
static void check_mask(const char *path, const struct npy *npy, size_t rows, size_t columns,
                       const char *meaning)
{
    char found[100], wanted[100];
    const size_t shape[2] = { rows, columns };
    if (npy->type != NPY_B1 && npy->type != NPY_U1)
        options_fail(path, "expected a mask of bool or uint8, found numbers");
    if (npy->dims != 2 || npy->shape[0] != rows || npy->shape[1] != columns)
        options_fail(path, "expected shape %s = %s, found %s", meaning,
                     npy_shape_text(2, shape, wanted, sizeof wanted),
                     npy_shape_text(npy->dims, npy->shape, found, sizeof found));
}

void attention_mask_open(const char *path, size_t rows, size_t columns, const char *meaning,
                         struct npy_parts *parts)
{
    struct file_error error;
    if (!npy_parts_open(path, parts, &error))
        options_fail(path, "%s", error.text);
    check_mask(path, &parts->array, rows, columns, meaning);
}

uint8_t *attention_mask_read(const char *path, size_t rows, size_t columns, const char *meaning)
{
    struct npy npy;
    struct file_error error;
    if (!npy_read(path, &npy, &error))
        options_fail(path, "%s", error.text);
    check_mask(path, &npy, rows, columns, meaning);
    return npy.data;
}

/* report_close will write x, (B, heads, rows, d), in as many dimensions as Q had. */
static void write_rows(const char *path, const struct attention_input *input, size_t heads,
                       size_t rows, const float *x)
{
    const size_t shape[4] = { input->p.B, heads, rows, input->p.d };
    report_array(path, input->dims, shape + 4 - input->dims, x);
}

void attention_write_gradients(const struct options *options, const struct attention_input *input,
                               const float *dQ, const float *dK, const float *dV)
{
    const struct attention *p = &input->p;
    write_rows(options->dQ, input, p->H, p->Nq, dQ);
    write_rows(options->dK, input, p->Hkv, p->Nk, dK);
    write_rows(options->dV, input, p->Hkv, p->Nk, dV);
}

void attention_write(const struct options *options, const struct attention_input *input,
                     const float *O, const float *lse)
{
    const struct attention *p = &input->p;
    write_rows(options->output, input, p->H, p->Nq, O);
    report_array(options->lse, 3, (const size_t[]){ p->B, p->H, p->Nq }, lse);
}
