#include "common/cuda/emulator/diagnostics/race.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cpu
{

struct record {
    uint32_t block;  // from 1, over all launches; 0: none
    uint32_t barriers, clock;
    uint16_t thread;
    uint8_t bytes;  // mask
    bool atomic;
    const void *instruction;
};

enum { GRAIN = 2, READERS = 2 };

/* Two bytes of memory: the last plain and atomic writes, and two reads since. */
struct cell {
    record writes[2], reads[READERS];
};

static uint32_t blocks, first_of_launch, barriers;
static std::vector<uint32_t> known;  // known[a * threads + b]: last clock of b that a knows
static cell shared_cells[SHARED_OFFSETS / GRAIN];

static uint32_t *clock_of(unsigned a, unsigned b)
{
    return &known[size_t{ a } * own->threads.size() + b];
}

void race_launch()
{
    first_of_launch = blocks + 1;  // orders earlier launches
}

void race_block()
{
    const size_t threads = own->threads.size();
    blocks++;
    barriers = 0;
    known.assign(threads * threads, 0);
    for (size_t t = 0; t < threads; t++)
        known[t * threads + t] = 1;
}

void race_barrier()
{
    barriers++;
}

void race_warp(unsigned mask)
{
    const size_t threads = own->threads.size();
    const unsigned first = self->number - self->lane;
    std::vector<uint32_t> all(threads, 0);
    for (unsigned lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1)
            for (unsigned t = 0; t < threads; t++)
                all[t] = std::max(all[t], *clock_of(first + lane, t));
    for (unsigned lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1) {
            memcpy(clock_of(first + lane, 0), all.data(), threads * sizeof all[0]);
            ++*clock_of(first + lane, first + lane);
        }
}

void race_product(unsigned first)
{
    for (unsigned reader = first; reader < first + 4 * WARP; reader += WARP) {
        const uint32_t read = (*clock_of(reader, reader))++;
        for (unsigned t = first; t < first + 4 * WARP; t++)
            *clock_of(t, reader) = std::max(*clock_of(t, reader), read);
    }
}

void race_join(race_clock *into, const race_clock &more)
{
    if (into->size() < more.size())
        into->resize(more.size());
    for (size_t t = 0; t < more.size(); t++)
        (*into)[t] = std::max((*into)[t], more[t]);
}

void race_release(race_clock *into)
{
    if (!own->launch->instrumented)
        return;
    const uint32_t *mine = clock_of(self->number, 0);
    race_join(into, race_clock(mine, mine + own->threads.size()));
    ++*clock_of(self->number, self->number);
}

void race_acquire(const race_clock *from)
{
    if (!own->launch->instrumented)
        return;
    for (unsigned t = 0; t < from->size(); t++)
        *clock_of(self->number, t) = std::max(*clock_of(self->number, t), (*from)[t]);
}

static bool unordered(const record *before)
{
    if (before->block < first_of_launch || before->block == 0)
        return false;
    if (before->block != blocks)
        return true;  // shared memory's records are cleared
    return before->thread != self->number && before->barriers == barriers &&
           *clock_of(self->number, before->thread) < before->clock;
}

[[noreturn]] static void report(const memory_access *a, const record *before, bool wrote)
{
    char name[96];
    const site there = site_of(before->instruction);
    const dim3 size = self->block_size;
    const unsigned t = before->thread;
    refuse_at(site_of(a->instruction),
              "data race: %s %s, which thread (%u,%u,%u) of %s %s\n"
              "    at %s:%d, and nothing orders the two",
              a->writes ? "writes" : "reads", name_of(a->p, name, sizeof name), t % size.x,
              t / size.x % size.y, t / size.x / size.y,
              before->block == blocks ? "this block" : "another block",
              wrote ? "has written" : "has read", there.file, there.line);
}

/* From another block or warp, so that no __syncwarp orders it before `me`'s warp? */
static bool is_foreign(const record *before, const record *me)
{
    if (before->block < first_of_launch || before->block == 0)
        return false;
    return before->block != me->block ||
           (before->barriers == me->barriers && before->thread / WARP != me->thread / WARP);
}

/*
 * Two readers suffice: the running thread and another, preferably foreign. For any later unordered
 * writer, one is foreign or both are of its warp.
 */
static void remember_reader(cell *c, const record *me)
{
    const record last = c->reads[0];
    const bool same = last.thread == me->thread && last.block == me->block;
    if (!same && (is_foreign(&last, me) || !is_foreign(&c->reads[1], me)))
        c->reads[1] = last;
    c->reads[0] = *me;
}

static void access_cell(cell *c, const memory_access *a, const record *me)
{
    for (const record &w : c->writes)
        if (unordered(&w) && (w.bytes & me->bytes) && !(a->atomic && w.atomic))
            report(a, &w, true);
    if (!a->writes) {
        remember_reader(c, me);
        return;
    }
    for (const record &r : c->reads)
        if (unordered(&r) && (r.bytes & me->bytes))
            report(a, &r, false);
    c->writes[a->atomic] = *me;
}

static cell *cells_of(const memory_access *a)
{
    if (!a->global)
        return shared_cells;
    if (!a->global->shadow)
        a->global->shadow = new cell[a->global->bytes / GRAIN + 1]();
    return static_cast<cell *>(a->global->shadow);
}

void race_access(const memory_access *a)
{
    record me = {
        blocks,    barriers,      *clock_of(self->number, self->number), uint16_t(self->number), 3,
        a->atomic, a->instruction
    };
    cell *cells = cells_of(a);
    const size_t end = a->offset + a->bytes;
    for (size_t grain = a->offset / GRAIN; grain * GRAIN < end; grain++) {
        me.bytes =
            uint8_t((grain * GRAIN >= a->offset ? 1 : 0) | (grain * GRAIN + 1 < end ? 2 : 0));
        cell *c = &cells[grain];
        for (record &w : c->writes)
            if (!a->global && w.block != blocks)
                w = {};
        for (record &r : c->reads)
            if (!a->global && r.block != blocks)
                r = {};
        access_cell(c, a, &me);
    }
}

void race_forget(void *shadow)
{
    delete[] static_cast<cell *>(shadow);
}

}  // namespace cpu
