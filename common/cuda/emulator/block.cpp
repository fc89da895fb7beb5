#include "common/cuda/emulator/block.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/units.h"
#include "common/cuda/emulator/warpgroup.h"

#include <memory>
#include <mutex>
#include <utility>

namespace cpu
{

__thread thread *self;
__thread block *own;

block::block(size_t count)
    : launch(nullptr), index{}, threads(count), waiting((count + WARP - 1) / WARP), order(count),
      turn(0), random(0), left(0), turns(0), barrier{}, shared(shared_make()), units(nullptr),
      room(stacks_make(count)), outside{}
{
    for (size_t k = 0; k < count; k++) {
        thread *t = &threads[k];
        t->number = unsigned(k);
        t->lane = unsigned(k % WARP);
        t->own.stack = stack_of(room, k, &t->own.bytes);
    }
}

block::~block()
{
    for (thread &t : threads)
        fiber_end(&t.own);
    fiber_end(&outside);
    stacks_free(room);
    shared_free(&shared);
    delete units;
}

// ---- reusing blocks: their stacks are expensive -------------------------------------------------

static std::mutex idle_lock;
static std::vector<std::unique_ptr<block>> idle;

block *block_take(size_t threads)
{
    const std::lock_guard<std::mutex> lock(idle_lock);
    for (std::unique_ptr<block> &b : idle) {
        if (b->threads.size() != threads)
            continue;
        std::unique_ptr<block> found = std::move(b);
        b = std::move(idle.back());
        idle.pop_back();
        return found.release();
    }
    return new block(threads);
}

void block_give(block *b)
{
    b->outside.stack = nullptr;  // differs on the next OS thread
    const std::lock_guard<std::mutex> lock(idle_lock);
    idle.emplace_back(b);
}

// ---- running ------------------------------------------------------------------------------------

static void go_on(thread *from, thread *to, bool for_good)
{
    self = to;
    own->turns++;
    fiber_switch(&from->own, to ? &to->own : &own->outside, for_good);
}

static thread *next_or_land()
{
    thread *next = next_thread(own);
    while (!next && units_land())
        next = next_thread(own);
    return next;
}

void wait()
{
    thread *me = self, *next = next_or_land();
    if (!next)
        refuse_stuck();
    if (next != me)
        go_on(me, next, false);
}

static void thread_main()
{
    fiber_entered(&own->outside);
    own->launch->call(own->launch->arguments);
    copy_end();
    units_leave();
    thread *me = self;
    me->state = LEFT;
    own->left++;
    if (own->left == own->threads.size())
        units_end();
    thread *next = next_or_land();
    if (!next && own->left < own->threads.size())
        refuse_stuck();
    go_on(me, next, true);
}

static void start_thread(thread *t, const struct launch *l, uint3 block_index)
{
    const dim3 size = l->block;
    t->thread_index = { t->number % size.x, t->number / size.x % size.y,
                        t->number / size.x / size.y };
    t->block_index = block_index;
    t->block_size = size;
    t->grid_size = l->grid;
    t->state = READY;
    t->copies.clear();
    t->copy_group = 0;
    // Stagger the stacks: equal page offsets would compete for a few cache sets.
    fiber_start(&t->own, thread_main, t->lane * size_t{ 128 });
}

void block_run(block *b, const struct launch *l, uint3 index)
{
    own = b;
    b->launch = l;
    b->index = index;
    b->left = 0;
    b->barrier = {};
    for (unsigned &lanes : b->waiting)
        lanes = 0;
    for (thread &t : b->threads)
        start_thread(&t, l, index);
    schedule_start(b);
    shared_begin(&b->shared, l);
    units_begin();
    timeline_begin();
    watch_block();

    self = next_thread(b);
    fiber_switch(&b->outside, &self->own, false);
    shared_check(&b->shared, l);
    timeline_end();
    own = nullptr;
}

}  // namespace cpu
