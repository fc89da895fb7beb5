/* Explains faults: which thread, which line, and the likely mistake. */
#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/sanitizer.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <unistd.h>

namespace cpu
{

enum { FAULT_STACK = 128 * 1024 };

fault_stack::fault_stack() : room(static_cast<char *>(malloc(FAULT_STACK)))
{
    if (!room)
        machine_lacks("a stack of %d bytes", FAULT_STACK);
    stack_t s = {};
    s.ss_sp = room;
    s.ss_size = FAULT_STACK;
    sigaltstack(&s, &before);
}

fault_stack::~fault_stack()
{
    sigaltstack(&before, nullptr);
    free(room);
}

const void *instruction_of(void *context)
{
    const ucontext_t *c = static_cast<ucontext_t *>(context);
    (void)c;
#if defined(__linux__) && defined(__x86_64__)
    return reinterpret_cast<const void *>(c->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
    return reinterpret_cast<const void *>(c->uc_mcontext.pc);
#elif defined(__APPLE__) && defined(__x86_64__)
    return reinterpret_cast<const void *>(c->uc_mcontext->__ss.__rip);
#elif defined(__APPLE__) && defined(__aarch64__)
    return reinterpret_cast<const void *>(c->uc_mcontext->__ss.__pc);
#else
    return nullptr;
#endif
}

#ifndef CUDA_ADDRESS_SANITIZER
static bool past_shared(const char *p)
{
    const shared_memory *s = &own->shared;
    const char *end = s->dynamic + s->used_dynamic;
    return p >= end && p < end + sysconf(_SC_PAGESIZE);
}

/* A fault there is SIGSEGV on Linux and SIGBUS on macOS. */
static bool is_guarded(const char *p)
{
    const allocation *a = allocation_near(p);
    return past_shared(p) || (own && stack_overflowed(own->room, p) >= 0) ||
           (a && (p < a->room || p >= a->room + a->room_bytes));
}

static void explain(const char *p, site at)
{
    const long overflowed = own ? stack_overflowed(own->room, p) : -1;
    const allocation *a = allocation_near(p);
    if (!self && a)
        refuse_at(at, "host code touches device memory, %s; cudaMemcpy copies it", a->name);
    if (overflowed >= 0)
        refuse_at(at, "stack overflow: the local variables of a thread take more than 64 KB");
    if (self && a)
        refuse_at(at, "out of bounds: an access %zu bytes past the end of %s, which has %zu bytes",
                  size_t(p - a->begin) - a->bytes, a->name, a->bytes);
    if (self && past_shared(p))
        refuse_at(at,
                  "out of bounds: an access %zu bytes past the end of dynamic shared memory, which "
                  "has %zu bytes",
                  size_t(p - own->shared.dynamic) - own->launch->shared, own->launch->shared);
}

/* x86-64 reports misaligned vector accesses without an address. */
static bool is_misaligned(int number, const siginfo_t *info)
{
    const char *p = static_cast<const char *>(info->si_addr);
#ifdef __x86_64__
    if (!p && info->si_code != SEGV_MAPERR)
        return true;
#endif
    return number == SIGBUS && !is_guarded(p);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const char *p = static_cast<const char *>(info->si_addr);
    const void *instruction = instruction_of(context);
    site at = { nullptr, 0 };
    if (instruction)
        at = site_of(static_cast<const char *>(instruction) + 1);
    if (self || allocation_near(p)) {
        if (self && is_misaligned(number, info))
            refuse_at(at, "misaligned access: a vector must lie at a multiple of its size");
        if (self && uintptr_t(p) < 4096)
            refuse_at(at, "an access through a null pointer");
        explain(p, at);
        if (self)
            refuse_at(at, "an access to address %p, which is no memory of this program",
                      static_cast<const void *>(p));
    }
    signal(number, SIG_DFL);  // not ours
}

void explain_faults()
{
    static bool installed;
    if (installed)
        return;
    installed = true;
    new fault_stack;  // the main thread's; never freed
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}
#else
void explain_faults()
{
}
#endif

}  // namespace cpu

#ifdef CUDA_ADDRESS_SANITIZER
extern "C" __attribute__((visibility("default"))) void __asan_on_error()
{
    using namespace cpu;
    if (own && self)
        fprintf(stderr, "CUDA on the CPU: in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)\n",
                own->launch->name, own->index.x, own->index.y, own->index.z, self->thread_index.x,
                self->thread_index.y, self->thread_index.z);
}
#endif
