/*
 * Counter-based random numbers, the same on every machine.
 *
 * Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) maps a
 * counter and a key to four random words, without state: any thread can compute any number, in
 * any order. So attention's backward pass recomputes the dropout mask instead of storing it.
 */
#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA uses this header and attention.h on host and device. */
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

struct philox {
    uint32_t word[4];
};

HOST_DEVICE static inline struct philox philox4x32(struct philox counter, uint64_t key)
{
    uint32_t key_low = (uint32_t)key, key_high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * counter.word[0];
        uint64_t b = (uint64_t)0xCD9E8D57 * counter.word[2];
        counter.word[0] = (uint32_t)(b >> 32) ^ counter.word[1] ^ key_low;
        counter.word[1] = (uint32_t)b;
        counter.word[2] = (uint32_t)(a >> 32) ^ counter.word[3] ^ key_high;
        counter.word[3] = (uint32_t)a;
        key_low += 0x9E3779B9;
        key_high += 0xBB67AE85;
    }
    return counter;
}

/*
 * Number `index` of the sequence given by `seed` and `stream`. Streams of one seed are independent:
 * Q, K and V use one each.
 */
double random_uniform(uint64_t seed, uint32_t stream, uint64_t index);  // in [0, 1), 32 bits
double random_normal(uint64_t seed, uint32_t stream, uint64_t index);   // mean 0, variance 1

/* An integer from `low` to `high`, inclusive; they differ by less than 2^32. */
size_t random_between(uint64_t seed, uint32_t stream, uint64_t index, size_t low, size_t high);

/* x[0 … n-1] = numbers 0 … n-1 of the normal sequence, as float32. */
void random_normals(float *x, size_t n, uint64_t seed, uint32_t stream);

#ifdef __cplusplus
}
#endif

#endif
