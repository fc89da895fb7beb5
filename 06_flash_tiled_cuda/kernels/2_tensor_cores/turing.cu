/*
 * FlashAttention-2 on the tensor cores of a T4.       (2 Nq d + 2 Tr Nk d) / 2 + Nq accesses of 4 bytes
 *
 * fa2 with mma.m16n8k8: (16 x 8) (8 x 8) in float16, float32 sums (compute capability 7.5). A warp has
 * 16 queries. With g = lane / 4, t = lane % 4, a lane has, of queries i = … + g and i + 8 (h = 1):
 *
 *     Q[k][h]            elements 8 k + 2 t and the next, in one register
 *     S[c][2 h + e]      key 8 c + 2 t + e
 *     O[c][2 h + e]      element 8 c + 2 t + e
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/fragments.cuh"

enum {
    WARPS = 4,
    THREADS = 32 * WARPS,
    PAD = 4,  // 8 rows begin in different banks
};

/* l is of the lane's own keys, until `finish`. */
template <int D> struct lane_part {
    unsigned Q[D / 8][2];
    float S[TENSOR_BC(D) / 8][4], O[D / 8][4], m[2], l[2];
};

/* A word is two float16 numbers. */
template <int D> struct alignas(16) tile {
    unsigned row[TENSOR_BC(D)][D / 2 + PAD];
};

__device__ static inline int g_of_lane(void)
{
    return (int)threadIdx.x % 32 / 4;
}

__device__ static inline int t_of_lane(void)
{
    return (int)threadIdx.x % 4;
}

template <int D> __device__ static void begin(lane_part<D> *x, const __half *Q, int i, int Nq)
{
    for (int h = 0; h < 2; h++) {
        const unsigned *const row = (const unsigned *)(Q + (size_t)(i + 8 * h) * D);
        for (int k = 0; k < D / 8; k++) {
            x->Q[k][h] = i + 8 * h < Nq ? row[4 * k + t_of_lane()] : 0;
            x->O[k][2 * h] = x->O[k][2 * h + 1] = 0.0f;
        }
        x->m[h] = -INFINITY;
        x->l[h] = 0.0f;
    }
}

/* Zero-fills rows >= `end`. */
template <int D> __device__ static void copy_rows(tile<D> *to, const __half *from, int end)
{
    for (int n = (int)threadIdx.x; n < TENSOR_BC(D) * D / 8; n += THREADS) {
        const int r = n / (D / 8), c = n % (D / 8);
        *(uint4 *)&to->row[r][4 * c] = r < end ? ((const uint4 *)from)[n] : make_uint4(0, 0, 0, 0);
    }
}

/* S = Q K^T, unscaled. B's columns are keys, so it needs no transpose. */
template <int D> __device__ static void scores(lane_part<D> *x, const tile<D> *K)
{
#pragma unroll
    for (int c = 0; c < TENSOR_BC(D) / 8; c++) {
        for (int e = 0; e < 4; e++)
            x->S[c][e] = 0.0f;
        for (int k = 0; k < D / 8; k++)
            mma_k8(x->S[c], x->Q[k], K->row[8 * c + g_of_lane()][4 * k + t_of_lane()]);
    }
}

/* Scales and masks, then lines 9 and 10. */
template <int D>
__device__ static void softmax(lane_part<D> *x, const struct attention &p, int i, int j0)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int limit = keys_attended(p, i + 8 * h) - j0 - 2 * t_of_lane();
        float m_new = x->m[h], sum = 0.0f;
        for (int c = 0; c < TENSOR_BC(D) / 8; c++)
            for (int e = 0; e < 2; e++) {
                float *const s = &x->S[c][2 * h + e];
                *s = 8 * c + e < limit ? p.scale * *s : -INFINITY;
                m_new = fmaxf(m_new, *s);
            }
        m_new = quad_max(m_new);
        for (int c = 0; c < TENSOR_BC(D) / 8; c++)
            for (int e = 2 * h; e < 2 * h + 2; e++) {
                x->S[c][e] = exp_minus(x->S[c][e], m_new);
                sum += x->S[c][e];
            }
        const float rescale = exp_minus(x->m[h], m_new);
        x->l[h] = x->l[h] * rescale + sum;
        x->m[h] = m_new;
        for (int c = 0; c < D / 8; c++)
            for (int e = 2 * h; e < 2 * h + 2; e++)
                x->O[c][e] *= rescale;
    }
}

