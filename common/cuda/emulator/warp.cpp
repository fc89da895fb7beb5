#include "common/cuda/emulator/warp.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"

#include <algorithm>
#include <cstring>

namespace cpu
{

/* 32, or fewer in a block's last warp. */
static unsigned lanes_there(const thread *first)
{
    const size_t count = own->threads.size() - first->number;
    return count >= WARP ? 0xffffffff : (1u << count) - 1;
}

static void check_mask(unsigned mask, const thread *first)
{
    if (!(mask >> self->lane & 1))
        refuse_at(self->at, "%s with mask %08x is called by lane %u, which is not in the mask",
                  self->waits_in, mask, self->lane);
    if (mask & ~lanes_there(first))
        refuse_at(self->at, "%s with mask %08x names lanes that the block does not have",
                  self->waits_in, mask);
}

/* Same function, line and mask for all lanes of the mask? */
static void check_agreement(unsigned mask, const thread *first)
{
    for (unsigned lane = 0; lane < WARP; lane++) {
        const thread *t = &first[lane];
        if (!(mask >> lane & 1) || t == self)
            continue;
        if (t->mask != mask)
            refuse_block("lanes of a warp wait for one another with different masks");
        if (!same_site(t->at, self->at) || !same_text(t->waits_in, self->waits_in))
            refuse_block("lanes of a warp wait for one another in different calls");
    }
}

void warp_meet(unsigned mask, const char *name, site at, void *operands,
               void (*together)(void *operands[], unsigned mask))
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    thread *me = self, *first = &own->threads[me->number - me->lane];
    unsigned *waiting = &own->waiting[me->number / WARP];
    me->waits_in = name;
    me->at = at;
    me->mask = mask;
    me->operands = operands;
    check_mask(mask, first);
    me->state = IN_WARP;
    *waiting |= 1u << me->lane;
    if ((*waiting & mask) != mask) {
        wait();
        return;
    }

    check_agreement(mask, first);
    void *brought[WARP] = {};
    for (unsigned lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1) {
            brought[lane] = first[lane].operands;
            first[lane].state = READY;
        }
    *waiting &= ~mask;
    if (timeline_runs)
        timeline_meet(first->number, WARP, [=](unsigned t) { return (mask >> t % WARP & 1) != 0; });
    if (together)
        together(brought, mask);
    else
        watch_warp(mask);  // __syncwarp orders memory accesses; shuffles and votes do not
}

// ---- shuffles -----------------------------------------------------------------------------------

int shuffle_source(shuffle_kind kind, int by, int width, const char *name, site at)
{
    if (width < 1 || width > WARP || (width & (width - 1)) != 0)
        refuse_at(at, "%s with width %d; expected a power of 2 up to 32", name, width);
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    const int me = int(self->lane), begin = me & ~(width - 1), end = begin + width;
    switch (kind) {
    case FROM:
        return begin + (by & (width - 1));
    case UP:
        return me - by < begin ? me : me - by;
    case DOWN:
        return me + by >= end ? me : me + by;
    default:
        return (me ^ by) >= end ? me : me ^ by;
    }
}

static void deal(void *operands[], unsigned mask)
{
    for (int lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const shuffle *s = static_cast<shuffle *>(operands[lane]);
        if (!(mask >> s->from & 1))
            refuse_at(self->at,
                      "%s with mask %08x: lane %d reads lane %d, which is not in the mask",
                      self->waits_in, mask, lane, s->from);
        memcpy(s->result, static_cast<shuffle *>(operands[s->from])->value, s->bytes);
    }
}

void warp_shuffle(unsigned mask, const char *name, site at, shuffle *s)
{
    warp_meet(mask, name, at, s, deal);
}

// ---- votes and reductions -----------------------------------------------------------------------

struct vote {
    unsigned value, result;
    reduction how;
};

static unsigned join(unsigned a, unsigned b, reduction how)
{
    switch (how) {
    case ADD:
        return a + b;
    case MIN:
        return std::min(a, b);
    case MAX:
        return std::max(a, b);
    case MIN_SIGNED:
        return unsigned(std::min(int(a), int(b)));
    case MAX_SIGNED:
        return unsigned(std::max(int(a), int(b)));
    case AND:
        return a & b;
    case OR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* The lanes with this value or, with `as_truth`, truth value. */
static unsigned alike(void *operands[], unsigned mask, unsigned value, bool as_truth)
{
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const unsigned other = static_cast<vote *>(operands[lane])->value;
        if (as_truth ? (other != 0) == (value != 0) : other == value)
            lanes |= 1u << lane;
    }
    return lanes;
}

static void count(void *operands[], unsigned mask)
{
    const vote *one = nullptr;
    unsigned joined = 0;
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const vote *v = static_cast<vote *>(operands[lane]);
        joined = one ? join(joined, v->value, v->how) : v->value;
        one = v;
    }
    const unsigned yes = alike(operands, mask, 1, true);
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1))
            continue;
        vote *v = static_cast<vote *>(operands[lane]);
        switch (v->how) {
        case ALL:
            v->result = yes == mask;
            break;
        case ANY:
            v->result = yes != 0;
            break;
        case BALLOT:
            v->result = yes;
            break;
        case SAME:
            v->result = alike(operands, mask, v->value, false);
            break;
        default:
            v->result = joined;
            break;
        }
    }
}

unsigned warp_reduce(unsigned mask, const char *name, site at, unsigned value, reduction how)
{
    vote v = { value, 0, how };
    warp_meet(mask, name, at, &v, count);
    return v.result;
}

}  // namespace cpu
