/*
 * What one core can do at most: multiply-adds from registers, and copies in memory.
 *
 * Independent chains of multiply-adds keep a core busy: with four cycles each, two units need
 * eight chains and four units sixteen. Vectors are as wide as the processor's, detected at run
 * time, so this file needs no -march.
 */
#include "common/measure/bench.h"

#include "common/cpu/memory.h"

#include <stdlib.h>
#include <string.h>

/* The rest of the course forbids fusing a * b + c; this measures it. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=fast")  // O3: chains in registers, unrolled loops
#endif

enum { TURNS = 10000000 };  // some 20 ms, at eight cycles each

/*
 * A macro, because gcc splits vectors before it inlines a function for another processor. Each
 * chain takes its left neighbour's value and a factor near 1, so no product is loop-invariant, and
 * nothing overflows.
 */
#define SPIN(name, processor, lanes, chains)                            \
    processor static void name(void *result)                            \
    {                                                                   \
        typedef float vector __attribute__((vector_size(4 * (lanes)))); \
        vector a[chains], sum = { 0.0f };                               \
        const vector factor = sum + 0x1p-24f;                           \
        for (int i = 0; i < (chains); i++)                              \
            a[i] = sum + (float)(i + 1);                                \
        for (int turn = 0; turn < TURNS; turn++) {                      \
            for (int i = 0; i < (chains)-1; i++)                        \
                a[i] = a[i + 1] * factor + a[i];                        \
            a[(chains)-1] = a[0] * factor + a[(chains)-1];              \
        }                                                               \
        for (int i = 0; i < (chains); i++)                              \
            sum += a[i];                                                \
        memcpy(result, &sum, sizeof sum);                               \
    }

/* 128 bits everywhere: SSE2 (16 registers), NEON (32), or whatever the compiler makes. */
enum { WIDEST = 16, CHAINS_512 = 16, CHAINS_256 = 12 };
#if defined(__x86_64__)
enum { CHAINS_128 = 12 };
SPIN(spin_512, __attribute__((target("avx512f"))), 16, CHAINS_512)
SPIN(spin_256, __attribute__((target("avx2,fma"))), 8, CHAINS_256)
#else
enum { CHAINS_128 = 24 };
#endif
SPIN(spin_128, , 4, CHAINS_128)

/* Keeps results from being optimised away. */
static volatile float spun;

/* The processor's widest chains. */
struct spin {
    void (*run)(void *result);
    double lanes_and_chains;
};

static struct spin widest_spin(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return (struct spin){ spin_512, 16.0 * CHAINS_512 };
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct spin){ spin_256, 8.0 * CHAINS_256 };
#endif
    return (struct spin){ spin_128, 4.0 * CHAINS_128 };
}

void bench_fma_work(void *unused)
{
    float result[WIDEST];
    (void)unused;
    widest_spin().run(result);
    spun += result[0];
}

double bench_fma_operations(void)
{
    return 2.0 * widest_spin().lanes_and_chains * TURNS;
}

double bench_fma_peak(void)
{
    struct bench spin = { "multiply-adds", bench_fma_work, NULL, 0.0 };
    bench_run(&spin, 1, 0.25);
    return bench_fma_operations() / spin.best;
}

struct copy {
    char *to, *from;
    size_t bytes;
};

static void copy(void *arg)
{
    const struct copy *c = arg;
    memcpy(c->to, c->from, c->bytes);
}

/* memset first: untouched pages may not exist, or be one shared page of zeros. */
double bench_copy_bandwidth(void)
{
    const size_t least = (size_t)64 << 20, most = (size_t)512 << 20, cache = bench_cache_bytes(3);
    const size_t wanted = cache < most / 4 ? 4 * cache : most;
    const size_t bytes = wanted < least ? least : wanted;
    struct copy c = {
        .to = allocate(bytes, 1, "an array to copy to"),
        .from = allocate(bytes, 1, "an array to copy from"),
        .bytes = bytes,
    };
    memset(c.to, 1, bytes);
    memset(c.from, 2, bytes);
    struct bench way = { "memcpy", copy, &c, 0.0 };
    bench_run(&way, 1, 0.5);
    free(c.to);
    free(c.from);
    return 2.0 * (double)bytes / way.best;
}
