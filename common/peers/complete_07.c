/*
 * Chapter 07's `complete`, as the first of the peers (common/peers/peer.h).
 */
#include "07_backward/steps/forward.h"
#include "07_backward/steps/steps.h"
#include "common/cpu/threads.h"
#include "common/peers/peer.h"

static struct attention problem;
static struct tensors x;

/* The forward pass is chapter 05's. */
static const char *prepare(const struct peer_problem *p)
{
    forward_free(&x);
    problem = attention_of(p->B, p->H, p->H, p->N, p->N, p->d);
    problem.causal = p->causal;
    x = (struct tensors){
        .Q = p->Q, .K = p->K, .V = p->V, .dO = p->dO, .dQ = p->dQ, .dK = p->dK, .dV = p->dV
    };
    threads_use(p->threads);
    forward_pass(&problem, &x);
    return "complete";
}

static void run(const struct peer_problem *p)
{
    (void)p;
    backward_complete(&problem, (struct tile_size){ 64, 128 }, x);
}

int main(void)
{
    return peer_serve(&(struct peer){ "complete", prepare, run });
}
