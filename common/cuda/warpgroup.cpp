#include "warpgroup.h"

#include "diagnose.h"
#include "launch.h"
#include "timeline.h"
#include "units.h"
#include "watch.h"

#include <cstring>

namespace cpu
{

enum {
    RUNNING = -1,  // the bits of a register that a product will write: a NaN
    POOL = 65536,  // registers of a multiprocessor
    ALL_ADDRESSES = 1 << 18,
};

// ---- the threads of a warpgroup -----------------------------------------------------------------

static warpgroup *own_group(const char *name, site at)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    self->at = at;
    self->waits_in = name;
    const size_t threads = own->threads.size();
    if (threads % GROUP != 0)
        refuse_at(at, "%s in a block of %zu threads; a warpgroup has %d", name, threads, GROUP);
    units *u = own_units();
    u->groups.resize(threads / GROUP);
    return &u->groups[self->number / GROUP];
}

static thread *first_of(const warpgroup *g)
{
    return &own->threads[size_t(g - own->units->groups.data()) * GROUP];
}

/* Waits for the 128 threads; the last calls `together`. */
static void group_meet(warpgroup *g, void *operands, void (*together)(warpgroup *g))
{
    thread *first = first_of(g);
    g->brought[self->number % GROUP] = operands;
    self->state = IN_WARPGROUP;
    if (++g->waiting < GROUP) {
        wait();
        return;
    }
    for (thread *t = first; t < first + GROUP; t++) {
        if (!same_site(t->at, self->at) || !same_text(t->waits_in, self->waits_in))
            refuse_block("threads of a warpgroup are in different calls");
        t->state = READY;
    }
    g->waiting = 0;
    if (timeline_runs)
        timeline_meet(first->number, GROUP, [](unsigned) { return true; });
    together(g);
}

// ---- where a matrix lies ------------------------------------------------------------------------

uint64_t product_matrix(const void *begin, unsigned leading, unsigned stride, site at)
{
    if (!self)
        refuse_at(at, "wgmma_matrix() is called outside a kernel");
    const char *const base = own->shared.dynamic, *const p = static_cast<const char *>(begin);
    if (p < base || p >= base + own->launch->shared)
        refuse_at(at, "wgmma_matrix(): the matrix does not begin in dynamic shared memory");
    const size_t address = size_t(p - base);
    if (address % SWIZZLED % BOX_ROW % 32 != 0 || address % SWIZZLED >= BOX_ROW)
        refuse_at(at,
                  "wgmma_matrix(): the matrix begins %zu bytes behind a multiple of %d; expected "
                  "0, 32, 64 or 96",
                  address % SWIZZLED, int(SWIZZLED));
    if (leading % 16 != 0 || stride % 16 != 0 || leading >= ALL_ADDRESSES ||
        stride >= ALL_ADDRESSES)
        refuse_at(at,
                  "wgmma_matrix(): steps of %u and %u bytes; expected multiples of 16 below 2^18",
                  leading, stride);
    return uint64_t{ address >> 4 } | uint64_t{ leading >> 4 } << 16 |
           uint64_t{ stride >> 4 } << 32 | uint64_t{ 1 } << 62;
}

/*
 * Eight elements that lie together, by PTX's canonical layouts for 16-bit elements and 128-byte swizzle: of row
 * `outer`, elements 8 * inner and the next of k; or, by columns, of k = inner, rows 8 * outer and the next.
 */
static const char *piece_of(uint64_t matrix, bool columns, size_t outer, size_t inner)
{
    const size_t begin = size_t(matrix & 0x3fff) << 4, leading = size_t(matrix >> 16 & 0x3fff) << 4;
    const size_t stride = size_t(matrix >> 32 & 0x3fff) << 4;
    size_t address = begin;
    if (columns)
        address += outer / 8 * leading + outer % 8 * 16 + inner / 8 * stride + inner % 8 * BOX_ROW;
    else
        address += outer / 8 * stride + outer % 8 * BOX_ROW + inner * 16;
    address %= ALL_ADDRESSES;
    address ^= (address >> 7 & 7) << 4;
    return own->shared.dynamic + address;
}

