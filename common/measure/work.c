#include "common/measure/work.h"

static struct work work;

void work_reset(void)
{
    work = (struct work){ 0 };
}

struct work work_done(void)
{
    return work;
}

void work_count(size_t products, size_t others)
{
    work.products += products;
    work.others += others;
}
