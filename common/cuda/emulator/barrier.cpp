#include "common/cuda/emulator/barrier.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"

namespace cpu
{

static void open(barrier_state *b)
{
    if (timeline_runs)
        timeline_meet(0, unsigned(own->threads.size()), [](unsigned t) {
            timeline_new_run(t);
            return true;
        });
    for (thread &t : own->threads)
        if (t.state == AT_BARRIER)
            t.state = READY;
    *b = { 0, nullptr, 0, b->votes };
    watch_barrier();
}

int barrier(const char *name, site at, bool vote)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    barrier_state *b = &own->barrier;
    thread *me = self;
    me->waits_in = name;
    me->at = at;
    me->state = AT_BARRIER;
    if (!b->first)
        b->first = me;
    else if (!same_site(b->first->at, at))
        refuse_block("threads of one block wait at different barriers");
    b->votes += vote;

    // Threads that have left never arrive. A GPU would not wait for them, but the code after the
    // barrier would run without them: nearly always a mistake, so here an error.
    if (++b->arrived == own->threads.size())
        open(b);
    else
        wait();
    return b->outcome;
}

}  // namespace cpu
