#include "common/cuda/emulator/diagnostics/diagnose.h"

#include "common/cpu/memory.h"
#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/units.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>

namespace cpu
{

static std::recursive_mutex speaking;

static void print_index(uint3 i)
{
    fprintf(stderr, "(%u,%u,%u)", i.x, i.y, i.z);
}

static void print_place(site at)
{
    if (own) {
        fprintf(stderr, "    in kernel %s, block ", own->launch->name);
        print_index(own->index);
        if (self) {
            fprintf(stderr, ", thread ");
            print_index(self->thread_index);
        }
        fputs(at.line ? ", " : "\n", stderr);
    }
    if (at.line)
        fprintf(stderr, "%s%s:%d\n", own ? "" : "    at ", at.file, at.line);
}

static void say(const char *format, va_list values)
{
    fflush(stdout);
    fputs("CUDA on the CPU: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
}

[[noreturn]] static void leave()
{
    fflush(stderr);
    _Exit(EXIT_FAILURE);
}

void refuse(const char *format, ...)
{
    const std::lock_guard<std::recursive_mutex> lock(speaking);
    va_list values;
    va_start(values, format);
    say(format, values);
    va_end(values);
    print_place({ nullptr, 0 });
    leave();
}

void refuse_at(site at, const char *format, ...)
{
    const std::lock_guard<std::recursive_mutex> lock(speaking);
    va_list values;
    va_start(values, format);
    say(format, values);
    va_end(values);
    print_place(at);
    leave();
}

// ---- a machine out of resources -----------------------------------------------------------------

void machine_lacks(const char *format, ...)
{
    const int why = errno;
    const std::lock_guard<std::recursive_mutex> lock(speaking);
    va_list values;
    va_start(values, format);
    fflush(stdout);
    fprintf(stderr, "%s: expected ", program_name);
    vfprintf(stderr, format, values);
    fprintf(stderr, " for the CPU in place of a GPU, found: %s\n", strerror(why));
    va_end(values);
    fflush(stderr);
    _Exit(2);
}

static std::terminate_handler usual_end;

/*
 * No exception unwinds past the end of a fiber's stack, so the terminate handler reports bad_alloc.
 */
static void end()
{
    try {
        if (std::current_exception())
            throw;
    } catch (const std::bad_alloc &) {
        errno = ENOMEM;
        machine_lacks("more memory");
    } catch (...) {
    }
    usual_end();
}

static const bool installed = []() noexcept {
    usual_end = std::set_terminate(end);
    return true;
}();

// ---- where the threads are ----------------------------------------------------------------------

static bool same_place(const thread *a, const thread *b)
{
    if (a->state != b->state)
        return false;
    if (a->state == READY || a->state == LEFT)
        return true;
    return same_site(a->at, b->at) && same_text(a->waits_in, b->waits_in) &&
           (a->state != IN_WARP || a->mask == b->mask);
}

/* One line for all threads at the place of `t`. */
static void print_group(const thread *t)
{
    const thread *last = t;
    size_t count = 0;
    for (const thread &other : own->threads)
        if (same_place(t, &other))
            count++, last = &other;
    fprintf(stderr, "    %zu thread%s ", count, count == 1 ? "" : "s");
    if (t->state == LEFT)
        fputs(count == 1 ? "has left the kernel: " : "have left the kernel: ", stderr);
    else if (t->state == READY)
        fputs("can still run: ", stderr);
    else
        fprintf(stderr, "wait%s in %s at %s:%d: ", count == 1 ? "s" : "", t->waits_in, t->at.file,
                t->at.line);
    size_t shown = 0;
    for (const thread &other : own->threads) {
        if (!same_place(t, &other) || shown == 3)
            continue;
        fputs(shown++ > 0 ? " " : "", stderr);
        print_index(other.thread_index);
    }
    if (count > 3) {
        fputs(count > 4 ? " … " : " ", stderr);
        print_index(last->thread_index);
    }
    if (t->state == IN_WARP)
        fprintf(stderr, ", lanes of mask %08x", t->mask);
    fputc('\n', stderr);
}

static void print_threads()
{
    for (const thread &t : own->threads) {
        bool told = false;
        for (const thread *before = own->threads.data(); before < &t && !told; before++)
            told = same_place(before, &t);
        if (!told)
            print_group(&t);
    }
}

void refuse_block(const char *format, ...)
{
    const std::lock_guard<std::recursive_mutex> lock(speaking);
    va_list values;
    va_start(values, format);
    say(format, values);
    va_end(values);
    print_place(self ? self->at : site{ nullptr, 0 });
    print_threads();
    leave();
}

void refuse_stuck()
{
    bool in_warp = false, at_barrier = false;
    for (const thread &t : own->threads) {
        in_warp = in_warp || t.state == IN_WARP;
        at_barrier = at_barrier || t.state == AT_BARRIER;
    }
    self = nullptr;  // no single thread is to blame
    units_stuck();
    if (in_warp && at_barrier)
        refuse_block("deadlock: some threads wait at a barrier, others for lanes of their warp");
    if (in_warp)
        refuse_block("deadlock: lanes of a warp wait for others that their mask names");
    refuse_block("deadlock: not all threads of the block come to the barrier");
}

// ---- memory, by name ----------------------------------------------------------------------------

const char *name_of(const void *p, char *text, size_t size)
{
    const char *at = static_cast<const char *>(p);
    const allocation *a = allocation_of(p);
    if (a) {
        snprintf(text, size, "byte %zu of %s (%zu bytes)", size_t(at - a->begin), a->name,
                 a->bytes);
        return text;
    }
    const shared_memory *s = own ? &own->shared : nullptr;
    if (s && at >= s->dynamic && at < s->dynamic + own->launch->shared) {
        snprintf(text, size, "byte %zu of dynamic shared memory", size_t(at - s->dynamic));
        return text;
    }
    const shared_packing *packed = own ? own->launch->packed : nullptr;
    for (size_t k = 0; packed && k < packed->count; k++) {
        const shared_variable *v = &packed->variables[k];
        const char *begin = s->room + v->offset;
        if (at >= begin && at < begin + v->bytes) {
            snprintf(text, size, "byte %zu of __shared__ %s", size_t(at - begin), v->name);
            return text;
        }
    }
    snprintf(text, size, "address %p", p);
    return text;
}

}  // namespace cpu
