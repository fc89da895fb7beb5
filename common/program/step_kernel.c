/* Steps that are kernels: their tiles, and what they store in the device's memory. */
#include "common/program/step.h"

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
    if (!tile)
        return kernel->shape ? kernel->shape(p) : (struct kernel_shape){ 0 };
    const size_t tiles = p->B * p->H * ((p->Nq - 1) / tile->Br + 1);
    return (struct kernel_shape){ tiles, tile->threads, tile->Br, tile->Bc };
}

struct tile_size kernel_tile_size(const struct step *kernel, const struct attention *p,
                                  struct tile_size requested)
{
    const struct kernel_shape shape = step_shape(kernel, p, requested);
    return (struct tile_size){ shape.Br, shape.Bc };
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