/* Calls visit(piece, row, k, step): its eight elements begin at that row and k, and go on along k or along the rows. */
template <class Visit>
static void each_piece(uint64_t matrix, bool columns, size_t from, size_t rows, Visit visit)
{
    if (columns)
        for (size_t m = from / 8; m < (from + rows) / 8; m++)
            for (size_t k = 0; k < PRODUCT_K; k++)
                visit(piece_of(matrix, true, m, k), 8 * m, k);
    else
        for (size_t r = from; r < from + rows; r++)
            for (size_t c = 0; c < 2; c++)
                visit(piece_of(matrix, false, r, c), r, 8 * c);
}

static float number(element type, uint16_t bits)
{
    return type == HALF ? float(__ushort_as_half(bits)) : float(__ushort_as_bfloat16(bits));
}

static void read_matrix(const product *p, uint64_t matrix, bool columns, size_t rows,
                        float (*x)[PRODUCT_K])
{
    each_piece(matrix, columns, 0, rows, [=](const char *piece, size_t row, size_t k) {
        if (!shared_holds(piece, 16))
            refuse_at(p->at, "wgmma: a matrix reaches past the end of dynamic shared memory");
        uint16_t bits[8];
        memcpy(bits, piece, sizeof bits);
        for (size_t n = 0; n < 8; n++)
            x[columns ? row + n : row][columns ? k : k + n] = number(p->call.type, bits[n]);
    });
}

static void read_registers(const product *p, float (*A)[PRODUCT_K])
{
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned r = 0; r < 4; r++)
            for (unsigned which = 0; which < 2; which++)
                A[t / 32 * 16 + t % 32 / 4 + 8 * (r % 2)][2 * (t % 4) + 8 * (r / 2) + which] =
                    number(p->call.type, uint16_t(p->a_then[t][r] >> 16 * which));
}

/* In a watched kernel: each warp reads its rows of A, and B. */
static void watch_product(const product *p)
{
    thread *const running = self, *const first = own->threads.data();
    for (unsigned warp = 0; warp < GROUP / WARP; warp++) {
        const auto see_piece = [=](const char *piece, size_t, size_t) {
            watch_unit(piece, 16, false, p->instruction);
        };
        self = first + (running - first) / GROUP * GROUP + warp * WARP;
        if (!p->call.a)
            each_piece(p->call.a_matrix, p->call.a_columns, 16 * warp, 16, see_piece);
        each_piece(p->call.b_matrix, p->call.b_columns, 0, 2 * p->call.count, see_piece);
    }
    self = running;
}

// ---- products -----------------------------------------------------------------------------------

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
        p.job = timeline_product(first_of(g)->number, GROUP,
                                 double(2 * PRODUCT_M * PRODUCT_K * 2 * p.call.count), 4, p.at);
    g->products.push_back(p);
}

void product_begin(const product_call *call, site at)
{
    warpgroup *g = own_group("wgmma()", at);
    self->asked = __builtin_return_address(0);
    product_call mine = *call;
    group_meet(g, &mine, ask);
}

void product_fence(site at)
{
    group_meet(own_group("wgmma_fence()", at), nullptr, [](warpgroup *g) { g->fenced = true; });
}

void product_commit(site at)
{
    group_meet(own_group("wgmma_commit()", at), nullptr, [](warpgroup *g) {
        g->committed++;
        g->fenced = false;
        for (unsigned t = 0; timeline_runs && t < GROUP; t++)
            timeline_new_run(first_of(g)->number + t);
    });
}

void product_wait(unsigned pending, site at)
{
    own_group("wgmma_wait()", at);
    self->state = AT_PRODUCTS;
    self->mask = pending;
    wait();
}

void product_over(const float *d, unsigned pending, site at)
{
    const warpgroup *g = own_group("wgmma_wait()", at);
    const size_t t = self->number % GROUP;
    for (const accumulators &h : g->held)
        if (h.d[t] == d)
            refuse_at(at,
                      "wgmma_wait<%u>(d): the product into d still runs; it is not in a group "
                      "before the last %u",
                      pending, pending);
}

