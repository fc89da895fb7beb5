#include "common/cuda/emulator/diagnostics/profile.h"

#include "common/cuda/cpu.h"
#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace cpu
{

/* An instruction executed once by lanes of a warp. */
struct request {
    const char *p[WARP];
    unsigned lanes;
};

/* A warp's instruction: requests since the last barrier, and the number per lane. */
struct stream {
    size_t bytes, elements;
    bool shared, writes;
    std::vector<request> requests;
    size_t made[WARP];
};

struct total {
    size_t accesses, requests, cost, least;
};

using line_key = std::tuple<const void *, bool, bool>;  // instruction, shared, store

// by instruction, warp and shared: cp.async accesses both kinds of memory
static std::map<std::tuple<const void *, unsigned, bool>, stream> streams;
static std::map<line_key, total> totals;

void profile_access(const memory_access *a)
{
    stream *s = &streams[{ a->instruction, self->number / WARP, !a->global }];
    s->bytes = a->bytes;
    s->elements = elements_of(a);
    s->shared = !a->global;
    s->writes = a->writes;
    const size_t nth = s->made[self->lane]++;
    if (nth >= s->requests.size())
        s->requests.resize(nth + 1);
    // The gaps in shared memory keep each variable's bank, so addresses serve as offsets.
    s->requests[nth].p[self->lane] = a->p;
    s->requests[nth].lanes |= 1u << self->lane;
}

static size_t distinct(std::vector<uintptr_t> *units)
{
    std::sort(units->begin(), units->end());
    return size_t(std::unique(units->begin(), units->end()) - units->begin());
}

/* Cycles: the maximum, over the 32 banks, of distinct words. */
static size_t bank_cycles(std::vector<uintptr_t> *words)
{
    words->resize(distinct(words));
    size_t busy[32] = {};
    for (const uintptr_t word : *words)
        busy[word % 32]++;
    return *std::max_element(busy, busy + 32);
}

/* Half warps access 8 bytes per lane at a time, quarters 16. */
static void cost_shared(const stream *s, const request *r, total *t)
{
    const unsigned parts = s->bytes >= 16 ? 4 : s->bytes >= 8 ? 2 : 1, lanes = WARP / parts;
    std::vector<uintptr_t> words;
    for (unsigned part = 0; part < parts; part++) {
        words.clear();
        for (unsigned lane = part * lanes; lane < (part + 1) * lanes; lane++)
            for (size_t k = 0; (r->lanes >> lane & 1) && k < s->bytes; k += 4)
                words.push_back((uintptr_t(r->p[lane]) + k) / 4);
        if (words.empty())
            continue;
        t->cost += bank_cycles(&words);
        t->least++;
    }
}

static void cost_global(const stream *s, const request *r, total *t)
{
    enum { SECTOR = 32 };
    std::vector<uintptr_t> sectors, bytes;
    for (unsigned lane = 0; lane < WARP; lane++)
        for (size_t k = 0; (r->lanes >> lane & 1) && k < s->bytes; k++) {
            sectors.push_back((uintptr_t(r->p[lane]) + k) / SECTOR);
            bytes.push_back(uintptr_t(r->p[lane]) + k);
        }
    t->cost += distinct(&sectors);
    t->least += (distinct(&bytes) + SECTOR - 1) / SECTOR;
}

void profile_close()
{
    for (auto &[key, s] : streams) {
        total *t = &totals[{ std::get<0>(key), s.shared, s.writes }];
        for (const request &r : s.requests) {
            t->requests++;
            t->accesses += size_t(__builtin_popcount(r.lanes)) * s.elements;
            if (s.shared)
                cost_shared(&s, &r, t);
            else
                cost_global(&s, &r, t);
        }
        s.requests.clear();
        memset(s.made, 0, sizeof s.made);
    }
}

}  // namespace cpu

using namespace cpu;

static bool before(const cuda_line &a, const cuda_line &b)
{
    const int files = strcmp(a.file, b.file);
    return files != 0             ? files < 0
           : a.line != b.line     ? a.line < b.line
           : a.shared != b.shared ? b.shared
                                  : !a.store && b.store;
}

static bool lines_known = true;

bool cuda_cpu_profile_has_lines()
{
    return lines_known;
}

size_t cuda_cpu_profile(const struct cuda_line **lines)
{
    static std::vector<cuda_line> found;
    profile_close();
    found.clear();
    std::vector<const void *> instructions;
    instructions.reserve(totals.size());
    for (const auto &line : totals)
        instructions.push_back(std::get<0>(line.first));
    lines_known = sites_look_up(instructions);
    for (const auto &[key, t] : totals) {
        const site at = site_of(std::get<0>(key));
        const cuda_line line = { at.file,    at.line,    std::get<1>(key), std::get<2>(key),
                                 t.accesses, t.requests, t.cost,           t.least };
        found.push_back(line);
    }
    std::sort(found.begin(), found.end(), before);
    size_t kept = 0;  // merge by line
    for (const cuda_line &line : found) {
        cuda_line *last = kept > 0 ? &found[kept - 1] : nullptr;
        if (!last || before(*last, line)) {
            found[kept++] = line;
            continue;
        }
        last->accesses += line.accesses;
        last->requests += line.requests;
        last->cost += line.cost;
        last->least += line.least;
    }
    found.resize(kept);
    totals.clear();
    streams.clear();
    *lines = found.data();
    return kept;
}
