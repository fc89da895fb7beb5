/* Products of warpgroups: issuing and completing them, and forbidden accesses. */
#include "common/cuda/emulator/warpgroup.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/sums.h"
#include "common/cuda/emulator/units.h"

#include <cstring>

namespace cpu
{

enum { RUNNING = -1 };  // a NaN, in registers of pending products

// ---- issued -------------------------------------------------------------------------------------

static accumulators *held_at(warpgroup *g, const float *d)
{
    for (accumulators &h : g->held)
        if (h.d[0] == d)
            return &h;
    return nullptr;
}

static void hold(warpgroup *g, const product *p)
{
    const accumulators *old = held_at(g, p->d[0]);
    if (old && old->count == p->call.count)
        return;
    for (const accumulators &h : g->held)
        if (p->d[0] < h.d[0] + h.count && h.d[0] < p->d[0] + p->call.count)
            refuse_at(
                p->at,
                "wgmma: some of its accumulators are those of another product that still runs");
    accumulators h = {};
    h.count = p->call.count;
    h.at = p->at;
    for (unsigned t = 0; t < GROUP; t++) {
        h.d[t] = p->d[t];
        h.values.insert(h.values.end(), p->d[t], p->d[t] + h.count);
        memset(p->d[t], RUNNING, h.count * sizeof(float));
    }
    g->held.push_back(h);
}

static void ask(warpgroup *g)
{
    product p = {};
    p.call = *static_cast<const product_call *>(g->brought[0]);
    p.group = g->committed;
    p.at = self->at;
    p.instruction = self->asked;
    if (!g->fenced)
        refuse_at(
            p.at,
            "wgmma: wgmma_fence() is missing before it, since the kernel began or wgmma_commit()");
    for (unsigned t = 0; t < GROUP; t++) {
        const product_call *c = static_cast<const product_call *>(g->brought[t]);
        if (c->a_matrix != p.call.a_matrix || c->b_matrix != p.call.b_matrix ||
            c->add != p.call.add)
            refuse_at(
                p.at,
                "wgmma: the threads of a warpgroup bring different matrices, or add and not add");
        p.d[t] = c->d;
        p.a[t] = c->a;
        if (c->a)
            memcpy(p.a_then[t], c->a, sizeof p.a_then[t]);
    }
    hold(g, &p);
    if (timeline_runs)
        p.job = timeline_product(group_first(g)->number, GROUP,
                                 double(2 * PRODUCT_M * PRODUCT_K * 2 * p.call.count), 4, p.at);
    g->products.push_back(p);
}

void product_begin(const product_call *call, site at)
{
    warpgroup *g = group_called("wgmma()", at);
    self->asked = __builtin_return_address(0);
    product_call mine = *call;
    group_meet(g, &mine, ask);
}

void product_fence(site at)
{
    group_meet(group_called("wgmma_fence()", at), nullptr, [](warpgroup *g) { g->fenced = true; });
}

void product_commit(site at)
{
    group_meet(group_called("wgmma_commit()", at), nullptr, [](warpgroup *g) {
        g->committed++;
        g->fenced = false;
        for (unsigned t = 0; timeline_runs && t < GROUP; t++)
            timeline_new_run(group_first(g)->number + t);
    });
}

void product_wait(unsigned pending, site at)
{
    group_called("wgmma_wait()", at);
    self->state = AT_PRODUCTS;
    self->mask = pending;
    wait();
}

void product_over(const void *fragments, size_t bytes, unsigned pending, site at)
{
    const auto in = [=](const void *p) {
        return p >= fragments && p < static_cast<const char *>(fragments) + bytes;
    };
    const warpgroup *g = group_called("wgmma_wait()", at);
    const size_t t = self->number % GROUP;
    for (const accumulators &h : g->held)
        if (in(h.d[t]))
            refuse_at(at,
                      "wgmma_wait<%u>(d): the product into d still runs; it is not in a group "
                      "before the last %u",
                      pending, pending);
    for (const product &p : g->products)
        if (in(p.a[t]))
            refuse_at(at, "wgmma_wait<%u>(a): a product that reads a still runs", pending);
}

// ---- done ---------------------------------------------------------------------------------------

/* Four threads share a row; each has two of every eight columns. */
static float *value_at(accumulators *h, unsigned row, unsigned column)
{
    const unsigned t = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    return &h->values[t * h->count + column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
}

/* Products are exact; sixteen are summed, then rounded once. */
static void multiply(const product *p, accumulators *h)
{
    static thread_local float A[PRODUCT_M][PRODUCT_K], B[PRODUCT_N][PRODUCT_K];
    const unsigned N = 2 * p->call.count;
    if (own->launch->instrumented)
        matrices_instrumented(p);
    if (p->call.a)
        fragments_read(p, A);
    else
        matrix_read(p, p->call.a_matrix, p->call.a_columns, PRODUCT_M, A);
    matrix_read(p, p->call.b_matrix, p->call.b_columns, N, B);
    for (unsigned column = 0; column < N; column += 8) {
        eight columns[PRODUCT_K];
        for (unsigned k = 0; k < PRODUCT_K; k++)
            for (unsigned c = 0; c < 8; c++)
                columns[k].set(c, double(B[column + c][k]));
        for (unsigned row = 0; row < PRODUCT_M; row++) {
            eight sum = {};
            for (unsigned c = 0; c < 8 && p->call.add; c++)
                sum.set(c, double(*value_at(h, row, column + c)));
            for (unsigned k = 0; k < PRODUCT_K; k++)
                sum.add(double(A[row][k]), columns[k]);
            for (unsigned c = 0; c < 8; c++)
                *value_at(h, row, column + c) = float(sum.get(c));
        }
    }
}

static void check_untouched(const product *p)
{
    for (unsigned t = 0; p->call.a && t < GROUP; t++)
        if (memcmp(p->a[t], p->a_then[t], sizeof p->a_then[t]) != 0)
            refuse_at(p->at,
                      "wgmma: a thread has changed the registers of A before the product had run");
}

/* Unless other pending products write them. */
static void let_go(warpgroup *g, accumulators *h)
{
    for (const product &p : g->products)
        if (p.d[0] == h->d[0])
            return;
    for (unsigned t = 0; t < GROUP; t++) {
        for (unsigned e = 0; e < h->count; e++) {
            int bits;
            memcpy(&bits, &h->d[t][e], sizeof bits);
            if (bits != RUNNING)
                refuse_at(h->at,
                          "wgmma: a thread has written a register of D, d[%u], before the product "
                          "had run",
                          e);
        }
        memcpy(h->d[t], &h->values[t * h->count], h->count * sizeof(float));
    }
    h->count = 0;
}

static void land(warpgroup *g, unsigned pending)
{
    std::vector<product> kept;
    for (const product &p : g->products) {
        if (p.group + pending >= g->committed) {
            kept.push_back(p);
            continue;
        }
        check_untouched(&p);
        for (unsigned t = 0; timeline_runs && t < GROUP; t++)
            timeline_other_awaits(group_first(g)->number + t, timeline_done(p.job));
        multiply(&p, held_at(g, p.d[0]));
    }
    if (own->launch->instrumented)
        race_product(group_first(g)->number);
    g->products.swap(kept);
    for (accumulators &h : g->held)
        let_go(g, &h);
    for (size_t k = g->held.size(); k-- > 0;)
        if (g->held[k].count == 0)
            g->held.erase(g->held.begin() + ptrdiff_t(k));
}

/* PTX requires it of waits. */
static void check_same_arm(const thread *first, thread *t)
{
    if (same_site(t->at, first->at))
        return;
    self = t;
    refuse_at(t->at,
              "wgmma_wait(): threads of a warpgroup wait in different places, others in line %d; "
              "all have to take the same arm of a branch",
              first->at.line);
}

bool products_land()
{
    for (warpgroup &g : own->units->groups) {
        thread *const first = group_first(&g);
        size_t here = 0;
        for (thread *t = first; t < first + GROUP; t++)
            if (t->state == AT_PRODUCTS) {
                here++;
                if (first->state == AT_PRODUCTS)
                    check_same_arm(first, t);
            }
        if (here < GROUP)
            continue;
        thread *const running = self;
        self = first;
        land(&g, first->mask);
        self = running;
        for (thread *t = first; t < first + GROUP; t++)
            t->state = READY;
        return true;
    }
    return false;
}

// ---- errors -------------------------------------------------------------------------------------

void products_leave()
{
    for (const warpgroup &g : own->units->groups)
        if (!g.products.empty() && group_first(&g)->number / GROUP == self->number / GROUP)
            refuse_at(g.products[0].at, "a thread leaves the kernel with products of its warpgroup "
                                        "that it did not wait for");
}

void products_stuck()
{
    for (const thread &t : own->threads) {
        if (t.state == AT_PRODUCTS || t.state == IN_WARPGROUP)
            refuse_block("deadlock: threads wait for the others of their warpgroup");
        if (t.state == AT_REGISTERS)
            refuse_block("deadlock: a warpgroup waits for registers that no other gives back");
    }
}

void products_touched(const void *p, size_t bytes, bool writes, const void *instruction)
{
    if (!own->units || own->units->groups.empty())
        return;
    const warpgroup *g = &own->units->groups[self->number / GROUP];
    const size_t t = self->number % GROUP;
    const auto in = [=](const void *begin, size_t size) {
        return static_cast<const char *>(p) < static_cast<const char *>(begin) + size &&
               static_cast<const char *>(begin) < static_cast<const char *>(p) + bytes;
    };
    for (const accumulators &h : g->held)
        if (in(h.d[t], h.count * sizeof(float)))
            refuse_at(site_of(instruction),
                      "a thread %s a register of D of a product that still runs\n"
                      "    (is wgmma_wait() missing, or does it wait for too few groups?)",
                      writes ? "writes" : "reads");
    for (const product &one : g->products)
        if (writes && one.a[t] && in(one.a[t], 4 * sizeof(unsigned)))
            refuse_at(site_of(instruction),
                      "a thread writes a register of A of a product that still runs");
}

}  // namespace cpu
