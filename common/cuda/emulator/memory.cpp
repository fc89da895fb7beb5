#include "common/cuda/emulator/memory.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/race.h"
#include "common/cuda/emulator/diagnostics/sanitizer.h"
#include "common/cuda/emulator/launch.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace cpu
{

enum { NAN_BYTE = 0xff };

/* Never destroyed: used until the program ends. */
static std::map<const char *, allocation> &allocations()
{
    static auto *all = new std::map<const char *, allocation>;
    return *all;
}

static int exposed;  // calls may nest

static size_t up(size_t bytes, size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

static void protect(const allocation *a, bool accessible)
{
    if (mprotect(a->room, a->room_bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
        machine_lacks("protection of %zu bytes of device memory", a->room_bytes);
}

void memory_expose()
{
    if (exposed++ == 0)
        for (const auto &[begin, a] : allocations())
            protect(&a, true);
}

void memory_hide()
{
    if (--exposed == 0)
        for (const auto &[begin, a] : allocations())
            protect(&a, false);
}

void *memory_allocate(size_t bytes, site at)
{
    explain_faults();
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    allocation a = {};
    a.bytes = bytes;
    a.at = at;
    a.element = sizeof(float);
    const size_t size = up(bytes > 0 ? bytes : 1, DEVICE_ALIGNMENT);
    if (size < bytes)
        return nullptr;
    a.room_bytes = up(size, page);
    void *room = mmap(nullptr, a.room_bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (room == MAP_FAILED)
        return nullptr;
    a.room = static_cast<char *>(room);
    a.begin = a.room + a.room_bytes - size;
    snprintf(a.name, sizeof a.name, "memory from line %d", at.line);
    protect(&a, true);
    memset(a.room, NAN_BYTE, a.room_bytes);
    if (exposed == 0)
        protect(&a, false);
    sanitizer_poison(a.room, a.room_bytes);
    sanitizer_unpoison(a.begin, bytes);
    allocations()[a.begin] = a;
    return a.begin;
}

bool memory_free(void *p)
{
    const auto found = allocations().find(static_cast<const char *>(p));
    if (found == allocations().end())
        return false;
    const allocation *a = &found->second;
    race_forget(a->shadow);
    sanitizer_unpoison(a->room, a->room_bytes);
    munmap(a->room, a->room_bytes + size_t(sysconf(_SC_PAGESIZE)));
    allocations().erase(found);
    return true;
}

allocation *allocation_near(const void *p)
{
    const char *at = static_cast<const char *>(p);
    auto next = allocations().upper_bound(at);
    if (next != allocations().end() && at >= next->second.room)
        return &next->second;
    if (next == allocations().begin())
        return nullptr;
    allocation *a = &(--next)->second;
    return at < a->room + a->room_bytes + sysconf(_SC_PAGESIZE) ? a : nullptr;
}

allocation *allocation_of(const void *p)
{
    allocation *a = allocation_near(p);
    const char *at = static_cast<const char *>(p);
    return a && at >= a->begin && at <= a->begin + a->bytes ? a : nullptr;
}

bool on_device(const void *p, size_t bytes)
{
    const allocation *a = allocation_of(p);
    return a && bytes <= size_t(a->begin + a->bytes - static_cast<const char *>(p));
}

void memory_name(const void *p, const char *name, size_t element)
{
    allocation *a = allocation_of(p);
    if (!a)
        return;
    snprintf(a->name, sizeof a->name, "%s", name);
    a->element = element;
}

/* Bytes before the first change; `bytes` if none. */
static size_t untouched(const char *from, size_t bytes)
{
    sanitizer_unpoison(from, bytes);
    size_t k = 0;
    while (k < bytes && from[k] == char(NAN_BYTE))
        k++;
    sanitizer_poison(from, bytes);
    return k;
}

void memory_check(const struct launch *l)
{
    memory_expose();
    for (const auto &[begin, a] : allocations()) {
        const char *end = begin + a.bytes;
        const size_t before = size_t(begin - a.room), gap = size_t(a.room + a.room_bytes - end);
        const size_t low = untouched(a.room, before), high = untouched(end, gap);
        if (low < before || high < gap)
            refuse_at(l->at,
                      "kernel %s wrote %zu bytes %s of %s, which has %zu bytes\n"
                      "    (the instrumented kernel tells which thread, and where)",
                      l->name, high < gap ? high : before - low,
                      high < gap ? "past the end" : "before the beginning", a.name, a.bytes);
    }
    memory_hide();
}

void memory_each(void (*visit)(allocation *, void *), void *data)
{
    for (auto &[begin, a] : allocations())
        visit(&a, data);
}

}  // namespace cpu
