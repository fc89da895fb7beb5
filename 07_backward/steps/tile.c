#include "07_backward/steps/tile.h"

struct backward_head backward_head_of(const struct attention *p, size_t n, struct tensors x)
{
    const size_t b = n / p->H, h = n % p->H, rows = n * p->Nq;
    const size_t keys = (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
    return (struct backward_head){
        .p = p,
        .b = b,
        .h = h,
        .Q = x.Q + rows * p->d,
        .K = x.K + keys,
        .V = x.V + keys,
        .O = x.O + rows * p->d,
        .lse = x.lse + rows,
        .dO = x.dO + rows * p->d,
        .m = x.m ? x.m + rows : NULL,
        .l = x.l ? x.l + rows : NULL,
        .dQ = x.dQ + rows * p->d,
        .dK = x.dK + keys,
        .dV = x.dV + keys,
    };
}

struct backward_memory backward_memory_new(const struct attention *p, struct tile_size size)
{
    const size_t Br = min(size.Br, p->Nq), Bc = min(size.Bc, p->Nk), d = p->d;
    return (struct backward_memory){
        .Q = extra_fast("a tile of Q", Br * d),
        .O = extra_fast("a tile of O", Br * d),
        .dO = extra_fast("a tile of dO", Br * d),
        .dQ = extra_fast("a tile of dQ", Br * d),
        .K = extra_fast("a tile of K", Bc * d),
        .V = extra_fast("a tile of V", Bc * d),
        .dK = extra_fast("a tile of dK", Bc * d),
        .dV = extra_fast("a tile of dV", Bc * d),
        .P = extra_fast("a tile of P", Br * Bc),
        .dS = extra_fast("a tile of dS", Br * Bc),
        .lse = extra_fast("a tile of lse", Br),
        .m = extra_fast("a tile of m", Br),
        .l = extra_fast("a tile of l", Br),
        .D = extra_fast("a tile of D", Br),
    };
}

void backward_memory_free(struct backward_memory *fast)
{
    float *const all[] = { fast->Q,  fast->O, fast->dO, fast->dQ,  fast->K, fast->V, fast->dK,
                           fast->dV, fast->P, fast->dS, fast->lse, fast->m, fast->l, fast->D };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        extra_free(all[k]);
    *fast = (struct backward_memory){ 0 };
}
