/*
 * Chapter 05's `complete`, as the first of the peers (common/peers/peer.h).
 */
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/peers/peer.h"

#include <stdlib.h>

static float *lse;

static const char *prepare(const struct peer_problem *p)
{
    free(lse);
    lse = allocate(p->B * p->H * p->N, sizeof *lse, "lse");
    threads_use(p->threads);
    return "complete";
}

static void run(const struct peer_problem *p)
{
    struct attention attention = attention_of(p->B, p->H, p->H, p->N, p->N, p->d);
    attention.causal = p->causal;
    complete(&attention, (struct tile_size){ 128, 128 },
             (struct tensors){ .Q = p->Q, .K = p->K, .V = p->V, .O = p->O, .lse = lse });
}

int main(void)
{
    return peer_serve(&(struct peer){ "complete", prepare, run });
}
