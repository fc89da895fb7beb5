#include "common/cuda/emulator/units.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/settings.h"

#include <cstring>

namespace cpu
{

enum { NAN_BYTE = 0xff, CHUNK = 16 };

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

// ---- issuing ------------------------------------------------------------------------------------

box_row box_row_of(const tensor_map *m, const int *from, size_t row)
{
    box_row r = { const_cast<char *>(m->array), 0, 0 };
    for (unsigned k = 1; k < 4; k++) {
        const int64_t at = from[k] + int64_t(row % m->box[k]);
        row /= m->box[k];
        if (at < 0 || at >= int64_t(m->size[k]))
            return r;
        r.place += uint64_t(at) * m->stride[k];
    }
    const int64_t x = from[0], size = int64_t(m->size[0]), box = m->box[0];
    r.begin = x < 0 ? (-x < box ? -x : box) : 0;
    r.end = x + box <= size ? box : x < size ? size - x : 0;
    if (r.end < r.begin)
        r.end = r.begin;
    r.place += x * int64_t(m->element);
    return r;
}

/* Returns the box's bytes; ends the program if it is invalid. */
static size_t check_box(const tensor_map *map, unsigned rank, const void *shared, const int *from,
                        const char *name, site at)
{
    const size_t bytes = size_t{ BOX_ROW } * map->box[1] * map->box[2] * map->box[3];
    if (map->rank != rank)
        refuse_at(at, "%s with %u coordinates, and the map has %u dimensions", name, rank,
                  map->rank);
    if (!shared_holds(shared, bytes))
        refuse_at(at, "%s: a box of %zu bytes does not lie in shared memory", name, bytes);
    if (uintptr_t(shared) % SWIZZLED != 0)
        refuse_at(at, "%s: a box begins at an address that is no multiple of %d", name, SWIZZLED);
    shared_wants_alignment(shared, SWIZZLED, name, at);
    const long long beside = from[0] * int64_t(map->element);
    if (beside % CHUNK != 0)
        refuse_at(at,
                  "%s: rows of a box from element %d on, %lld bytes from where the array's "
                  "begin; expected a multiple of %d bytes",
                  name, from[0], beside, CHUNK);
    return bytes;
}

static void watch_rows(const tensor_map *map, const int *from, size_t bytes, bool writes,
                       const void *instruction)
{
    for (size_t n = 0; n < bytes / BOX_ROW; n++) {
        const box_row r = box_row_of(map, from, n);
        if (r.end > r.begin)
            watch_unit(r.place + r.begin * map->element, size_t(r.end - r.begin) * map->element,
                       writes, instruction);
    }
}

void tensor_load(void *to, const tensor_map *map, void *bar, unsigned rank, const int *from,
                 site at)
{
    static const char *const name = "tma_load()";
    const void *const instruction = __builtin_return_address(0);
    phase_barrier *b = phase_find(bar, name, at);
    tensor_copy c = {};
    c.map = *map;
    memcpy(c.from, from, sizeof c.from);
    c.to = static_cast<char *>(to);
    c.bytes = check_box(map, rank, to, from, name, at);
    c.barrier = size_t(b - own_units()->barriers.data());
    c.at = at;
    c.instruction = instruction;
    if (!b->fenced)
        refuse_at(at,
                  "tma_load(): the mbarrier was initialised and fence_async() not called after it");
    watch_rows(map, from, c.bytes, false, instruction);
    watch_unit_copy(to, c.bytes, false, instruction);
    race_release(&c.known);
    memset(to, NAN_BYTE, c.bytes);
    if (timeline_runs)
        c.job = timeline_copy(TIMED_COPIES, map->array, c.bytes, at);
    own_units()->copies.push_back(c);
}

static bulk_copy box_from(const char *name, const tensor_map *map, const void *from, const int *to,
                          site at)
{
    units_called(name, at);
    bulk_copy c = {};
    c.name = name;
    c.map = *map;
    memcpy(c.box, to, sizeof c.box);
    c.from = static_cast<const char *>(from);
    c.bytes = check_box(map, 3, from, to, name, at);
    c.at = at;
    return c;
}

void tensor_store(const tensor_map *map, const void *from, const int *to, site at)
{
    bulk_copy c = box_from("tma_store()", map, from, to, at);
    c.instruction = __builtin_return_address(0);
    watch_rows(map, to, c.bytes, true, c.instruction);
    bulk_begin(&c, TIMED_COPIES, map->array);
}

void tensor_reduce(const tensor_map *map, const float *from, const int *to, site at)
{
    bulk_copy c = box_from("tma_add()", map, from, to, at);
    if (map->element != sizeof(float))
        refuse_at(at, "tma_add(): the map has elements of %u bytes; expected floats", map->element);
    c.instruction = __builtin_return_address(0);
    c.adds = true;
    bulk_begin(&c, TIMED_SUMS, map->array);
}

/* Swizzles chunks; zeros outside the array. */
static void fill(const tensor_copy *c)
{
    for (size_t n = 0; n < c->bytes / BOX_ROW; n++) {
        const box_row r = box_row_of(&c->map, c->from, n);
        char row[BOX_ROW] = {};
        if (r.end > r.begin)
            memcpy(row + r.begin * c->map.element, r.place + r.begin * c->map.element,
                   size_t(r.end - r.begin) * c->map.element);
        for (size_t piece = 0; piece < 8; piece++)
            memcpy(c->to + n * BOX_ROW + CHUNK * (piece ^ n % 8), row + CHUNK * piece, CHUNK);
    }
}

bool boxes_land()
{
    std::vector<tensor_copy> *all = &own_units()->copies;
    if (all->empty())
        return false;
    size_t which = settings.schedule == CUDA_DESCENDING ? all->size() - 1 : 0;
    if (settings.schedule == CUDA_RANDOM) {
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
    phase_settle(b);
    return true;
}

}  // namespace cpu
