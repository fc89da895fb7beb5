/*
 * Attention by its formula, in three passes.                2 Nq Nk d + 6 Nq Nk + 2 Nq d accesses
 *
 *     S = scale Q K^T      each row of Q kept in fast memory, all of K read for it; S stored
 *     P = softmax(S)       chapter 02, row by row: S read three times, P stored
 *     O = P V              each row of O kept, all of V read for it
 *
 * FlashAttention's Algorithm 0 (arXiv 2205.14135).
 */
#include "04_flash_no_tiling/standard_attention.h"

#include "02_safe_softmax/safe_softmax.h"
#include "common/measure/traffic.h"
#include "common/problem/attention.h"

/* S = scale Q K^T */
static void scores(const float *Q, const float *K, float *S, size_t Nq, size_t Nk, size_t d,
                   float scale)
{
    float q[ATTENTION_MAX_D];
    for (size_t i = 0; i < Nq; i++) {
        for (size_t c = 0; c < d; c++)
            q[c] = Q[i * d + c];
        for (size_t j = 0; j < Nk; j++) {
            float x = 0.0f;
            for (size_t c = 0; c < d; c++)
                x += q[c] * K[j * d + c];
            S[i * Nk + j] = scale * x;
        }
    }
}

/* O = P V */
static void averages(const float *P, const float *V, float *O, size_t Nq, size_t Nk, size_t d)
{
    float o[ATTENTION_MAX_D];
    for (size_t i = 0; i < Nq; i++) {
        for (size_t c = 0; c < d; c++)
            o[c] = 0.0f;
        for (size_t j = 0; j < Nk; j++) {
            const float weight = P[i * Nk + j];
            for (size_t c = 0; c < d; c++)
                o[c] += weight * V[j * d + c];
        }
        for (size_t c = 0; c < d; c++)
            O[i * d + c] = o[c];
    }
}

void standard_attention(const float *Q, const float *K, const float *V, float *O, size_t Nq,
                        size_t Nk, size_t d, float scale)
{
    float *S = extra_slow("S", Nq * Nk), *P = extra_slow("P", Nq * Nk);
    scores(Q, K, S, Nq, Nk, d, scale);
    for (size_t i = 0; i < Nq; i++)
        safe_softmax(S + i * Nk, P + i * Nk, Nk);
    averages(P, V, O, Nq, Nk, d);
    extra_free(P);
    extra_free(S);
}
