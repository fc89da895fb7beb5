#include "common/cuda/emulator/diagnostics/watchdog.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/settings.h"

#include <csignal>
#include <dlfcn.h>
#include <sys/time.h>

namespace cpu
{

enum { LOOKS = 4 };  // per CPU second

/* What this OS thread ran last, and for how many looks. */
static __thread const block *running;
static __thread size_t turns;
static __thread unsigned looks;

/* Libraries may have line numbers too, but no kernels. */
static bool is_ours(const void *instruction)
{
    Dl_info at, emulator;
    return dladdr(instruction, &at) &&
           dladdr(reinterpret_cast<const void *>(&watchdog_begin), &emulator) &&
           at.dli_fbase == emulator.dli_fbase;
}

static void look(int, siginfo_t *, void *context)
{
    if (!self || own != running || own->turns != turns) {
        running = own;
        turns = self ? own->turns : 0;
        looks = 0;
        return;
    }
    if (++looks < LOOKS * settings.patience)
        return;
    const char *const instruction = static_cast<const char *>(instruction_of(context));
    site at = { nullptr, 0 };
    if (instruction && is_ours(instruction))
        at = site_of(instruction + 1);
    if (at.line == 0 && self->access)  // in the emulator or libc
        at = site_of(self->access);
    refuse_at(at,
              "a thread has run for %u s and not come to a barrier; does it wait in a loop for\n"
              "    what another thread does? That is not supported",
              settings.patience);
}

static void every(long microseconds)
{
    const struct itimerval interval = { { 0, microseconds }, { 0, microseconds } };
    setitimer(ITIMER_PROF, &interval, nullptr);
}

void watchdog_begin()
{
    static bool installed;
    if (!installed) {
        struct sigaction action = {};
        action.sa_sigaction = look;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        sigaction(SIGPROF, &action, nullptr);
        installed = true;
    }
    every(1000000 / LOOKS);
}

void watchdog_end()
{
    every(0);
}

}  // namespace cpu
