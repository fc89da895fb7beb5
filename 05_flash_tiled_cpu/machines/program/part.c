#include "05_flash_tiled_cpu/machines/program/part.h"

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

static ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

static struct chunk chunk_of(size_t n, size_t number, size_t chunks)
{
    const size_t first = number * n / chunks;
    return (struct chunk){ first, (number + 1) * n / chunks - first };
}

struct part part_of(size_t n, size_t rank, size_t ranks)
{
    struct part part = {
        { chunk_of(n, rank, 2 * ranks), chunk_of(n, 2 * ranks - 1 - rank, 2 * ranks) }, .rows = 0
    };
    part.rows = part.of[0].count + part.of[1].count;
    return part;
}

size_t part_max_rows(size_t n, size_t ranks)
{
    size_t rows = 0;
    for (size_t rank = 0; rank < ranks; rank++)
        if (part_of(n, rank, ranks).rows > rows)
            rows = part_of(n, rank, ranks).rows;
    return rows;
}

/* Appends queries i0 … i1 - 1 and keys j0 … j1 - 1, unless empty; returns the count. */
static size_t add_block(struct block *found, size_t n, const struct attention *whole, ptrdiff_t i0,
                        ptrdiff_t i1, ptrdiff_t j0, ptrdiff_t j1)
{
    if (i0 >= i1 || j0 >= j1)
        return n;
    found[n].i = (size_t)i0;
    found[n].j = (size_t)j0;
    found[n].p = attention_of(1, 1, 1, (size_t)(i1 - i0), (size_t)(j1 - j0), whole->d);
    found[n].p.scale = whole->scale;
    return n + 1;
}

/*
 * Query i attends to keys i + low … i + high: first a block that `high` limits, aligned
 * bottom-right, then one that only `low` limits, aligned top-left.
 */
static size_t blocks_of_chunks(struct block *found, size_t n, const struct attention *whole,
                               ptrdiff_t queries, ptrdiff_t keys, struct band band)
{
    const ptrdiff_t begin = larger(0, -band.high), end = smaller(queries, keys - band.low);
    const ptrdiff_t middle = larger(begin, smaller(end, keys - band.high));
    const size_t before = n;
    n = add_block(found, n, whole, begin, middle, 0, smaller(keys, middle + band.high));
    if (n > before) {
        found[n - 1].p.causal = true;
        found[n - 1].p.window_left = band.high - band.low;
    }
    const size_t between = n;
    const ptrdiff_t first = larger(0, middle + band.low);
    n = add_block(found, n, whole, middle, end, first, keys);
    if (n > between) {
        found[n - 1].p.top_left = true;
        found[n - 1].p.window_left = first - middle - band.low;
    }
    return n;
}

size_t blocks_of(const struct attention *whole, const struct part *queries, const struct part *keys,
                 struct block found[BLOCKS])
{
    size_t n = 0, i = 0;
    for (size_t q = 0; q < 2; i += queries->of[q++].count) {
        size_t j = 0;
        for (size_t k = 0; k < 2; j += keys->of[k++].count) {
            const ptrdiff_t between =
                (ptrdiff_t)keys->of[k].first - (ptrdiff_t)queries->of[q].first;
            struct band band = attention_band(whole);
            band.low -= between;
            band.high -= between;
            const size_t before = n;
            n = blocks_of_chunks(found, n, whole, (ptrdiff_t)queries->of[q].count,
                                 (ptrdiff_t)keys->of[k].count, band);
            for (size_t b = before; b < n; b++) {
                found[b].i += i;
                found[b].j += j;
            }
        }
    }
    return n;
}
