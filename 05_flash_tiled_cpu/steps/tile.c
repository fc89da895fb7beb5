#include "05_flash_tiled_cpu/steps/tile.h"

struct head head_of(const struct attention *p, size_t n, struct tensors x)
{
    const size_t b = n / p->H, h = n % p->H;
    const size_t keys = (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
    return (struct head){
        .p = p,
        .b = b,
        .h = h,
        .Q = x.Q + n * p->Nq * p->d,
        .K = x.K + keys,
        .V = x.V + keys,
        .O = x.O ? x.O + n * p->Nq * p->d : NULL,
        .lse = x.lse ? x.lse + n * p->Nq : NULL,
    };
}

struct fast_memory fast_new(const struct attention *p, struct tile_size size)
{
    const size_t Br = min(size.Br, p->Nq), Bc = min(size.Bc, p->Nk), d = p->d;
    return (struct fast_memory){
        .Q = extra_fast("a tile of Q", Br * d),
        .K = extra_fast("a tile of K", Bc * d),
        .V = extra_fast("a tile of V", Bc * d),
        .O = extra_fast("a tile of O", Br * d),
        .S = extra_fast("a tile of S", Br * Bc),
        .m = extra_fast("a tile of m", Br),
        .l = extra_fast("a tile of l", Br),
    };
}

void fast_free(struct fast_memory *fast)
{
    extra_free(fast->Q);
    extra_free(fast->K);
    extra_free(fast->V);
    extra_free(fast->O);
    extra_free(fast->S);
    extra_free(fast->m);
    extra_free(fast->l);
    *fast = (struct fast_memory){ 0 };
}
