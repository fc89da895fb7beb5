/* In the order of mistakes.md. */
#include "common/cuda/tests/bugs.h"

static const struct planted *const kinds[] = {
    planted_barriers, planted_memory, planted_tensor,
    planted_launches, planted_races,  planted_hopper,
};

const struct planted *planted_at(size_t n)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (const struct planted *p = kinds[kind]; p->name; p++)
            if (n-- == 0)
                return p;
    return NULL;
}
