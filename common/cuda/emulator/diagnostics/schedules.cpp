#include "common/cuda/emulator/diagnostics/schedules.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/settings.h"

#include <cstring>
#include <vector>

namespace cpu
{

using image = std::vector<std::vector<char>>;

static image save()
{
    image copy;
    memory_each(
        [](allocation *a, void *data) {
            static_cast<image *>(data)->emplace_back(a->begin, a->begin + a->bytes);
        },
        &copy);
    return copy;
}

struct walk {
    const image *copy;
    size_t next;
    const launch *l;
    const char *schedule;
};

static void load(const image *copy)
{
    walk w = { copy, 0, nullptr, nullptr };
    memory_each(
        [](allocation *a, void *data) {
            walk *all = static_cast<walk *>(data);
            const std::vector<char> &bytes = (*all->copy)[all->next++];
            memcpy(a->begin, bytes.data(), bytes.size());
        },
        &w);
}

static void compare(allocation *a, void *data)
{
    walk *w = static_cast<walk *>(data);
    const std::vector<char> &first = (*w->copy)[w->next++];
    if (a->float_atomics)
        return;
    for (size_t k = 0; k < a->bytes; k++)
        if (a->begin[k] != first[k])
            refuse_at(
                w->l->at,
                "kernel %s depends on the order in which threads run: byte %zu of %s differs\n"
                "    between the ascending and the %s order. A barrier is missing, or __syncwarp",
                w->l->name, k, a->name, w->schedule);
}

void run_all_schedules(launch *l)
{
    static const char *const names[] = { "ascending", "descending", "random", "one-warp-ahead" };
    static const enum cuda_schedule orders[] = { CUDA_ASCENDING, CUDA_DESCENDING, CUDA_RANDOM,
                                                 CUDA_AHEAD };
    const enum cuda_schedule usual = settings.schedule;
    const image before = save();
    image first;
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        settings.schedule = orders[k];
        if (k > 0)
            load(&before);
        run_grid(l);
        walk w = { &first, 0, l, names[k] };
        if (k == 0)
            first = save();
        else
            memory_each(compare, &w);
    }
    settings.schedule = usual;
}

}  // namespace cpu