/*
 * O += P V. S is laid out as A's fragment; rows of V are keys, so ldmatrix transposes B. Lane L
 * passes the address of V[8 c + L % 8][8 (k + L / 8)], and gets in value[n] the elements
 * V[8 c + 2 t][8 (k + n) + g] and V[8 c + 2 t + 1][8 (k + n) + g].
 */
template <int D> __device__ static void product(lane_part<D> *x, const tile<D> *V)
{
    const int lane = lane_id();
#pragma unroll
    for (int c = 0; c < TENSOR_BC(D) / 8; c++) {
        const float *const s = x->S[c];
        const unsigned P[2] = { pack<__half>(s[0], s[1]), pack<__half>(s[2], s[3]) };
        for (int k = 0; k < D / 8; k += 4) {
            unsigned value[4];
            ldmatrix_trans(value, &V->row[8 * c + lane % 8][4 * (k + lane / 8)]);
            for (int n = 0; n < 4; n++)
                mma_k8(x->O[k + n], P, value[n]);
        }
    }
}

/* Lines 12 to 15. */
template <int D>
__device__ static void finish(const lane_part<D> *x, const tensor_head<__half> &t, int i, int Nq)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float l = quad_sum(x->l[h]), divisor = l == 0.0f ? 1.0f : l;
        if (i + 8 * h >= Nq)
            continue;
        unsigned *const row = (unsigned *)(t.O + (size_t)(i + 8 * h) * D);
        for (int c = 0; c < D / 8; c++)
            row[4 * c + t_of_lane()] =
                pack<__half>(x->O[c][2 * h] / divisor, x->O[c][2 * h + 1] / divisor);
        if (t.lse && t_of_lane() == 0)
            t.lse[i + 8 * h] = x->m[h] + logf(l);
    }
}

// clang-format off

template <int D>
static __global__ void __launch_bounds__(THREADS)
    turing_tile(struct attention p, struct device_arrays a)
{
    enum { Br = TURING_BR, Bc = TENSOR_BC(D) };
    __shared__ tile<D> K;
    __shared__ tile<D> V;
    const tensor_head<__half> t = tensor_head_of<__half>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);  // causal
    const int i = i0 + (int)threadIdx.x / 32 * 16 + g_of_lane();
    lane_part<D> x;
    begin(&x, t.Q, i, Nq);                                                   // 4, 5
    for (int j0 = 0; j0 < attended; j0 += Bc) {                              // 6
        __syncthreads();  // old K and V are free
        copy_rows(&K, t.K + (size_t)j0 * D, attended - j0);                  // 7
        copy_rows(&V, t.V + (size_t)j0 * D, attended - j0);
        __syncthreads();  // new ones are loaded
        scores(&x, &K);                                                      // 8
        softmax(&x, p, i, j0);                                               // 9, 10
        product(&x, &V);                                                     // 10
    }
    finish(&x, t, i, Nq);                                                    // 12 to 15
}

// clang-format on

extern "C" void LAUNCHER(turing)(const struct attention *p, const struct device_arrays *a,
                                 cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nq, TURING_BR), (unsigned)(p->B * p->H));
    if (p->dtype == DTYPE_F16 && p->d == 64)
        turing_tile<64><<<grid, THREADS, 0, stream>>>(*p, *a);
    else if (p->dtype == DTYPE_F16 && p->d == 128)
        turing_tile<128><<<grid, THREADS, 0, stream>>>(*p, *a);
    else
        not_compiled(__func__, "d = %zu with --dtype %s", p->d, dtype_name(p->dtype));
    CHECK_CUDA(cudaGetLastError());
}
