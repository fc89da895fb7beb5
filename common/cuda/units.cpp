#include "units.h"

#include "atomics.h"
#include "diagnose.h"
#include "engine.h"
#include "launch.h"
#include "memory.h"
#include "timeline.h"
#include "warpgroup.h"
#include "watch.h"

#include <cstring>

namespace cpu
{

enum { MOST_BYTES = (1 << 20) - 1, NAN_BYTE = 0xff };

units::units() = default;
units::~units() = default;

units *own_units()
{
    if (!own->units)
        own->units = std::make_unique<units>();
    return own->units.get();
}

static void inside_a_kernel(const char *name, site at)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    self->at = at;
}

// ---- mbarriers ----------------------------------------------------------------------------------

/* What stands in an mbarrier's own eight bytes. A GPU keeps its counts there. */
static const uint64_t MARK = 0x7265697272616bff;

static phase_barrier *find(const void *bar, const char *name, site at)
{
    inside_a_kernel(name, at);
    for (phase_barrier &b : own_units()->barriers)
        if (b.place == bar) {
            if (memcmp(bar, &MARK, sizeof MARK) != 0)
                refuse_at(at, "%s: something has written over the mbarrier", name);
            return &b;
        }
    refuse_at(at, "%s: nobody has initialised this mbarrier (is a barrier missing?)", name);
}

void phase_init(void *bar, unsigned count, site at)
{
    inside_a_kernel("mbarrier_init()", at);
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

/* If nothing is missing any more the phase is over, and who waits for that goes on. */
static void settle(phase_barrier *b)
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
    phase_barrier *b = find(bar, name, at);
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
    settle(b);
}

void phase_wait(void *bar, unsigned parity, site at)
{
    static const char *const name = "mbarrier_wait()";
    phase_barrier *b = find(bar, name, at);
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
    inside_a_kernel("fence_async()", at);
    for (phase_barrier &b : own_units()->barriers)
        b.fenced = b.fenced || b.by == self->number;
    watch_fence();
}

// ---- tensor maps --------------------------------------------------------------------------------

cudaError_t map_make(tensor_map *map, const void *array, unsigned element, unsigned rank,
                     const uint64_t *size, const uint64_t *stride, const uint32_t *box, site at)
{
    if (rank < 2 || rank > 4)
        refuse_at(at, "tensor map: %u dimensions; expected 2 to 4", rank);
    if (uintptr_t(array) % 16 != 0)
        refuse_at(at, "tensor map: the array begins at an address that is no multiple of 16");
    if (box[0] * element != BOX_ROW)
        refuse_at(at, "tensor map: rows of a box have %u bytes; expected %d", box[0] * element,
                  BOX_ROW);
    *map = {};
    map->array = static_cast<const char *>(array);
    map->rank = rank;
    map->element = element;
    for (unsigned k = 0; k < 4; k++) {
        map->size[k] = k < rank ? size[k] : 1;
        map->stride[k] = k == 0 ? element : k < rank ? stride[k - 1] : 0;
        map->box[k] = k < rank ? box[k] : 1;
        if (map->size[k] < 1 || map->size[k] > uint64_t{ 1 } << 32)
            refuse_at(at, "tensor map: dimension %u has %llu elements; expected 1 to 2^32", k,
                      static_cast<unsigned long long>(map->size[k]));
        if (map->box[k] < 1 || map->box[k] > 256)
            refuse_at(at, "tensor map: a box of %u in dimension %u; expected 1 to 256", map->box[k],
                      k);
        if (k > 0 && (map->stride[k] % 16 != 0 || map->stride[k] >= uint64_t{ 1 } << 40))
            refuse_at(at,
                      "tensor map: a stride of %llu bytes; expected a multiple of 16, below 2^40",
                      static_cast<unsigned long long>(map->stride[k]));
    }
    return cudaSuccess;
}

// ---- boxes --------------------------------------------------------------------------------------

/* A row of a box: where it lies in the array, and which of its elements are there. */
struct box_row {
    const char *from;  // its first element, if that is there
    int64_t begin, end;
};

static box_row row_of(const tensor_copy *c, size_t row)
{
    const tensor_map *m = &c->map;
    box_row r = { m->array, 0, 0 };
    for (unsigned k = 1; k < 4; k++) {
        const int64_t at = c->from[k] + int64_t(row % m->box[k]);
        row /= m->box[k];
        if (at < 0 || at >= int64_t(m->size[k]))
            return r;
        r.from += uint64_t(at) * m->stride[k];
    }
    const int64_t x = c->from[0], size = int64_t(m->size[0]), box = m->box[0];
    r.begin = x < 0 ? (-x < box ? -x : box) : 0;
    r.end = x + box <= size ? box : x < size ? size - x : 0;
    if (r.end < r.begin)
        r.end = r.begin;
    r.from += x * int64_t(m->element);
    return r;
}

