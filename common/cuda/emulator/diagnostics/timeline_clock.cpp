#include "common/cuda/emulator/diagnostics/timeline_clock.h"

#include "common/cuda/cpu.h"
#include "common/cuda/emulator/block.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <string>
#include <tuple>

namespace cpu
{

/*
 * Per multiprocessor and cycle, from Shah et al., "FlashAttention-3", arXiv 2407.08608, section 3.1
 * and table 1: an H100 SXM5 with 132 at 1.83 GHz has 989 TFLOPS in 16 bits, 16 exponentials per
 * multiprocessor and cycle, 12 TB/s from L2. The FLOP are wgmma's; mma reaches about 63 % (Luo et
 * al., arXiv 2402.13499).
 */
static const double FLOP_A_CYCLE = 4096, OF_MMA = 0.63, EXPONENTIALS_A_CYCLE = 16,
                    BYTES_A_CYCLE = 50;

enum { PARTS = 4 };  // warp w uses tensor core and exponential unit w % 4

/* Serves one job at a time; warps take turns. */
struct server {
    std::map<unsigned, std::deque<unsigned>> queues;  // jobs by warp
    unsigned last = 0;
    bool busy = false;
};

struct gate_state {
    unsigned expected = 0, come = 0;
    std::vector<unsigned> threads, jobs;  // that wait
};

struct runner {
    double clock = 0.0;
    size_t next = 0;
};

/* Ordered by time, then by planning. */
struct happening {
    double time;
    unsigned long planned;
    bool is_job;
    unsigned which;
    bool operator<(const happening &other) const
    {
        return time != other.time ? time > other.time : planned > other.planned;
    }
};

class replay
{
  public:
    explicit replay(const timeline_log *l);
    double run();
    std::vector<std::pair<double, double>> when;  // each job's begin and end

  private:
    const timeline_log *log;
    std::vector<gate_state> gates;
    std::vector<runner> threads;
    std::map<std::pair<unsigned, unsigned>, server> servers;
    std::priority_queue<happening> agenda;
    unsigned long plans = 0;

