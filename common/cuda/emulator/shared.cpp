#include "common/cuda/emulator/shared.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/sanitizer.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/settings.h"

#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace cpu
{

enum {
    DYNAMIC_ROOM = SHARED_MOST + SHARED_ALIGNMENT,
    NAN_BYTE = 0xff,  // a NaN as float, half and bfloat16
};

static size_t up(size_t bytes, size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

static char *guarded(size_t bytes)
{
    const size_t page = size_t(sysconf(_SC_PAGESIZE)), size = up(bytes, page);
    void *room = mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (room == MAP_FAILED || mprotect(static_cast<char *>(room) + size, page, PROT_NONE) != 0)
        machine_lacks("%zu bytes of shared memory", bytes);
    memset(room, NAN_BYTE, size);
    return static_cast<char *>(room);
}

shared_memory shared_make()
{
    shared_memory s = {};
    s.room = guarded(SHARED_ROOM);
    s.dynamic_room = guarded(DYNAMIC_ROOM);
    return s;
}

void shared_free(shared_memory *s)
{
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    sanitizer_unpoison(s->room, SHARED_ROOM);
    sanitizer_unpoison(s->dynamic_room, DYNAMIC_ROOM);
    munmap(s->room, up(SHARED_ROOM, page) + page);
    munmap(s->dynamic_room, up(DYNAMIC_ROOM, page) + page);
}

void shared_begin(shared_memory *s, const struct launch *l)
{
    const size_t page = size_t(sysconf(_SC_PAGESIZE)), end = up(DYNAMIC_ROOM, page);
    sanitizer_unpoison(s->room, SHARED_ROOM);
    sanitizer_unpoison(s->dynamic_room, end);
    memset(s->room, NAN_BYTE, s->used);
    memset(s->dynamic_room + end - s->used_dynamic, NAN_BYTE, s->used_dynamic);
    s->used_dynamic = up(l->shared, SHARED_ALIGNMENT);
    s->dynamic = s->dynamic_room + end - s->used_dynamic;
    sanitizer_poison(s->room, SHARED_ROOM);
    sanitizer_poison(s->dynamic_room, end);
    sanitizer_unpoison(s->dynamic, l->shared);
    s->used = l->packed->end;
    s->alignment = 0;
}

// ---- variables ----------------------------------------------------------------------------------

static std::mutex packing;

static void pack(shared_site *declared, size_t bytes, size_t alignment)
{
    const struct launch *l = own->launch;
    shared_packing *p = l->packed;
    const std::lock_guard<std::mutex> lock(packing);
    if (declared->launch.load(std::memory_order_relaxed) == l->number)
        return;  // placed by another block
    p->bytes = up(p->bytes, alignment) + bytes;
    // cudaFuncSetAttribute limits only the dynamic part; the sum is limited by the hardware.
    const size_t most = l->shared_limit > SHARED_USUAL ? settings.shared : l->shared_limit;
    if (p->bytes + l->shared > most || p->bytes > SHARED_USUAL)
        refuse_at(declared->at,
                  "too much shared memory: with %s the kernel's variables take %zu bytes, and the\n"
                  "    launch asks for %zu more; %zu is the most%s",
                  declared->name, p->bytes, l->shared, most,
                  l->shared_limit == SHARED_USUAL ? " (cudaFuncSetAttribute can raise it)" : "");
    if (p->count == SHARED_VARIABLES)
        refuse_at(declared->at, "more than %d shared variables in a kernel", SHARED_VARIABLES);
    declared->offset = p->bytes - bytes + (p->count + 1) * SHARED_GAP;
    p->variables[p->count++] = { declared->name, declared->at, declared->offset, bytes };
    p->end = declared->offset + bytes + SHARED_GAP;
    declared->launch.store(l->number, std::memory_order_release);
}

void *shared_place(shared_site *declared, size_t bytes, size_t alignment)
{
    if (!self)
        refuse_at(declared->at, "__shared__ %s stands outside a kernel", declared->name);
    if (declared->launch.load(std::memory_order_acquire) != own->launch->number)
        pack(declared, bytes, alignment);
    own->shared.used = own->launch->packed->end;
    char *place = own->shared.room + declared->offset;
    sanitizer_unpoison(place, bytes);
    return place;
}

void *dynamic_shared()
{
    if (!self)
        refuse("extern __shared__ stands outside a kernel");
    return own->shared.dynamic;
}

void *dynamic_shared(size_t alignment)
{
    void *const place = dynamic_shared();
    own->shared.alignment = alignment;
    return place;
}

/*
 * A GPU puts the dynamic part after the variables, at a multiple of its declared alignment. Ours is
 * always aligned, so we check the declaration.
 */
void shared_wants_alignment(const void *p, size_t alignment, const char *name, site at)
{
    const char *const place = static_cast<const char *>(p), *const begin = own->shared.dynamic;
    if (place >= begin && place < begin + own->launch->shared && own->shared.alignment < alignment)
        refuse_at(at,
                  "%s: dynamic shared memory is not declared with __align__(%zu): on a GPU it may "
                  "begin\n"
                  "    elsewhere, after the kernel's variables",
                  name, alignment);
}

bool shared_holds(const void *p, size_t bytes)
{
    const char *const at = static_cast<const char *>(p);
    const auto inside = [=](const char *begin, size_t size) {
        return at >= begin && at + bytes <= begin + size;
    };
    if (inside(own->shared.dynamic, own->launch->shared))
        return true;
    const shared_packing *packed = own->launch->packed;
    for (size_t k = 0; k < packed->count; k++)
        if (inside(own->shared.room + packed->variables[k].offset, packed->variables[k].bytes))
            return true;
    return false;
}

// ---- gaps ---------------------------------------------------------------------------------------

/* `bytes` if there is none. */
static size_t first_written(const char *from, size_t bytes)
{
    size_t k = 0;
    while (k < bytes && from[k] == char(NAN_BYTE))
        k++;
    return k;
}

void shared_check(const shared_memory *s, const struct launch *l)
{
    sanitizer_unpoison(s->room, SHARED_ROOM);
    sanitizer_unpoison(s->dynamic, s->used_dynamic);
    const shared_packing *p = l->packed;
    const std::lock_guard<std::mutex> lock(packing);
    for (size_t k = 0; k < p->count; k++) {
        const shared_variable *v = &p->variables[k];
        const size_t end = v->offset + v->bytes;
        const size_t written = first_written(s->room + end, SHARED_GAP);
        if (written < SHARED_GAP)
            refuse_at(
                v->at,
                "a thread wrote %zu bytes past the end of __shared__ %s, which has %zu bytes\n"
                "    (the instrumented kernel tells which thread, and where)",
                written, v->name, v->bytes);
    }
    const size_t written = first_written(s->dynamic + l->shared, s->used_dynamic - l->shared);
    if (written < s->used_dynamic - l->shared)
        refuse(
            "a thread wrote %zu bytes past the end of dynamic shared memory, which has %zu bytes\n"
            "    (the instrumented kernel tells which thread, and where)",
            written, l->shared);
}

}  // namespace cpu
