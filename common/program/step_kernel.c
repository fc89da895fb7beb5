/* What differs for kernels: types and sizes of problems, tiles, and what is stored. */
#include "common/program/step.h"

#include <stdio.h>
#include <string.h>

enum { MOST_HEADS = 65535, MOST_N = 1000000 };  // limits of a kernel's grid and its indices

static const struct dims *step_dims(const struct step *step, enum dtype type)
{
    static const struct dims in_C[] = { { .most = ATTENTION_MAX_D }, { .most = 0 } };
    if (!step->is_kernel)
        return &in_C[type != DTYPE_F32];
    return type == DTYPE_F32 ? &step->f32 : &step->f16;
}

bool step_takes_type(const struct step *step, enum dtype type)
{
    if (type == DTYPE_BF16 && step->float16_only)
        return false;
    return step_dims(step, type)->most > 0 || step_dims(step, type)->only[0] > 0;
}

/* NULL, or "d = 40 (d is 64 or 128)". */
static const char *unsupported_d(const struct step *step, const struct attention *p)
{
    static char text[100];
    const struct dims *dims = step_dims(step, p->dtype);
    const size_t *only = dims->only;
    char list[60] = "";
    for (size_t k = 0; only[k]; k++) {
        const size_t used = strlen(list);
        if (only[k] == p->d)
            return NULL;
        snprintf(list + used, sizeof list - used, "%s%zu",
                 k == 0        ? ""
                 : only[k + 1] ? ", "
                               : " or ",
                 only[k]);
    }
    if (p->d <= dims->most)
        return NULL;
    if (dims->most)
        snprintf(list, sizeof list, "at most %zu", dims->most);
    const bool narrow = p->dtype != DTYPE_F32 && step_takes_type(step, DTYPE_F32);
    snprintf(text, sizeof text, "d = %zu (d is %s%s%s)", p->d, list, narrow ? " with --dtype " : "",
             narrow ? dtype_name(p->dtype) : "");
    return text;
}

const char *step_unsupported_size(const struct step *step, const struct attention *p)
{
    static char text[40];
    if (step->is_kernel && p->B * p->H > MOST_HEADS)
        return "more than 65 535 heads";
    if (step->is_kernel && (p->Nq > MOST_N || p->Nk > MOST_N))
        return "more than 1 000 000 queries or keys";
    if (step_takes_type(step, p->dtype))
        return unsupported_d(step, p);
    snprintf(text, sizeof text, "--dtype %s", dtype_name(p->dtype));
    return text;
}

const struct kernel_tile *step_tile(const struct step *step, const struct attention *p, size_t Br,
                                    size_t Bc)
{
    const bool has_some = step->tiles && p->dtype != DTYPE_F32;
    for (const struct kernel_tile *tile = step->tiles; has_some && tile->d; tile++)
        if (tile->d == p->d && (!Br || tile->Br == Br) && (!Bc || tile->Bc == Bc))
            return tile;
    return NULL;
}

struct kernel_shape step_shape(const struct step *kernel, const struct attention *p,
                               struct tile_size size)
{
    const struct kernel_tile *tile = step_tile(kernel, p, size.Br, size.Bc);
    if (!tile)
        tile = step_tile(kernel, p, 0, 0);
    struct kernel_shape shape = { 0 };
    if (tile)
        shape = (struct kernel_shape){ tile->threads, tile->Br, tile->Bc, 0 };
    else if (kernel->shape)
        shape = kernel->shape(p);
    if (shape.blocks == 0 && shape.Br > 0)
        shape.blocks = p->B * p->H * ((p->Nq - 1) / shape.Br + 1);
    return shape;
}

size_t kernel_stored(const struct step *kernel, const struct attention *p)
{
    if (kernel->stored)
        return kernel->stored(kernel, p);
    const size_t scores = kernel->stores & STORES_SCORES ? 2 * p->Nk : 0;
    const size_t statistics = kernel->stores & STORES_STATISTICS ? 2 : 0;
    return sizeof(float) * attention_rows(p) * (scores + statistics);
}

enum dtype step_stored(const struct step *step, const struct attention *p)
{
    return step->stores & STORES_SUMS ? p->dtype : DTYPE_F32;
}
