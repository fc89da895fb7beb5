#include "common/cuda/emulator/copies.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/shared.h"
#include "common/cuda/emulator/tensor_cpu.h"

#include <cstdint>
#include <cstring>

namespace cpu
{

enum { NAN_BYTE = 0xff };

void copy_async(void *to, const void *from, unsigned bytes, int given, site at)
{
    const void *const instruction = __builtin_return_address(0);
    if (!self)
        refuse_at(at, "cp.async is called outside a kernel");
    needs_capability(80, "cp.async", at);
    self->at = at;
    if (given < 0 || given > int(bytes))
        refuse_at(at, "cp.async of %u bytes is given %d", bytes, given);
    if (uintptr_t(to) % bytes != 0 || (given > 0 && uintptr_t(from) % bytes != 0))
        refuse_at(at, "cp.async: %s an address that is no multiple of %u",
                  uintptr_t(to) % bytes != 0 ? "writes to" : "reads", bytes);
    if (given > 0)
        see(from, size_t(given), false, false, false, instruction);
    watch_copy(to, bytes, false, instruction);
    if (!shared_holds(to, bytes))
        refuse_at(at, "cp.async: what it writes does not lie in shared memory");

    async_copy c = { static_cast<char *>(to), bytes, {}, self->copy_group, 0, at, instruction };
    if (timeline_runs)
        c.job = timeline_copy(TIMED_COPIES, from, bytes, at);
    memcpy(c.data, from, size_t(given));
    memset(to, NAN_BYTE, bytes);
    self->copies.push_back(c);
}

void copy_commit(site at)
{
    if (!self)
        refuse_at(at, "cp.async.commit_group is called outside a kernel");
    self->copy_group++;
}

void copy_wait(unsigned pending, site at)
{
    if (!self)
        refuse_at(at, "cp.async.wait_group is called outside a kernel");
    size_t kept = 0;
    for (const async_copy &c : self->copies) {
        if (c.group + pending >= self->copy_group) {
            self->copies[kept++] = c;
            continue;
        }
        if (timeline_runs)
            timeline_awaits(timeline_done(c.job));
        memcpy(c.to, c.data, c.bytes);
        watch_copy(c.to, c.bytes, true, c.instruction);
    }
    self->copies.resize(kept);
}

void copy_end()
{
    if (self->copies.empty())
        return;
    refuse_at(self->copies[0].at,
              "a thread leaves the kernel with %zu asynchronous copies that it did not wait for",
              self->copies.size());
}

}  // namespace cpu
