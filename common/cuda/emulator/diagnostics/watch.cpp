#include "common/cuda/emulator/diagnostics/watch.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/profile.h"
#include "common/cuda/emulator/diagnostics/race.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/units.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace cpu
{

enum { NO_VALUE, A_VALUE, UNDER_WAY };
static char written[SHARED_OFFSETS];

/* Writer, from 1, and its number of fences then; 0: a unit. */
struct writing {
    uint16_t thread, fences;
};
static writing writer[SHARED_OFFSETS];
static uint16_t fences[MAX_THREADS];

static bool watching()
{
    return self && own->launch->instrumented;
}

static bool inside(const memory_access *a, const char *begin, size_t bytes)
{
    return a->p >= begin && a->p < begin + bytes && a->bytes <= size_t(begin + bytes - a->p);
}

[[noreturn]] static void outside(const memory_access *a, const char *begin, size_t bytes,
                                 const char *what, const char *name)
{
    const bool behind = a->p >= begin;
    const ptrdiff_t far = behind ? a->p - (begin + bytes) : begin - a->p;
    refuse_at(site_of(a->instruction),
              "out of bounds: %s %zu bytes, %td bytes %s of %s%s, which has %zu bytes",
              a->writes ? "writes" : "reads", a->bytes, far,
              behind ? "past the end" : "before the beginning", what, name, bytes);
}

// ---- kinds of memory ----------------------------------------------------------------------------

/* Sets `offset`. */
static bool in_shared(memory_access *a)
{
    const shared_memory *s = &own->shared;
    const size_t dynamic = own->launch->shared;
    if (inside(a, s->dynamic, dynamic)) {
        a->offset = SHARED_ROOM + size_t(a->p - s->dynamic);
        return true;
    }
    if (a->p >= s->dynamic && a->p < s->dynamic + s->used_dynamic + SHARED_GAP)
        outside(a, s->dynamic, dynamic, "dynamic shared memory", "");
    if (a->p < s->room || a->p >= s->room + SHARED_ROOM)
        return false;

    a->offset = size_t(a->p - s->room);
    const shared_packing *packed = own->launch->packed;
    const shared_variable *before = nullptr;
    for (size_t k = 0; k < packed->count; k++) {
        const shared_variable *v = &packed->variables[k];
        if (inside(a, s->room + v->offset, v->bytes))
            return true;
        if (s->room + v->offset <= a->p)
            before = v;
    }
    if (!before)
        refuse_at(site_of(a->instruction),
                  "out of bounds: an access before the first __shared__ variable");
    outside(a, s->room + before->offset, before->bytes, "__shared__ ", before->name);
}

static allocation *last;  // accessed last

/* Sets `global` and `offset`. */
static bool in_global(memory_access *a)
{
    if (!last || !inside(a, last->begin, last->bytes))
        last = allocation_near(a->p);
    allocation *const g = last;
    if (!g)
        return false;
    if (!inside(a, g->begin, g->bytes))
        outside(a, g->begin, g->bytes, "", g->name);
    a->global = g;
    a->offset = size_t(a->p - g->begin);
    return true;
}

/* The thread's stack, built-in variables, or the kernel's parameters? */
static bool is_private(const memory_access *a)
{
    const launch *l = own->launch;
    const char *threads = reinterpret_cast<const char *>(own->threads.data());
    return inside(a, self->own.stack, self->own.bytes) ||
           inside(a, threads, own->threads.size() * sizeof(thread)) ||
           inside(a, static_cast<const char *>(l->arguments), l->argument_bytes) ||
           inside(a, reinterpret_cast<const char *>(&self), sizeof(void *));
}

/* A kernel may read the program's constants; nothing else remains. */
static void check_other(const memory_access *a)
{
    static const char *allowed;  // last page of constants
    const char *page = a->p - uintptr_t(a->p) % 4096;
    if (!a->writes && page == allowed)
        return;
    const site at = site_of(a->instruction);
    const char *const verb = a->writes ? "writes" : "reads";
    Dl_info info;
    if (a->p >= own->room.room && a->p < own->room.room + own->room.bytes)
        refuse_at(at, "a thread %s a local variable of another thread", verb);
    if (dladdr(a->p, &info) == 0)
        refuse_at(at, "a kernel %s host memory, or device memory that was freed", verb);
    if (a->writes)
        refuse_at(at, "a kernel writes a variable of the host");
    allowed = page;
}

// ---- checks and records -------------------------------------------------------------------------

static void check_written(const memory_access *a)
{
    char name[64];
    char *const bytes = written + a->offset;
    if (memchr(bytes, UNDER_WAY, a->bytes))
        refuse_at(site_of(a->instruction),
                  "%s shared memory to which an asynchronous copy is under way: %s\n"
                  "    (is %s missing, or a stage used again too early?)",
                  a->writes ? "writes" : "reads", name_of(a->p, name, sizeof name),
                  own->units ? "mbarrier_wait()" : "cp.async.wait_group");
    if (a->writes && bulk_reads(a->p, a->bytes))
        refuse_at(site_of(a->instruction),
                  "writes shared memory that a copy in bulk still reads: %s\n"
                  "    (is bulk_wait_read() missing?)",
                  name_of(a->p, name, sizeof name));
    if (a->writes && !a->atomic) {
        memset(bytes, A_VALUE, a->bytes);
        std::fill_n(writer + a->offset, a->bytes,
                    writing{ uint16_t(self->number + 1), fences[self->number] });
    } else if (memchr(bytes, NO_VALUE, a->bytes))
        refuse_at(site_of(a->instruction),
                  "reads shared memory that no thread has written: %s (is a barrier missing?)",
                  name_of(a->p, name, sizeof name));
}

size_t elements_of(const memory_access *a)
{
    const size_t element = a->global ? a->global->element : sizeof(float);
    return (a->bytes + element - 1) / element;
}

/* If its array is instrumented there, element by element. */
static void count(const memory_access *a)
{
    for (size_t e = 0; e < elements_of(a); e++) {
        const char *const p = a->p + e * a->global->element;
        if (!a->writes || a->atomic)
            traffic_count(p, 1, false);
        if (a->writes)
            traffic_count(p, 1, true);
    }
}

void see(const void *p, size_t bytes, bool writes, bool atomic, bool aligned,
         const void *instruction)
{
    if (!watching())
        return;
    self->access = instruction;
    memory_access a = {
        static_cast<const char *>(p), bytes, writes, atomic, instruction, nullptr, 0
    };
    if (is_private(&a)) {
        products_touched(p, bytes, writes, instruction);
        return;
    }
    if (aligned && uintptr_t(p) % bytes != 0)
        refuse_at(site_of(instruction),
                  "misaligned access: %zu bytes at an address that is no multiple of %zu", bytes,
                  bytes);
    const bool shared = in_shared(&a);
    if (!shared && !in_global(&a)) {
        check_other(&a);
        return;
    }
    if (shared)
        check_written(&a);
    if (settings.watch & CUDA_WATCH_RACES)
        race_access(&a);
    if (settings.watch & CUDA_WATCH_PROFILE)
        profile_access(&a);
    if ((settings.watch & CUDA_WATCH_TRAFFIC) && a.global)
        count(&a);
}

static void see_access(const void *p, size_t bytes, bool writes, bool aligned,
                       const void *instruction)
{
    see(p, bytes, writes, false, aligned, instruction);
}

void watch_launch(const launch *l)
{
    last = nullptr;
    watch_with(l && l->instrumented ? see_access : nullptr);
    if (l && l->instrumented)
        race_launch();
}

void watch_block()
{
    if (!own->launch->instrumented)
        return;
    memset(written, 0, sizeof written);
    race_block();
    profile_close();
}

void watch_barrier()
{
    if (!own->launch->instrumented)
        return;
    race_barrier();
    profile_close();
}

void watch_warp(unsigned mask)
{
    if (own->launch->instrumented)
        race_warp(mask);
}

void watch_atomic(const void *p, size_t bytes, const void *instruction)
{
    if (self)
        self->access = instruction;
    see(p, bytes, true, true, true, instruction);
}

/* Threads must not touch a pending target: both ends count as writes for races. */
void watch_copy(const void *to, size_t bytes, bool lands, const void *instruction)
{
    if (!watching())
        return;
    if (!lands)
        see(to, bytes, true, false, true, instruction);
    memory_access a = {
        static_cast<const char *>(to), bytes, true, false, instruction, nullptr, 0
    };
    if (!in_shared(&a))
        return;  // copy_async reports it
    memset(written + a.offset, lands ? A_VALUE : UNDER_WAY, bytes);
    if (lands && (settings.watch & CUDA_WATCH_RACES))
        race_access(&a);
}

void watch_fence()
{
    if (own->launch->instrumented)
        fences[self->number]++;
}

/* A unit reads only bytes whose writer has called fence_async() since. */
static void check_fenced(const memory_access *a)
{
    char name[64];
    for (size_t k = a->offset; k < a->offset + a->bytes; k++)
        if (writer[k].thread > 0 && fences[writer[k].thread - 1] == writer[k].fences)
            refuse_at(site_of(a->instruction),
                      "a unit reads shared memory that a thread has written and not called "
                      "fence_async() after: %s",
                      name_of(a->p, name, sizeof name));
}

void watch_unit(const void *p, size_t bytes, bool writes, const void *instruction)
{
    if (!watching())
        return;
    memory_access a = {
        static_cast<const char *>(p), bytes, writes, false, instruction, nullptr, 0
    };
    const bool shared = in_shared(&a);
    if (!shared && !in_global(&a))
        refuse_at(site_of(instruction), "a unit %s what is neither shared nor device memory",
                  writes ? "writes" : "reads");
    if (shared) {
        check_written(&a);
        if (!writes)
            check_fenced(&a);
    }
    if (settings.watch & CUDA_WATCH_RACES)
        race_access(&a);
    if ((settings.watch & CUDA_WATCH_TRAFFIC) && a.global)
        count(&a);
}

/* Threads must wait before they touch the target, so landing is no access. */
void watch_unit_copy(const void *to, size_t bytes, bool lands, const void *instruction)
{
    if (!own->launch->instrumented)
        return;
    memory_access a = {
        static_cast<const char *>(to), bytes, true, false, instruction, nullptr, 0
    };
    if (!lands)
        watch_unit(to, bytes, true, instruction);
    if (!in_shared(&a))
        return;
    memset(written + a.offset, lands ? A_VALUE : UNDER_WAY, bytes);
    std::fill_n(writer + a.offset, bytes, writing{ 0, 0 });
}

void watch_named(const void *array, const char *name)
{
    const allocation *a = allocation_of(array);
    if (a && (settings.watch & CUDA_WATCH_TRAFFIC))
        traffic_watch(name, reinterpret_cast<const float *>(a->begin),
                      (a->bytes + sizeof(float) - 1) / sizeof(float));
}

}  // namespace cpu
