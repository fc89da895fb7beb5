/* Chapter 07 as libflash.so shows it. */
#include "common/python/binding.h"

#include "07_backward/program.h"
#include "07_backward/steps/forward.h"

#include <string.h>

static struct binding_step step(size_t n)
{
    return (struct binding_step){ .name = table.steps[n].name,
                                  .idea = table.steps[n].idea,
                                  .backward = true };
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

/* Does the step want m and l? */
static bool wants_statistics(size_t n)
{
    return strcmp(table.steps[n].name, "fa1") == 0;
}

/* S, P, dP and dS of one head; D and the turns of complete; for fa1 the forward pass, of up to 16 parts. */
static double room(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads)
{
    const struct tile_size size = size_of(n, p, call);
    const double rows = (double)attention_rows(p);
    double stored = 4.0 * rows, tiles = binding_tile_bytes(p, size.Br, size.Bc);
    if (table.steps[n].stores & STORES_SCORES)
        stored += 4.0 * (double)p->Nq * (double)p->Nk;
    if (wants_statistics(n)) {
        stored += rows * (20.0 * (double)p->d + 36.0);
        tiles += binding_tile_bytes(p, 64, 128);
    }
    return stored * sizeof(float) + (double)threads * tiles;
}

static void run(size_t n, const struct attention *p, const struct binding_call *call)
{
    struct tensors x = {
        .Q = call->Q,
        .K = call->K,
        .V = call->V,
        .dO = call->dO,
        .O = call->O,
        .lse = call->lse,
        .dQ = call->dQ,
        .dK = call->dK,
        .dV = call->dV,
    };
    struct tensors forward = { .Q = call->Q, .K = call->K, .V = call->V };
    if (wants_statistics(n)) {  // which nobody else keeps
        forward_pass(p, &forward);
        x.m = forward.m;
        x.l = forward.l;
    }
    table.steps[n].run(p, size_of(n, p, call), x);
    forward_free(&forward);
}

const struct binding binding_07 = BINDING(&table.count);
