/*
 * All of it, on all cores.                      the accesses of dropout, or of split_kv where it splits
 *
 * With Q outside, every tile of queries is work of its own: it reads Q, K and V, and writes rows of O
 * that nobody else touches. So the three loops over texts, heads and tiles become one list of tasks,
 * which threads take as they come. Each thread has a fast memory of its own. No sum is shared between
 * threads, and the number of parts hangs on the shape alone, so the result is the same bit for bit
 * for any number of threads.
 */
#include "dropout.h"
#include "fa2.h"
#include "split_kv.h"
#include "threads.h"

void complete(const struct attention *p, struct tile_size size, const float *Q, const float *K,
              const float *V, float *O, float *lse)
{
    const size_t Tr = (p->Nq - 1) / size.Br + 1;
    struct parts parts = { .count = split_parts(p) };
    if (parts.count > 1)
        parts = parts_new(p);

    PARALLEL(omp parallel)
    {
        struct fast_memory fast = fast_new(p, size);
        PARALLEL(omp for schedule(dynamic))
        for (size_t task = 0; task < p->B * p->H * Tr * parts.count; task++) {
            const size_t s = task % parts.count, i0 = task / parts.count % Tr * size.Br;
            const struct head a = head_of(p, task / parts.count / Tr, Q, K, V, O, lse);
            const struct tile t = { .i0 = i0, .rows = smaller(size.Br, p->Nq - i0) };
            fa2_begin(a, t, &fast);
            dropout_see(a, t, parts_begin(&parts, p, s), parts_begin(&parts, p, s + 1), size.Bc,
                        &fast);
            if (parts.count > 1)
                parts_keep(&parts, s, a, t, &fast);
            else
                fa2_end(a, t, &fast);
        }
        PARALLEL(omp for)
        for (size_t row = 0; row < (parts.count > 1 ? attention_rows(p) : 0); row++)
            parts_finish(&parts, head_of(p, row / p->Nq, Q, K, V, O, lse), row % p->Nq);
        fast_free(&fast);
    }
    parts_free(&parts);
}
