#include "common/cuda/emulator/warpgroup.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/units.h"

namespace cpu
{

enum { POOL = 65536 };  // registers of a multiprocessor

// ---- meeting ------------------------------------------------------------------------------------

warpgroup *group_called(const char *name, site at)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    needs_capability(90, name, at);
    self->at = at;
    self->waits_in = name;
    const size_t threads = own->threads.size();
    if (threads % GROUP != 0)
        refuse_at(at, "%s in a block of %zu threads; a warpgroup has %d", name, threads, GROUP);
    units *u = own_units();
    u->groups.resize(threads / GROUP);
    return &u->groups[self->number / GROUP];
}

thread *group_first(const warpgroup *g)
{
    return &own->threads[size_t(g - own->units->groups.data()) * GROUP];
}

void group_meet(warpgroup *g, void *operands, void (*together)(warpgroup *g))
{
    thread *first = group_first(g);
    g->brought[self->number % GROUP] = operands;
    self->state = IN_WARPGROUP;
    if (++g->waiting < GROUP) {
        wait();
        return;
    }
    for (thread *t = first; t < first + GROUP; t++) {
        if (!same_site(t->at, self->at) || !same_text(t->waits_in, self->waits_in))
            refuse_block("threads of a warpgroup are in different calls");
        t->state = READY;
    }
    g->waiting = 0;
    if (timeline_runs)
        timeline_meet(first->number, GROUP, [](unsigned) { return true; });
    together(g);
}

// ---- registers ----------------------------------------------------------------------------------

/* An equal share, in multiples of eight. */
static unsigned registers_given()
{
    const unsigned each = POOL / unsigned(own->threads.size()) / 8 * 8;
    return each < 255 ? each : 248;
}

static unsigned registers_taken()
{
    unsigned sum = 0;
    for (const warpgroup &g : own->units->groups)
        sum += GROUP * (g.registers ? g.registers : registers_given());
    return sum;
}

/* A block never exceeds its initial total, even if the multiprocessor has more. */
void set_registers(unsigned count, bool more, site at)
{
    warpgroup *g = group_called(more ? "setmaxnreg_inc()" : "setmaxnreg_dec()", at);
    const unsigned now = g->registers ? g->registers : registers_given();
    if (more ? count < now : count > now)
        refuse_at(at, "%s to %u, and the warpgroup's threads have %u", self->waits_in, count, now);
    for (;;) {
        const unsigned sum = registers_taken() + GROUP * count - GROUP * now;
        if (!more || sum <= unsigned(own->threads.size()) * registers_given())
            break;
        self->state = AT_REGISTERS;
        wait();
    }
    self->mask = count;
    group_meet(g, nullptr, [](warpgroup *mine) {
        mine->registers = self->mask;
        for (thread &t : own->threads)
            if (t.state == AT_REGISTERS)
                t.state = READY;
    });
}

}  // namespace cpu
