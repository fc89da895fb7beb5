#include "common/cuda/emulator/tensor_cpu.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/sums.h"
#include "common/cuda/emulator/warp.h"

#include <cstdint>

namespace cpu
{

// ---- mma.m16n8k16, mma.m16n8k8 ------------------------------------------------------------------

enum { M = 16, N = 8, MOST_K = 16 };

struct product {
    element type;
    int K;
    float *d;
    const unsigned *a, *b;
};

static float element_of(unsigned pair, int which, element type)
{
    const uint16_t bits = uint16_t(which ? pair >> 16 : pair);
    return type == HALF ? float(__ushort_as_half(bits)) : float(__ushort_as_bfloat16(bits));
}

/* The lanes wait for their product: what they do next needs it. */
static void time_product(unsigned first, int K, site at)
{
    const unsigned job = timeline_product(first, WARP, 2.0 * (M * N * K), 1, at);
    for (unsigned t = first; t < first + WARP; t++)
        timeline_other_awaits(t, timeline_done(job));
}

/* The last lane computes for all of them. */
static void multiply(void *operands[], unsigned)
{
    const int K = static_cast<product *>(operands[0])->K;
    if (timeline_runs)
        time_product(self->number - self->lane, K, self->at);
    float A[M][MOST_K];
    eight B[MOST_K];
    for (int lane = 0; lane < WARP; lane++) {
        const product *of = static_cast<product *>(operands[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int which = 0; which < 2; which++) {
            for (int r = 0; r < K / 4; r++)
                A[g + 8 * (r % 2)][2 * t + 8 * (r / 2) + which] =
                    element_of(of->a[r], which, of->type);
            for (int r = 0; r < K / 8; r++)
                B[2 * t + 8 * r + which].set(unsigned(g),
                                             double(element_of(of->b[r], which, of->type)));
        }
    }
    eight sums[M];
    for (int row = 0; row < M; row++) {
        eight sum = {};
        for (int k = 0; k < K; k++)
            sum.add(double(A[row][k]), B[k]);
        sums[row] = sum;
    }
    for (int lane = 0; lane < WARP; lane++)
        for (int e = 0; e < 4; e++) {
            float *d = &static_cast<product *>(operands[lane])->d[e];
            *d = float(double(*d) +
                       sums[lane / 4 + 8 * (e / 2)].get(unsigned(lane % 4 * 2 + e % 2)));
        }
}

void matrix_multiply(element type, int K, float *d, const unsigned *a, const unsigned *b, site at)
{
    product mine = { type, K, d, a, b };
    if (K == 16)
        needs_capability(80, "mma.m16n8k16", at);
    warp_meet(0xffffffff, K == 16 ? "mma.m16n8k16" : "mma.m16n8k8", at, &mine, multiply);
}

// ---- ldmatrix, stmatrix --------------------------------------------------------------------------

struct matrices {
    unsigned *r, count;
    bool transposed;
    uint16_t *row;
};

static void deal_matrices(void *operands[], unsigned)
{
    const matrices first = *static_cast<matrices *>(operands[0]);
    for (unsigned m = 0; m < first.count; m++)
        for (unsigned lane = 0; lane < WARP; lane++) {
            const unsigned g = lane / 4, t = lane % 4;
            uint16_t two[2];
            for (unsigned which = 0; which < 2; which++) {
                const unsigned row = first.transposed ? 2 * t + which : g;
                const unsigned col = first.transposed ? g : 2 * t + which;
                two[which] = static_cast<matrices *>(operands[8 * m + row])->row[col];
            }
            static_cast<matrices *>(operands[lane])->r[m] = two[0] | unsigned(two[1]) << 16;
        }
}

static void gather_matrices(void *operands[], unsigned)
{
    const unsigned count = static_cast<matrices *>(operands[0])->count;
    for (unsigned m = 0; m < count; m++)
        for (unsigned lane = 0; lane < WARP; lane++)
            for (unsigned which = 0; which < 2; which++)
                static_cast<matrices *>(operands[8 * m + lane / 4])->row[lane % 4 * 2 + which] =
                    uint16_t(static_cast<matrices *>(operands[lane])->r[m] >> 16 * which);
}

/* Only these lanes pass addresses of rows. */
static void check_row(const void *row, unsigned count, bool writes, const char *name, site at,
                      const void *instruction)
{
    if (!self)
        refuse_at(at, "%s is called outside a kernel", name);
    if (self->lane >= 8 * count)
        return;
    if (uintptr_t(row) % 16 != 0)
        refuse_at(at, "%s: a row begins at an address that is no multiple of 16", name);
    see(row, 16, writes, false, true, instruction);
    if (!shared_holds(row, 16))
        refuse_at(at, "%s: a row does not lie in shared memory", name);
}

void matrix_load(unsigned *r, unsigned count, bool transposed, const void *row, const char *name,
                 site at)
{
    check_row(row, count, false, name, at, __builtin_return_address(0));
    matrices mine = { r, count, transposed,
                      const_cast<uint16_t *>(static_cast<const uint16_t *>(row)) };
    warp_meet(0xffffffff, name, at, &mine, deal_matrices);
}

void matrix_store(void *row, const unsigned *r, unsigned count, site at)
{
    needs_capability(90, "stmatrix", at);
    check_row(row, count, true, "stmatrix", at, __builtin_return_address(0));
    matrices mine = { const_cast<unsigned *>(r), count, false, static_cast<uint16_t *>(row) };
    warp_meet(0xffffffff, "stmatrix", at, &mine, gather_matrices);
}

}  // namespace cpu
