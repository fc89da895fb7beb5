#include "05_flash_tiled_cpu/steps/split_kv.h"

/* At least WORK tasks, of up to ROWS_OF_WORK queries; at least KEYS keys per split. */
enum { WORK = 16, ROWS_OF_WORK = 64, KEYS = 128 };

size_t split_count(const struct attention *p)
{
    const size_t without = p->B * p->H * ((p->Nq - 1) / ROWS_OF_WORK + 1);
    return min((WORK - 1) / without + 1, p->Nk < KEYS ? 1 : p->Nk / KEYS);
}

struct splits splits_new(const struct attention *p)
{
    const size_t count = split_count(p), n = attention_rows(p) * count;
    return (struct splits){
        .count = count,
        .m = extra_slow("split m", n),
        .l = extra_slow("split l", n),
        .O = extra_slow("split O", n * p->d),
    };
}

void splits_free(struct splits *splits)
{
    extra_free(splits->m);
    extra_free(splits->l);
    extra_free(splits->O);
    *splits = (struct splits){ 0 };
}

size_t splits_begin(const struct splits *splits, const struct attention *p, size_t s)
{
    return s * p->Nk / splits->count;
}
