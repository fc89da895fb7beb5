/* A product's matrices: addresses in swizzled shared memory, or registers. */
#include "common/cuda/emulator/warpgroup.h"

#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/launch.h"

#include <cstring>

namespace cpu
{

enum { ALL_ADDRESSES = 1 << 18 };  // of a matrix descriptor

static void check_begin(size_t address, const char *name, site at)
{
    if (address >= own->launch->shared)
        refuse_at(at, "%s: the matrix does not begin in dynamic shared memory", name);
    if (address % SWIZZLED % BOX_ROW % 32 != 0 || address % SWIZZLED >= BOX_ROW)
        refuse_at(at,
                  "%s: the matrix begins %zu bytes past a multiple of %d; expected 0, 32, 64 or 96",
                  name, address % SWIZZLED, int(SWIZZLED));
}

uint64_t product_matrix(const void *begin, unsigned leading, unsigned stride, site at)
{
    static const char *const name = "wgmma_matrix()";
    if (!self)
        refuse_at(at, "wgmma_matrix() is called outside a kernel");
    const char *const base = own->shared.dynamic, *const p = static_cast<const char *>(begin);
    shared_wants_alignment(p, SWIZZLED, name, at);
    const size_t address = size_t(p - base);
    check_begin(address, name, at);
    if (leading % 16 != 0 || stride % 16 != 0 || leading >= ALL_ADDRESSES ||
        stride >= ALL_ADDRESSES)
        refuse_at(at,
                  "wgmma_matrix(): steps of %u and %u bytes; expected multiples of 16 below 2^18",
                  leading, stride);
    return uint64_t{ address >> 4 } | uint64_t{ leading >> 4 } << 16 |
           uint64_t{ stride >> 4 } << 32 | uint64_t{ 1 } << 62;
}

uint64_t product_further(uint64_t matrix, unsigned bytes, site at)
{
    if (!self)
        refuse_at(at, "wgmma_further() is called outside a kernel");
    check_begin((size_t(matrix & 0x3fff) << 4) + bytes, "wgmma_further()", at);
    return matrix + (bytes >> 4);
}

/*
 * Eight contiguous elements, by PTX's canonical layouts for 16-bit elements and 128-byte swizzle:
 * row `outer`, k from 8 * inner; or, with `columns`, k = inner, rows from 8 * outer.
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

/*
 * Calls visit(piece, row, k) for pieces of eight elements, which continue along k or, with
 * `columns`, along the rows.
 */
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

void matrix_read(const product *p, uint64_t matrix, bool columns, size_t rows,
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

void fragments_read(const product *p, float (*A)[PRODUCT_K])
{
    for (unsigned t = 0; t < GROUP; t++)
        for (unsigned r = 0; r < 4; r++)
            for (unsigned which = 0; which < 2; which++)
                A[t / 32 * 16 + t % 32 / 4 + 8 * (r % 2)][2 * (t % 4) + 8 * (r / 2) + which] =
                    number(p->call.type, uint16_t(p->a_then[t][r] >> 16 * which));
}

void matrices_instrumented(const product *p)
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

}  // namespace cpu
