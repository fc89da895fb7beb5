#include "common/cuda/emulator/units.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/launch.h"

namespace cpu
{

void named_barrier(unsigned id, unsigned threads, bool waits, site at)
{
    const char *const name = waits ? "barrier_sync()" : "barrier_arrive()";
    units_called(name, at);
    if (id < 1 || id > 15)
        refuse_at(at, "%s: barrier %u; expected 1 to 15", name, id);
    if (threads == 0 || threads % WARP != 0 || threads > own->threads.size())
        refuse_at(at, "%s: %u threads; expected whole warps, and no more than the block has", name,
                  threads);
    named *b = &own_units()->barrier[id];
    if (b->arrived > 0 && b->threads != threads)
        refuse_at(at, "%s: barrier %u is for %u threads here, and others came to it for %u", name,
                  id, threads, b->threads);
    b->threads = threads;
    race_release(&b->arriving);
    if (timeline_runs) {
        timeline_brings(timeline_phase(b, b->phase));
        if (waits)
            timeline_awaits(timeline_phase(b, b->phase));
    }
    if (++b->arrived == threads) {
        b->arrived = 0;
        b->phase++;
        b->over = b->arriving;
        for (thread &t : own->threads)
            if (t.state == AT_NAMED && t.waits_for == b)
                t.state = READY;
    } else if (waits) {
        self->waits_in = name;
        self->waits_for = b;
        self->state = AT_NAMED;
        wait();
    }
    if (waits)
        race_acquire(&b->over);
}

}  // namespace cpu
