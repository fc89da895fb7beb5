#include "common/cuda/emulator/fiber.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/sanitizer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

/*
 * Saves callee-saved registers and exchanges stacks: about a dozen instructions, some sixty times
 * as fast as swapcontext, which makes a system call. On x86-64 it ends with a jump: the return
 * predictor would be wrong every time.
 */
#if defined(__x86_64__) && !defined(CUDA_UCONTEXT)
extern "C" void cuda_fiber_switch(void **save, void *load) __asm__("cuda_fiber_switch");
__asm__(".text\n.p2align 4\n.globl cuda_fiber_switch\ncuda_fiber_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  popq %rdx\n  jmp *%rdx\n");
enum { SAVED_WORDS = 8, ENTRY = 6 };  // six registers, address to continue at, 0 as return address
#elif defined(__aarch64__) && !defined(CUDA_UCONTEXT)
extern "C" void cuda_fiber_switch(void **save, void *load) __asm__("cuda_fiber_switch");
__asm__(".text\n.p2align 4\n.globl cuda_fiber_switch\ncuda_fiber_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n");
enum { SAVED_WORDS = 20, ENTRY = 11 };  // x30: address to continue at
#else
#ifndef CUDA_UCONTEXT
#define CUDA_UCONTEXT
#endif
#include <ucontext.h>
#endif

namespace cpu
{

/*
 * Functions poison memory around their variables and unpoison it on return. The kernel's have
 * returned; its callers' frames, at the top of the stack, remain when a fiber ends.
 */
static void clear_marks(fiber *f)
{
    enum { CALLERS = 16 * 1024 };  // the kernel's callers need less
    const bool began = f->at;      // has a fiber run here before?
    const size_t marked = began ? std::min(f->bytes, size_t{ CALLERS }) : f->bytes;
    sanitizer_unpoison(f->stack + f->bytes - marked, marked);
}

#ifdef CUDA_UCONTEXT
void fiber_start(fiber *f, void (*run)(), size_t)
{
    clear_marks(f);
    ucontext_t *context = static_cast<ucontext_t *>(f->at);
    if (!context)
        f->at = context = new ucontext_t;
    getcontext(context);
    context->uc_stack.ss_sp = f->stack;
    context->uc_stack.ss_size = f->bytes;
    context->uc_link = nullptr;
    makecontext(context, run, 0);
}

static void exchange(fiber *from, fiber *to)
{
    if (!from->at)
        from->at = new ucontext_t;
    swapcontext(static_cast<ucontext_t *>(from->at), static_cast<ucontext_t *>(to->at));
}

void fiber_end(fiber *f)
{
    delete static_cast<ucontext_t *>(f->at);
}
#else
void fiber_start(fiber *f, void (*run)(), size_t stagger)
{
    clear_marks(f);
    void **top = reinterpret_cast<void **>(f->stack + f->bytes - stagger);
    std::fill(top - SAVED_WORDS, top, nullptr);
    top[ENTRY - SAVED_WORDS] = reinterpret_cast<void *>(run);
    f->at = top - SAVED_WORDS;
}

static void exchange(fiber *from, fiber *to)
{
    cuda_fiber_switch(&from->at, to->at);
}

void fiber_end(fiber *)
{
}
#endif

void fiber_switch(fiber *from, fiber *to, bool for_good)
{
    sanitizer_switch(for_good ? nullptr : &from->fake_stack, to->stack, to->bytes);
    exchange(from, to);
    sanitizer_switched(from->fake_stack, nullptr, nullptr);
}

void fiber_entered(fiber *first)
{
    const void *stack = nullptr;
    size_t bytes = 0;
    sanitizer_switched(nullptr, &stack, &bytes);
    if (!first->stack) {
        first->stack = static_cast<char *>(const_cast<void *>(stack));
        first->bytes = bytes;
    }
}

// ---- stacks -------------------------------------------------------------------------------------

/* As large as the stack: one large variable must not reach past it. */
#ifdef CUDA_ADDRESS_SANITIZER
enum { STACK_BYTES = 256 * 1024, GUARD_BYTES = STACK_BYTES };  // its frames are larger
#else
enum { STACK_BYTES = 64 * 1024, GUARD_BYTES = STACK_BYTES };
#endif

stacks stacks_make(size_t count)
{
    stacks s = { nullptr, STACK_BYTES + GUARD_BYTES, 0 };
    s.bytes = s.each * count;
    void *room = mmap(nullptr, s.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (room == MAP_FAILED)
        machine_lacks("stacks for %zu threads", count);
    s.room = static_cast<char *>(room);
    for (size_t t = 0; t < count; t++)
        if (mprotect(s.room + t * s.each, GUARD_BYTES, PROT_NONE) != 0)
            machine_lacks("guards for the stacks of %zu threads", count);
    return s;
}

void stacks_free(stacks s)
{
    if (s.room)
        munmap(s.room, s.bytes);
}

char *stack_of(stacks s, size_t number, size_t *bytes)
{
    *bytes = STACK_BYTES;
    return s.room + number * s.each + GUARD_BYTES;
}

long stack_overflowed(stacks s, const void *p)
{
    const size_t at = size_t(static_cast<const char *>(p) - s.room);
    if (!s.room || p < s.room || at >= s.bytes || at % s.each >= GUARD_BYTES)
        return -1;
    return long(at / s.each);
}

}  // namespace cpu
