#include "common/cuda/turns.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/units.h"

#include <chrono>
#include <thread>

namespace cpu
{

enum { LOOKS = 10000 };  // per second

static void check(const unsigned *turn, const char *name, site at)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    self->at = at;
    if (!on_device(turn, sizeof *turn))
        refuse_at(at, "%s: the counter does not lie in device memory", name);
}

/* Sleeps while other OS threads run other blocks; with one OS thread, waiting is a deadlock. */
void turn_await(const unsigned *turn, unsigned number, site at)
{
    check(turn, "turn_wait()", at);
    const dim3 grid = own->launch->grid;
    const bool alone =
        own->launch->instrumented || settings.threads == 1 || grid.x * grid.y * grid.z == 1;
    for (unsigned looks = 0;; looks++) {
        const unsigned now = __atomic_load_n(turn, __ATOMIC_ACQUIRE);
        if (now == number) {
            if (own->units)
                own->units->awaited++;
            return;
        }
        if (now > number)
            refuse_at(at, "turn_wait(): waits for turn %u, and it is %u's already", number, now);
        if (alone || looks > LOOKS * settings.patience)
            refuse_at(
                at,
                "deadlock: a block waits for turn %u, and it is %u's, whose block does not come\n"
                "    (does a block wait for one that begins after it?)",
                number, now);
        own->turns++;  // no busy loop (watchdog.h)
        std::this_thread::sleep_for(std::chrono::microseconds(1000000 / LOOKS));
    }
}

void turn_over(unsigned *turn, site at)
{
    check(turn, "turn_next()", at);
    if (bulk_pending())
        refuse_at(at, "turn_next(): this thread's bulk_add() may not have added yet\n"
                      "    (is bulk_wait() missing?)");
    __atomic_fetch_add(turn, 1, __ATOMIC_RELEASE);
}

}  // namespace cpu