/* Every product is exact, and sixteen are summed at once, rounded once. */
static void multiply(const product *p, accumulators *h)
{
    static thread_local float A[PRODUCT_M][PRODUCT_K], B[PRODUCT_N][PRODUCT_K];
    const size_t N = 2 * p->call.count;
    if (own->launch->watched)
        watch_product(p);
    if (p->call.a)
        read_registers(p, A);
    else
        read_matrix(p, p->call.a_matrix, p->call.a_columns, PRODUCT_M, A);
    read_matrix(p, p->call.b_matrix, p->call.b_columns, N, B);
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned e = 0; e < p->call.count; e++) {
            const float *a = A[t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2)];
            const float *b = B[8 * (e / 4) + 2 * (t % 4) + e % 2];
            double sum = p->call.add ? double(h->values[t * h->count + e]) : 0.0;
            for (unsigned k = 0; k < PRODUCT_K; k++)
                sum += double(a[k] * b[k]);
            h->values[t * h->count + e] = float(sum);
        }
}

static void check_untouched(const product *p)
{
    for (unsigned t = 0; p->call.a && t < GROUP; t++)
        if (memcmp(p->a[t], p->a_then[t], sizeof p->a_then[t]) != 0)
            refuse_at(p->at,
                      "wgmma: a thread has changed the registers of A before the product had run");
}

/* The registers get their values, unless other products into them still run. */
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
            timeline_other_awaits(first_of(g)->number + t, timeline_done(p.job));
        multiply(&p, held_at(g, p.d[0]));
    }
    g->products.swap(kept);
    for (accumulators &h : g->held)
        let_go(g, &h);
    for (size_t k = g->held.size(); k-- > 0;)
        if (g->held[k].count == 0)
            g->held.erase(g->held.begin() + ptrdiff_t(k));
}

bool products_land()
{
    for (warpgroup &g : own->units->groups) {
        thread *const first = first_of(&g);
        size_t here = 0;
        for (thread *t = first; t < first + GROUP; t++)
            if (t->state == AT_PRODUCTS) {
                here++;
                if (first->state == AT_PRODUCTS && !same_site(t->at, first->at))
                    refuse_block("threads of a warpgroup are in different calls");
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

// ---- mistakes -----------------------------------------------------------------------------------

void products_leave()
{
    for (const warpgroup &g : own->units->groups)
        if (!g.products.empty() && first_of(&g)->number / GROUP == self->number / GROUP)
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

// ---- registers ----------------------------------------------------------------------------------

/* What the warpgroups have together; a launch gives each thread as many as there are for all. */
static unsigned registers_taken()
{
    const unsigned threads = unsigned(own->threads.size()), each = POOL / threads / 8 * 8;
    unsigned sum = 0;
    for (const warpgroup &g : own->units->groups)
        sum += GROUP * (g.registers ? g.registers : each < 255 ? each : 248);
    return sum;
}

void set_registers(unsigned count, bool more, site at)
{
    warpgroup *g = own_group(more ? "registers_more()" : "registers_fewer()", at);
    const unsigned threads = unsigned(own->threads.size()), each = POOL / threads / 8 * 8;
    const unsigned now = g->registers ? g->registers : each < 255 ? each : 248;
    if (more ? count < now : count > now)
        refuse_at(at, "%s to %u, and the warpgroup's threads have %u", self->waits_in, count, now);
    for (;;) {
        const unsigned sum = registers_taken() + GROUP * count - GROUP * now;
        if (!more || sum <= POOL)
            break;
        self->state = AT_REGISTERS;
        wait();
    }
    self->mask = count;
    group_meet(g, nullptr, [](warpgroup *mine) {
        mine->registers = self->mask;
        for (thread &t : own->threads)
            if (t.state == AT_REGISTERS)
                t.state = READY;
    });
}

}  // namespace cpu
