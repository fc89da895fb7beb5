/*
 * How many parts, and where they lie: split_kv's memory.
 */
#include "05_flash_tiled_cpu/steps/split_kv.h"

/* Pieces of work that one problem should give, and the fewest keys worth a piece. */
enum { WORK = 16, ROWS_OF_WORK = 64, KEYS = 128 };

size_t split_parts(const struct attention *p)
{
    const size_t without = p->B * p->H * ((p->Nq - 1) / ROWS_OF_WORK + 1);
    return min((WORK - 1) / without + 1, p->Nk < KEYS ? 1 : p->Nk / KEYS);
}

struct parts parts_new(const struct attention *p)
{
    const size_t count = split_parts(p), n = attention_rows(p) * count;
    return (struct parts){
        .count = count,
        .m = extra_slow("part m", n),
        .l = extra_slow("part l", n),
        .O = extra_slow("part O", n * p->d),
    };
}

void parts_free(struct parts *parts)
{
    extra_free(parts->m);
    extra_free(parts->l);
    extra_free(parts->O);
    *parts = (struct parts){ 0 };
}

size_t parts_begin(const struct parts *parts, const struct attention *p, size_t s)
{
    return s * p->Nk / parts->count;
}
