#include "common/cuda/emulator/units.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"

#include <cstring>

namespace cpu
{

enum { MOST_BYTES = (1 << 20) - 1 };

/* The content of an mbarrier, where a GPU keeps its counts. */
static const uint64_t MARK = 0x7265697272616bff;

phase_barrier *phase_find(const void *bar, const char *name, site at)
{
    units_called(name, at);
    for (phase_barrier &b : own_units()->barriers)
        if (b.place == bar) {
            if (memcmp(bar, &MARK, sizeof MARK) != 0)
                refuse_at(at, "%s: something has written over the mbarrier", name);
            return &b;
        }
    refuse_at(at, "%s: no thread has initialised this mbarrier (is a barrier missing?)", name);
}

void phase_init(void *bar, unsigned count, site at)
{
    units_called("mbarrier_init()", at);
    if (uintptr_t(bar) % 8 != 0 || !shared_holds(bar, 8))
        refuse_at(at,
                  "mbarrier_init(): an mbarrier is 8 bytes of shared memory, at a multiple of 8");
    if (count < 1 || count > MOST_BYTES)
        refuse_at(at, "mbarrier_init() with %u arrivals; expected 1 to %d", count, MOST_BYTES);
    for (const phase_barrier &b : own_units()->barriers)
        if (b.place == bar)
            refuse_at(at, "mbarrier_init(): this mbarrier is initialised already");
    see(bar, 8, true, false, true, __builtin_return_address(0));
    memcpy(bar, &MARK, sizeof MARK);
    own_units()->barriers.push_back({ bar, count, count, 0, 0, self->number, false, {}, {} });
}

void phase_settle(phase_barrier *b)
{
    if (b->missing > 0 || b->bytes != 0)
        return;
    b->phase++;
    b->missing = b->expected;
    b->over = b->arriving;
    for (thread &t : own->threads)
        if (t.state == AT_PHASE && t.waits_for == b->place)
            t.state = READY;
}

void phase_arrive(void *bar, unsigned bytes, const char *name, site at)
{
    phase_barrier *b = phase_find(bar, name, at);
    see(bar, 8, true, true, true, __builtin_return_address(0));
    if (b->missing == 0)
        refuse_at(at,
                  "%s: more arrivals in one phase than the mbarrier's %u\n"
                  "    (does a thread wait for the wrong parity, and go on too early?)",
                  name, b->expected);
    b->bytes += bytes;
    if (b->bytes > MOST_BYTES)
        refuse_at(at, "%s: an mbarrier can expect %d bytes at most", name, MOST_BYTES);
    b->missing--;
    if (timeline_runs)
        timeline_brings(timeline_phase(b->place, b->phase));
    race_release(&b->arriving);
    phase_settle(b);
}

void phase_wait(void *bar, unsigned parity, site at)
{
    static const char *const name = "mbarrier_wait()";
    phase_barrier *b = phase_find(bar, name, at);
    const size_t which = size_t(b - own_units()->barriers.data());
    if (parity > 1)
        refuse_at(at, "mbarrier_wait() with parity %u; expected 0 or 1", parity);
    see(bar, 8, true, true, true, __builtin_return_address(0));
    const unsigned phase = b->phase;
    self->waits_in = name;
    self->waits_for = bar;
    if (timeline_runs)
        timeline_awaits(phase % 2 == parity ? timeline_phase(bar, phase)
                        : phase > 0         ? timeline_phase(bar, phase - 1)
                                            : gate{ NO_GATE });
    if (phase % 2 == parity) {
        self->state = AT_PHASE;
        wait();
        b = &own_units()->barriers[which];
        if (b->phase - phase > 1)
            refuse_at(
                at,
                "the mbarrier has gone on by %u phases while this thread waited for the end of "
                "one:\n"
                "    a GPU's thread may miss it and wait for ever. Nobody waits until it is used",
                b->phase - phase);
    }
    race_acquire(&b->over);
}

void fence_units(site at)
{
    units_called("fence_async()", at);
    for (phase_barrier &b : own_units()->barriers)
        b.fenced = b.fenced || b.by == self->number;
    watch_fence();
}

}  // namespace cpu
