/*
 * Sums in bulk: floats in shared memory that are added to global memory.
 */
#include "common/cuda/emulator/units.h"

#include "common/cuda/emulator/atomics.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"

namespace cpu
{

void bulk_reduce(float *to, const float *from, unsigned bytes, site at)
{
    static const char *const name = "bulk_add()";
    const void *const instruction = __builtin_return_address(0);
    units_called(name, at);
    if (bytes == 0 || bytes % 16 != 0 || uintptr_t(to) % 16 != 0 || uintptr_t(from) % 16 != 0)
        refuse_at(at, "bulk_add(): addresses and bytes are multiples of 16, and bytes above 0");
    if (!shared_holds(from, bytes))
        refuse_at(at, "bulk_add(): what it adds does not lie in shared memory");
    if (!on_device(to, bytes))
        refuse_at(at, "bulk_add(): what it adds to does not lie in one array of device memory");
    units *u = own_units();
    u->bulk_groups.resize(own->threads.size());
    watch_unit(from, bytes, false, instruction);
    allocation_of(to)->float_atomics = true;
    u->bulk.push_back({ to,
                        from,
                        {},
                        bytes / sizeof(float),
                        self->number,
                        u->bulk_groups[self->number],
                        timeline_runs ? timeline_copy(TIMED_SUMS, to, bytes, at) : 0,
                        false,
                        at,
                        instruction });
}

void bulk_committed(site at)
{
    units_called("bulk_commit()", at);
    units *u = own_units();
    u->bulk_groups.resize(own->threads.size());
    u->bulk_groups[self->number]++;
}

static void bulk_read(bulk_copy *c)
{
    if (c->read)
        return;
    watch_unit(c->from, c->count * sizeof(float), false, c->instruction);
    c->data.assign(c->from, c->from + c->count);
    c->read = true;
}

/* Reads, when it must, and adds. */
static void bulk_done(bulk_copy *c)
{
    bulk_read(c);
    for (size_t k = 0; k < c->count; k++)
        atomic(&c->to[k], c->data[k], ATOMIC_ADD);
}

void bulk_waits(unsigned pending, bool only_read, site at)
{
    units_called(only_read ? "bulk_wait_read()" : "bulk_wait()", at);
    units *u = own_units();
    u->bulk_groups.resize(own->threads.size());
    std::vector<bulk_copy> kept;
    for (bulk_copy &c : u->bulk) {
        const bool mine = c.thread == self->number;
        if (!mine || c.group + pending >= u->bulk_groups[self->number]) {
            kept.push_back(c);
            continue;
        }
        if (timeline_runs)
            timeline_awaits(timeline_done(c.job));
        if (only_read) {
            bulk_read(&c);
            kept.push_back(c);
        } else
            bulk_done(&c);
    }
    u->bulk.swap(kept);
}

void bulk_leave()
{
    std::vector<bulk_copy> kept;
    for (bulk_copy &c : own->units->bulk) {
        if (c.thread != self->number) {
            kept.push_back(c);
            continue;
        }
        if (!c.read)
            refuse_at(c.at,
                      "a thread leaves the kernel and has not waited until bulk_add() has read "
                      "shared memory");
        bulk_done(&c);
    }
    own->units->bulk.swap(kept);
}

}  // namespace cpu
