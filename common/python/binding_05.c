/* Chapter 05 as libflash.so shows it. */
#include "common/python/binding.h"

#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/split_kv.h"

static struct binding_step step(size_t n)
{
    return (struct binding_step){
        .name = table.steps[n].name,
        .idea = table.steps[n].idea,
        .lse = table.steps[n].supports & SUPPORTS_LSE,
    };
}

static const char *unsupported(size_t n, const struct attention *p, const struct binding_call *call)
{
    (void)call;  // any tile will do
    return step_unsupported(&table.steps[n], p);
}

static struct tile_size size_of(size_t n, const struct attention *p,
                                const struct binding_call *call)
{
    const struct options asked = { .br = call->br, .bc = call->bc };
    return step_size(&table.steps[n], &asked, p->d);
}

/* S and P of one head, fa1's m and l, or the splits of the keys; and each thread's tiles. */
static double room(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads)
{
    const struct tile_size size = size_of(n, p, call);
    const double rows = (double)attention_rows(p), splits = (double)split_count(p);
    const double stored = table.steps[n].stores & STORES_SCORES
                              ? 2.0 * (double)p->Nq * (double)p->Nk
                              : rows * (2.0 + splits * (double)(p->d + 2));
    return stored * sizeof(float) + (double)threads * binding_tile_bytes(p, size.Br, size.Bc);
}

static void run(size_t n, const struct attention *p, const struct binding_call *call)
{
    table.steps[n].run(
        p, size_of(n, p, call),
        (struct tensors){
            .Q = call->Q, .K = call->K, .V = call->V, .O = call->O, .lse = call->lse });
}

const struct binding binding_05 = BINDING(&table.count);