static size_t rows_of(const tensor_copy *c)
{
    return c->bytes / BOX_ROW;
}

void tensor_load(void *to, const tensor_map *map, void *bar, unsigned rank, const int *from,
                 site at)
{
    static const char *const name = "tma_load()";
    const void *const instruction = __builtin_return_address(0);
    phase_barrier *b = find(bar, name, at);
    tensor_copy c = {};
    c.map = *map;
    memcpy(c.from, from, sizeof c.from);
    c.to = static_cast<char *>(to);
    c.bytes = size_t{ BOX_ROW } * map->box[1] * map->box[2] * map->box[3];
    c.barrier = size_t(b - own_units()->barriers.data());
    c.at = at;
    c.instruction = instruction;
    if (map->rank != rank)
        refuse_at(at, "tma_load() with %u coordinates, and the map has %u dimensions", rank,
                  map->rank);
    if (!shared_holds(to, c.bytes))
        refuse_at(at, "tma_load(): a box of %zu bytes does not lie in shared memory", c.bytes);
    if (uintptr_t(to) % SWIZZLED != 0)
        refuse_at(at, "tma_load(): a box begins at an address that is no multiple of %d", SWIZZLED);
    if (!b->fenced)
        refuse_at(at,
                  "tma_load(): the mbarrier was initialised and fence_async() not called after it");
    for (size_t n = 0; n < rows_of(&c); n++) {
        const box_row r = row_of(&c, n);
        if (r.end > r.begin)
            watch_unit(r.from + r.begin * map->element, size_t(r.end - r.begin) * map->element,
                       false, instruction);
    }
    watch_unit_copy(to, c.bytes, false, instruction);
    race_release(&c.known);
    memset(to, NAN_BYTE, c.bytes);
    if (timeline_runs)
        c.job = timeline_copy(TIMED_COPIES, map->array, c.bytes, at);
    own_units()->copies.push_back(c);
}

/* Piece by piece to where the swizzle has it; zeros for what is not there. */
static void fill(const tensor_copy *c)
{
    for (size_t n = 0; n < rows_of(c); n++) {
        const box_row r = row_of(c, n);
        char row[BOX_ROW] = {};
        if (r.end > r.begin)
            memcpy(row + r.begin * c->map.element, r.from + r.begin * c->map.element,
                   size_t(r.end - r.begin) * c->map.element);
        for (size_t piece = 0; piece < 8; piece++)
            memcpy(c->to + n * BOX_ROW + 16 * (piece ^ n % 8), row + 16 * piece, 16);
    }
}

static bool copies_land()
{
    std::vector<tensor_copy> *all = &own_units()->copies;
    if (all->empty())
        return false;
    size_t which = engine.schedule == CUDA_DESCENDING ? all->size() - 1 : 0;
    if (engine.schedule == CUDA_RANDOM) {
        own->random = own->random * 1664525u + 1013904223u;
        which = (own->random >> 8) % all->size();
    }
    const tensor_copy c = (*all)[which];
    all->erase(all->begin() + ptrdiff_t(which));
    fill(&c);
    watch_unit_copy(c.to, c.bytes, true, c.instruction);
    phase_barrier *b = &own_units()->barriers[c.barrier];
    b->bytes -= int64_t(c.bytes);
    if (timeline_runs)
        timeline_lands(c.job, timeline_phase(b->place, b->phase));
    race_join(&b->arriving, c.known);
    settle(b);
    return true;
}

// ---- sums in bulk -------------------------------------------------------------------------------

void bulk_reduce(float *to, const float *from, unsigned bytes, site at)
{
    static const char *const name = "bulk_add()";
    const void *const instruction = __builtin_return_address(0);
    inside_a_kernel(name, at);
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
    inside_a_kernel("bulk_commit()", at);
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
    inside_a_kernel(only_read ? "bulk_wait_read()" : "bulk_wait()", at);
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

// ---- named barriers -----------------------------------------------------------------------------

void named_barrier(unsigned id, unsigned threads, bool waits, site at)
{
    const char *const name = waits ? "barrier_sync()" : "barrier_arrive()";
    inside_a_kernel(name, at);
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

// ---- the life of a block ------------------------------------------------------------------------

void units_begin()
{
    own->units.reset();
}

void units_leave()
{
    if (!own->units)
        return;
    products_leave();
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
    if (engine.schedule == CUDA_DESCENDING)
        return copies_land() || products_land();
    return products_land() || copies_land();
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
