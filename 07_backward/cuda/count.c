/*
 * The closed forms of every kernel's accesses to global memory, and counted runs to hold against them.
 */
#include "../kernels/tiles.h"
#include "cuda/cpu.h"
#include "run.h"
#include "traffic.h"

#include <stdlib.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// ---- predictions --------------------------------------------------------------------------------

void predict_cuda_standard(const struct attention *p, struct accesses *a)
{
    const size_t pairs = attention_pairs(p), d = p->d;
    accesses_add(a, "Q loads", 2 * pairs * d, "2 pairs d");
    accesses_add(a, "K loads", 2 * pairs * d, "2 pairs d");
    accesses_add(a, "V loads", pairs * d, "pairs d");
    accesses_add(a, "dO loads", 2 * pairs * d, "2 pairs d");
    accesses_add(a, "P stores", 2 * pairs, "2 pairs");
    accesses_add(a, "P loads", pairs * (5 + d), "pairs (5 + d)");
    accesses_add(a, "dS stores", 2 * pairs, "2 pairs");
    accesses_add(a, "dS loads", pairs * (2 + 2 * d), "pairs (2 + 2 d)");
    accesses_add(a, "dQ stores", attention_query_elements(p), "Nq d");
    accesses_add(a, "dK stores", attention_key_elements(p), "Nk d");
    accesses_add(a, "dV stores", attention_key_elements(p), "Nk d");
}

/* Of all tiles that are not skipped: their queries, and their keys that some query of the tile sees. */
static struct tile_counts tiles_of(const struct attention *p, bool options)
{
    struct tile_counts all = count_tiles(p, (struct tile_size){ Br, Bc });
    if (options)
        return all;  // all keys of the tile
    all.keys = 0;
    for (size_t i0 = 0; i0 < p->Nq; i0 += Br) {
        const ptrdiff_t last = (ptrdiff_t)least(i0 + Br, p->Nq) - 1;
        const ptrdiff_t seen = last + attention_band(p).high + 1;
        all.keys += p->B * p->H * (seen < 0 ? 0 : least((size_t)seen, p->Nk));
    }
    return all;
}

/* D in a kernel of its own, and dK and dV stored once. */
static void predict_D(const struct attention *p, struct accesses *a)
{
    accesses_add(a, "O loads", attention_query_elements(p), "Nq d");
    accesses_add(a, "D stores", attention_rows(p), "Nq");
    accesses_add(a, "dK stores", attention_key_elements(p), "Nk d");
    accesses_add(a, "dV stores", attention_key_elements(p), "Nk d");
}

void predict_cuda_recompute(const struct attention *p, struct accesses *a)
{
    const struct tile_counts t = tiles_of(p, false);
    const size_t rows = attention_rows(p), d = p->d;
    predict_D(p, a);
    accesses_add(a, "Q loads", 2 * t.queries * d, "2 Tc Nq d");
    accesses_add(a, "dO loads", (t.queries + rows) * d, "(Tc + 1) Nq d");
    accesses_add(a, "lse loads", t.queries, "Tc Nq");
    accesses_add(a, "D loads", t.queries, "Tc Nq");
    accesses_add(a, "K loads", 2 * t.keys * d, "2 Tr Nk d");
    accesses_add(a, "V loads", t.keys * d, "Tr Nk d");
    accesses_add(a, "dQ loads", t.queries * d, "Tc Nq d");
    accesses_add(a, "dQ stores", t.queries * d, "Tc Nq d");
}

static void predict_two_kernels(const struct attention *p, struct tile_counts t, struct accesses *a)
{
    const size_t rows = attention_rows(p), d = p->d;
    predict_D(p, a);
    accesses_add(a, "Q loads", 3 * t.queries * d, "3 Tc Nq d");
    accesses_add(a, "dO loads", (2 * t.queries + rows) * d, "(2 Tc + 1) Nq d");
    accesses_add(a, "lse loads", t.queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "D loads", t.queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "K loads", 3 * t.keys * d, "3 Tr Nk d");
    accesses_add(a, "V loads", 2 * t.keys * d, "2 Tr Nk d");
    accesses_add(a, "dQ stores", rows * d, "Nq d");
}

void predict_cuda_deterministic(const struct attention *p, struct accesses *a)
{
    predict_two_kernels(p, tiles_of(p, false), a);
}

void predict_cuda_complete(const struct attention *p, struct accesses *a)
{
    predict_two_kernels(p, tiles_of(p, true), a);
}

// ---- counting -----------------------------------------------------------------------------------

bool cuda_can_be_counted(const struct attention *p)
{
    return (double)attention_rows(p) * (double)p->Nk * (double)p->d <= 1e7;
}

struct count cuda_count(const struct cuda_kernel *kernel, const struct layer *layer)
{
    const struct attention *p = &layer->input.p;
    const size_t rows = attention_rows(p);
    struct count c = { .pairs = attention_pairs(p) };
    traffic_reset();
    cuda_cpu_watch(CUDA_WATCH_TRAFFIC);  // from here on arrays with a name are watched
    struct cuda_loaded l = cuda_load(kernel, &backward_watched, layer);
    cuda_launch(&l);
    cuda_cpu_watch(0);
    kernel->predict(p, &c.accesses);
    cuda_unload(&l);
    c.as_predicted = accesses_sum(&c.accesses, kernel->formula, &c.total);
    c.slow_bytes = sizeof(float) * rows * (kernel->whole ? 2 * p->Nk : 1);
    traffic_reset();  // what was watched goes
    return c;
}
