/*
 * Chapter 07's `complete`, as the first of the peers (common/peers/peer.h).
 */
#include "07_backward/program/chapter.h"
#include "common/cpu/threads.h"
#include "common/peers/peer.h"

static struct attention_input input;
static struct kept kept;

/* The forward pass is chapter 05's. */
static const char *prepare(const struct peer_problem *p)
{
    kept_free(&kept);
    input.p = attention_of(p->B, p->H, p->H, p->N, p->N, p->d);
    input.p.causal = p->causal;
    input.Q = (float *)p->Q;
    input.K = (float *)p->K;
    input.V = (float *)p->V;
    threads_use(p->threads);
    kept = kept_by_forward(&input);
    return "complete";
}

static void run(const struct peer_problem *p)
{
    struct tensors x = backward_tensors(&input, &kept, p->dO);
    x.dQ = p->dQ;
    x.dK = p->dK;
    x.dV = p->dV;
    steps[COMPLETE].run(&input.p, steps[COMPLETE].usual, x);
}

int main(void)
{
    return peer_serve(&(struct peer){ "complete", prepare, run });
}