    void plan(double time, bool is_job, unsigned which)
    {
        agenda.push({ time, plans++, is_job, which });
    }
    server *server_of(const timeline_job &job);
    void start_next(server *s, double now);
    void ask(unsigned job, double now);
    void come(gate g, double now);
    bool open(gate g) const
    {
        return gates[g].come == gates[g].expected;
    }
    bool step(unsigned t, const timeline_event &e);
    void go_on(unsigned t);
    void done(unsigned job, double now);
};

replay::replay(const timeline_log *l)
    : when(l->jobs.size()), log(l), gates(l->gates), threads(l->threads.size())
{
    for (const std::vector<timeline_event> &events : log->threads)
        for (const timeline_event &e : events)
            if (e.kind == timeline_event::BRINGS || e.kind == timeline_event::MEETS)
                gates[e.which].expected++;
    for (unsigned k = 0; k < log->jobs.size(); k++) {
        if (log->jobs[k].gives != NO_GATE)
            gates[log->jobs[k].gives].expected++;
        if (log->jobs[k].needs != NO_GATE)
            gates[log->jobs[k].needs].jobs.push_back(k);
    }
}

static double cycles_of(const timeline_job &job)
{
    switch (job.unit) {
    case TIMED_PRODUCTS:
        return job.work / (job.parts == PARTS ? FLOP_A_CYCLE : OF_MMA * FLOP_A_CYCLE);
    case TIMED_EXPONENTIALS:
        return job.work / EXPONENTIALS_A_CYCLE;
    default:
        return job.work / BYTES_A_CYCLE;
    }
}

/* A kernel's products take one core each or all four, which we model as the first. */
server *replay::server_of(const timeline_job &job)
{
    return &servers[{ job.unit, job.parts == PARTS ? 0 : job.thread / WARP % PARTS }];
}

/* Round robin over warps; copies in the order of issue. */
void replay::start_next(server *s, double now)
{
    const auto waits = [](const auto &entry) { return !entry.second.empty(); };
    const auto begin = s->queues.begin(), end = s->queues.end();
    auto next = std::find_if(s->queues.upper_bound(s->last), end, waits);
    if (next == end)
        next = std::find_if(begin, end, waits);
    if (next == end)
        return;
    const unsigned job = next->second.front();
    next->second.pop_front();
    s->last = next->first;
    s->busy = true;
    when[job] = { now, now + cycles_of(log->jobs[job]) * double(PARTS) / log->jobs[job].parts };
    plan(when[job].second, true, job);
}

void replay::ask(unsigned job, double now)
{
    const timeline_job &j = log->jobs[job];
    const bool in_turn = j.unit == TIMED_PRODUCTS || j.unit == TIMED_EXPONENTIALS;
    server *s = server_of(j);
    s->queues[in_turn ? j.thread / WARP : 0].push_back(job);
    if (!s->busy)
        start_next(s, now);
}

void replay::come(gate g, double now)
{
    gate_state *s = &gates[g];
    s->come++;
    if (!open(g))
        return;
    for (const unsigned job : s->jobs)
        ask(job, now);
    for (const unsigned t : s->threads)
        plan(now, false, t);
    s->threads.clear();
}

bool replay::step(unsigned t, const timeline_event &e)
{
    const double now = threads[t].clock;
    switch (e.kind) {
    case timeline_event::BRINGS:
        come(e.which, now);
        return true;
    case timeline_event::MEETS:
        come(e.which, now);
        if (open(e.which))
            return true;
        gates[e.which].threads.push_back(t);
        return false;
    case timeline_event::AWAITS:
        if (open(e.which))
            return true;
        gates[e.which].threads.push_back(t);
        return false;
    case timeline_event::ASKS:
        ask(e.which, now);
        return true;
    default:
        ask(e.which, now);
        return false;
    }
}

void replay::go_on(unsigned t)
{
    const std::vector<timeline_event> &events = log->threads[t];
    while (threads[t].next < events.size())
        if (!step(t, events[threads[t].next++]))
            return;
}

void replay::done(unsigned job, double now)
{
    const timeline_job &j = log->jobs[job];
    server *s = server_of(j);
    s->busy = false;
    if (j.gives != NO_GATE)
        come(j.gives, now);
    if (j.unit == TIMED_EXPONENTIALS)
        plan(now, false, j.thread);
    start_next(s, now);
}

double replay::run()
{
    double now = 0.0;
    for (unsigned t = 0; t < threads.size(); t++)
        plan(0.0, false, t);
    while (!agenda.empty()) {
        const happening h = agenda.top();
        agenda.pop();
        now = h.time;
        if (h.is_job) {
            done(h.which, now);
        } else {
            threads[h.which].clock = now;
            go_on(h.which);
        }
    }
    return now;
}

// ---- results ------------------------------------------------------------------------------------

static std::vector<cuda_work> found;
static double until;  // end of earlier launches
static unsigned launches;

void timeline_replay(const timeline_log *log)
{
    static const char *const units[] = { "copies", "sums", "tensor cores", "exponentials" };
    replay r(log);
    const double end = r.run();
    // Includes the array: lanes of a warp may copy from two at once.
    std::map<std::tuple<unsigned, unsigned, unsigned, std::string>, cuda_work> runs;
    launches++;
    for (size_t k = 0; k < log->jobs.size(); k++) {
        const timeline_job &j = log->jobs[k];
        const auto [begin, over] = r.when[k];
        const cuda_work first = { launches,  units[j.unit], j.thread / WARP, j.run,        j.what,
                                  j.at.file, j.at.line,     until + begin,   until + over, 0.0,
                                  0.0 };
        cuda_work *w =
            &runs.insert({ { j.unit, j.thread / WARP, j.run, j.what }, first }).first->second;
        w->begin = std::min(w->begin, until + begin);
        w->end = std::max(w->end, until + over);
        w->work += j.work;
        w->cycles += cycles_of(j);
    }
    for (const auto &[key, work] : runs)
        found.push_back(work);
    until += end;
}

}  // namespace cpu

size_t cuda_cpu_timeline(const struct cuda_work **works)
{
    static std::vector<cuda_work> kept;
    kept.swap(cpu::found);
    cpu::found.clear();
    cpu::until = 0.0;
    cpu::launches = 0;
    std::sort(kept.begin(), kept.end(), [](const cuda_work &a, const cuda_work &b) {
        return std::tie(a.launch, a.begin, a.end) < std::tie(b.launch, b.begin, b.end);
    });
    *works = kept.data();
    return kept.size();
}
