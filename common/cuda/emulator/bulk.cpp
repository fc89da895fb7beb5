/* Bulk copies: adding floats to global memory, and storing boxes (tma.cpp). */
#include "common/cuda/emulator/units.h"

#include "common/cuda/emulator/atomics.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"

#include <algorithm>
#include <cstring>

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
    allocation_of(to)->float_atomics = true;
    bulk_copy c = {};
    c.name = name;
    c.to = to;
    c.from = reinterpret_cast<const char *>(from);
    c.bytes = bytes;
    c.at = at;
    c.instruction = instruction;
    bulk_begin(&c, TIMED_SUMS, to);
}

void bulk_begin(bulk_copy *c, timeline_unit unit, const void *array)
{
    units *u = own_units();
    u->bulk_groups.resize(own->threads.size());
    u->told.resize(own->threads.size());
    if (u->told[self->number] < u->awaited)
        refuse_at(c->at,
                  "%s: the block has waited for what others did in global memory, and this thread "
                  "has not called fence_async_global() since",
                  c->name);
    watch_unit(c->from, c->bytes, false, c->instruction);
    c->thread = self->number;
    c->group = u->bulk_groups[self->number];
    c->job = timeline_runs ? timeline_copy(unit, array, c->bytes, c->at) : 0;
    u->bulk.push_back(*c);
}

void bulk_committed(site at)
{
    units_called("bulk_commit()", at);
    units *u = own_units();
    u->bulk_groups.resize(own->threads.size());
    u->bulk_groups[self->number]++;
}

void fence_global(site at)
{
    units_called("fence_async_global()", at);
    units *u = own_units();
    u->told.resize(own->threads.size());
    u->told[self->number] = u->awaited;
}

static void bulk_read(bulk_copy *c)
{
    if (c->read)
        return;
    watch_unit(c->from, c->bytes, false, c->instruction);
    c->data.assign(c->from, c->from + c->bytes);
    c->read = true;
}

static void add_float(float *to, const char *from)
{
    float more;
    memcpy(&more, from, sizeof more);
    atomic(to, more, ATOMIC_ADD);
}

/* Undoes the swizzle; skips elements outside the array. */
static void store_box(const bulk_copy *c)
{
    const size_t element = c->map.element;
    for (size_t n = 0; n < c->bytes / BOX_ROW; n++) {
        const box_row r = box_row_of(&c->map, c->box, n);
        for (size_t x = size_t(r.begin) * element; x < size_t(r.end) * element; x += element) {
            const char *const from = &c->data[n * BOX_ROW + (x ^ n % 8 * 16)];
            if (c->adds)
                add_float(reinterpret_cast<float *>(r.place + x), from);
            else
                memcpy(r.place + x, from, element);
        }
    }
}

static void bulk_done(bulk_copy *c)
{
    bulk_read(c);
    if (!c->to)
        store_box(c);
    for (size_t k = 0; c->to && k < c->bytes / sizeof(float); k++)
        add_float(&c->to[k], &c->data[k * sizeof(float)]);
}

bool bulk_reads(const void *p, size_t bytes)
{
    const char *const begin = static_cast<const char *>(p);
    return own->units &&
           std::any_of(own->units->bulk.begin(), own->units->bulk.end(), [=](const bulk_copy &c) {
               return !c.read && begin < c.from + c.bytes && c.from < begin + bytes;
           });
}

bool bulk_pending()
{
    return own->units && std::any_of(own->units->bulk.begin(), own->units->bulk.end(),
                                     [](const bulk_copy &c) { return c.thread == self->number; });
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
                      "a thread leaves the kernel and has not waited until %s has read shared "
                      "memory",
                      c.name);
        bulk_done(&c);
    }
    own->units->bulk.swap(kept);
}

}  // namespace cpu
