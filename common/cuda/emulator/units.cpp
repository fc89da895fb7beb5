#include "common/cuda/emulator/units.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/warpgroup.h"

namespace cpu
{

units::units() = default;
units::~units() = default;

units *own_units()
{
    if (!own->units)
        own->units = new units;
    return own->units;
}

void units_called(const char *name, site at)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    needs_capability(90, name, at);
    self->at = at;
}

void units_begin()
{
    delete own->units;
    own->units = nullptr;
}

void units_leave()
{
    if (!own->units)
        return;
    products_leave();
    bulk_leave();
}

void units_end()
{
    if (own->units && !own->units->copies.empty())
        refuse_at(own->units->copies[0].at,
                  "the block ends, and %zu boxes are still on their way to its shared memory",
                  own->units->copies.size());
}

bool units_land()
{
    if (!own->units)
        return false;
    if (settings.schedule == CUDA_DESCENDING)
        return boxes_land() || products_land();
    return products_land() || boxes_land();
}

void units_stuck()
{
    if (!own->units)
        return;
    products_stuck();
    for (const thread &t : own->threads) {
        if (t.state == AT_NAMED)
            refuse_block("deadlock: not all threads come to a named barrier");
        if (t.state != AT_PHASE)
            continue;
        for (const phase_barrier &b : own->units->barriers)
            if (b.place == t.waits_for)
                refuse_block(
                    "deadlock: phase %u of an mbarrier does not end: %u of %u arrivals and %lld "
                    "bytes are missing",
                    b.phase, b.missing, b.expected, static_cast<long long>(b.bytes));
    }
}

}  // namespace cpu
