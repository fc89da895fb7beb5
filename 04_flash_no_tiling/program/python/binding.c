#include "common/python/binding.h"

#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/standard_attention.h"

enum { STANDARD, NO_TILING, STEPS };

static struct binding_step step(size_t n)
{
    static const struct binding_step all[] = {
        { .name = "standard_attention", .idea = "S and P stored whole" },
        { .name = "flash_no_tiling", .idea = "one pass over the keys for each query", .lse = true },
    };
    return all[n];
}

static const char *unsupported(size_t n, const struct attention *p, const struct binding_call *call)
{
    if (call->br)
        return "--tile";
    if (p->dtype != DTYPE_F32)
        return "--dtype";
    if (p->dropout_threshold > 0)
        return "--dropout";
    if (score_option(p))
        return score_option(p);
    if (p->block_mask && n == STANDARD)
        return "--block-mask";
    if (n == NO_TILING)
        return NULL;
    if (p->causal)
        return "--causal";
    if (p->window_left >= 0 || p->window_right >= 0)
        return "--window";
    return p->key_mask ? "--key-mask" : NULL;
}

static double room(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads)
{
    (void)call, (void)threads;
    return n == STANDARD ? 2.0 * (double)p->Nq * (double)p->Nk * sizeof(float) + 4096.0 : 0.0;
}

static void run(size_t n, const struct attention *p, const struct binding_call *call)
{
    if (n == NO_TILING) {
        flash_no_tiling(p, call->Q, call->K, call->V, call->O, call->lse);
        return;
    }
    for (size_t head = 0; head < p->B * p->H; head++) {
        const size_t queries = head * p->Nq * p->d;
        const size_t keys = (head / p->H * p->Hkv + kv_head(p, head % p->H)) * p->Nk * p->d;
        standard_attention(call->Q + queries, call->K + keys, call->V + keys, call->O + queries,
                           p->Nq, p->Nk, p->d, p->scale);
    }
}

const struct binding binding_04 = BINDING(&(const size_t){ STEPS });
