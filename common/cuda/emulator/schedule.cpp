/*
 * The order of turns. A GPU promises none; a kernel without a barrier is often right in one of
 * them.
 */
#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/settings.h"

#include <numeric>
#include <utility>

namespace cpu
{

static void shuffle(block *b)
{
    for (size_t k = b->order.size() - 1; k > 0; k--) {
        b->random = b->random * 1664525u + 1013904223u;
        std::swap(b->order[k], b->order[(b->random >> 8) % (k + 1)]);
    }
}

void schedule_start(block *b)
{
    const size_t count = b->threads.size();
    b->turn = 0;
    std::iota(b->order.begin(), b->order.end(), 0u);
    if (settings.schedule == CUDA_DESCENDING)
        for (size_t k = 0; k < count; k++)
            b->order[k] = unsigned(count - 1 - k);
    b->random = (unsigned(settings.seed) + b->index.x + 1) * 2654435761u;
    if (settings.schedule == CUDA_RANDOM)
        shuffle(b);
}

static thread *next_between(block *b, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        thread *t = &b->threads[b->order[k]];
        if (t->state != READY)
            continue;
        b->turn = k + 1;
        return t;
    }
    return nullptr;
}

thread *next_thread(block *b)
{
    const size_t count = b->order.size();
    if (settings.schedule == CUDA_AHEAD) {
        const size_t warp = b->turn > 0 ? (b->turn - 1) / WARP * WARP : 0;
        thread *t = next_between(b, warp, warp + WARP < count ? warp + WARP : count);
        return t ? t : next_between(b, 0, count);
    }
    thread *t = next_between(b, b->turn, count);
    if (t)
        return t;
    if (settings.schedule == CUDA_RANDOM)
        shuffle(b);
    return next_between(b, 0, count);
}

}  // namespace cpu
