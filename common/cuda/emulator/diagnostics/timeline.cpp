#include "common/cuda/emulator/diagnostics/timeline.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/timeline_clock.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/settings.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace cpu
{

bool timeline_runs;

static timeline_log book;
static std::map<std::pair<const void *, size_t>, gate> phases;
static gate last_meeting;

/* The last copy, or other work: different work begins a new run. */
struct last_asked {
    const char *what;
    site at;
    unsigned run;
};
static std::vector<last_asked> copies, others;

void timeline_begin()
{
    const uint3 i = own->index;
    if (!own->launch->instrumented || !(settings.watch & CUDA_WATCH_TIMELINE) ||
        i.x + i.y + i.z > 0)
        return;
    timeline_runs = true;
    book = {};
    book.threads.resize(own->threads.size());
    phases.clear();
    copies.assign(own->threads.size(), { "", { "", 0 }, 0 });
    others = copies;
}

void timeline_end()
{
    if (timeline_runs)
        timeline_replay(&book);
    timeline_runs = false;
}

gate timeline_new_gate()
{
    return book.gates++;
}

gate timeline_phase(const void *place, size_t number)
{
    const auto [found, is_new] = phases.insert({ { place, number }, book.gates });
    if (is_new)
        book.gates++;
    return found->second;
}

static void note(unsigned thread, timeline_event e)
{
    book.threads[thread].push_back(e);
}

void timeline_brings(gate g)
{
    note(self->number, { timeline_event::BRINGS, g });
}

void timeline_awaits(gate g)
{
    timeline_other_awaits(self->number, g);
}

void timeline_other_awaits(unsigned number, gate g)
{
    copies[number].run++;
    if (g != NO_GATE)
        note(number, { timeline_event::AWAITS, g });
}

void timeline_meets(unsigned number, gate g)
{
    note(number, { timeline_event::MEETS, g });
    last_meeting = g;
}

static unsigned run_of(last_asked *last, const char *what, site at)
{
    if (!same_text(last->what, what) || !same_site(last->at, at))
        *last = { what, at, last->run + 1 };
    return last->run;
}

static unsigned add(const timeline_job &job)
{
    book.jobs.push_back(job);
    return unsigned(book.jobs.size() - 1);
}

unsigned timeline_copy(timeline_unit unit, const void *array, size_t bytes, site at)
{
    static std::set<std::string> names;  // copied: arrays may be freed before the timeline is read
    const allocation *a = allocation_of(array);
    const char *const what = names.insert(a ? a->name : "").first->c_str();
    const unsigned t = self->number, run = run_of(&copies[t], what, { "", 0 });
    const unsigned job = add({ unit, t, run, 4, double(bytes), NO_GATE, NO_GATE, what, at });
    note(t, { timeline_event::ASKS, job });
    return job;
}

void timeline_lands(unsigned job, gate g)
{
    book.jobs[job].gives = g;
}

gate timeline_done(unsigned job)
{
    timeline_job *j = &book.jobs[job];
    if (j->gives == NO_GATE)
        j->gives = timeline_new_gate();
    return j->gives;
}

void timeline_new_run(unsigned number)
{
    others[number].run++;
}

/* A warpgroup issues its products at one line; mma is called at several lines for one matrix. */
unsigned timeline_product(unsigned first, unsigned count, double flop, unsigned parts, site at)
{
    const site run_at = parts == 4 ? at : site{ "", 0 };
    for (unsigned t = first; t < first + count; t++)
        run_of(&others[t], "product", run_at);
    const unsigned run = others[first].run;
    return add({ TIMED_PRODUCTS, first, run, parts, flop, last_meeting, NO_GATE, "product", at });
}

void timeline_exponential()
{
    if (!timeline_runs)
        return;
    const unsigned t = self->number, run = run_of(&others[t], "exp", { "", 0 });
    const unsigned job =
        add({ TIMED_EXPONENTIALS, t, run, 1, 1.0, NO_GATE, NO_GATE, "exp", { "", 0 } });
    note(t, { timeline_event::WORKS, job });
}

}  // namespace cpu
