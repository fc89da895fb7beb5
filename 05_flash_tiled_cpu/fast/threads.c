/*
 * Step: all cores.
 *
 * Heads are processed in order, to keep K and V in the cache; causal groups with the most keys
 * start first, so that threads end together.
 */
#include "common/cpu/threads.h"

#include "05_flash_tiled_cpu/fast/group.h"
#include "05_flash_tiled_cpu/fast/overlap.h"
#include "05_flash_tiled_cpu/fast/skip.h"
#include "05_flash_tiled_cpu/steps/steps.h"

void threads(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t Bc = min(size.Bc, p->Nk), groups = (p->Nq - 1) / GROUP + 1;
    PARALLEL(omp parallel)
    {
        struct group g = group_new(p->d);
        group_row *P = group_rows_new(Bc + ROWS);
        PARALLEL(omp for schedule(dynamic))
        for (size_t task = 0; task < p->B * p->H * groups; task++) {
            const size_t i0 = (groups - 1 - task % groups) * GROUP;
            const struct head a = head_of(p, task / groups, x);
            const size_t rows = min(GROUP, p->Nq - i0), end = causal_key_end(&a, i0, rows);
            group_begin(&g, &a, i0, rows);
            for (size_t j0 = 0; j0 < end; j0 += Bc)
                overlap_process_keys(&g, &a, j0, min(Bc, end - j0), P);
            group_end(&g, &a);
        }
        extra_free((float *)P);
        group_free(&g);
    }
}
