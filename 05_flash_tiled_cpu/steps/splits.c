#include "05_flash_tiled_cpu/steps/split_kv.h"

/*
 * As many splits as give TARGET_TASKS tasks of TASK_QUERIES queries, but at least MIN_SPLIT_KEYS keys
 * each.
 */
enum { TARGET_TASKS = 16, TASK_QUERIES = 64, MIN_SPLIT_KEYS = 128 };

size_t split_count(const struct attention *p)
{
    const size_t tasks_unsplit = p->B * p->H * ((p->Nq - 1) / TASK_QUERIES + 1);
    return min((TARGET_TASKS - 1) / tasks_unsplit + 1,
               p->Nk < MIN_SPLIT_KEYS ? 1 : p->Nk / MIN_SPLIT_KEYS);
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
