/*
 * An attention sink.                                                dropout's accesses, and H more
 *
 *     P_ij = e^{S_ij} / (e^{sink} + sum over the keys of e^{S_ij})
 *
 * A sink is a score without a value: a query may attend to nothing. Only the
 * initial m and l change.
 */
#include "05_flash_tiled_cpu/steps/sink.h"

#include "05_flash_tiled_cpu/steps/dropout.h"
#include "05_flash_tiled_cpu/steps/fa2.h"

#include <math.h>

static void sink_begin(float sink, struct tile t, struct fast_memory *fast)
{
    // BEGIN SOLUTION
    for (size_t r = 0; r < t.rows; r++) {
        fast->m[r] = sink;
        fast->l[r] = 1.0f;  // e^(sink - m)
    }
    // END SOLUTION
    // STUB: (void)sink, (void)t, (void)fast;
}

float sink_gradient(float sink, const float *lse, const float *D, size_t n)
{
    float sum = 0.0f;
    // BEGIN SOLUTION
    for (size_t i = 0; i < n; i++)
        sum -= expf(sink - lse[i]) * D[i];  // dS = P (dP - D), and dP = 0: the sink has no value
    // END SOLUTION
    // STUB: (void)sink, (void)lse, (void)D, (void)n;
    return sum;
}

void sink_attention(const struct attention *p, struct tile_size size, const float *sinks,
                    struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        struct tile t = { 0 };
        for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, p->Nq - t.i0);
            fa2_begin(a, t, &fast);
            sink_begin(sinks[a.h], t, &fast);
            dropout_process_keys(a, t, 0, p->Nk, size.Bc, &fast);
            fa2_end(a, t, &fast);
        }
    }
    fast_free(&fast);
}
