/* kernels/tensor.cu, for the tests in C. Registers are stored lane by lane: a[4 lane + r]. */
#ifndef COMMON_CUDA_TESTS_TENSORS_H
#define COMMON_CUDA_TESTS_TENSORS_H

#ifdef __cplusplus
extern "C" {
#endif

/* `count` products of one warp: d[128] += a[128] b[64] each. mma_k8 leaves the second half of each lane's a and b alone. */
enum factors { HALVES, BFLOATS, HALVES_K8, FACTORS };
typedef void products_runner(enum factors factors, const unsigned *a, const unsigned *b, float *d,
                             unsigned count);
products_runner products_cpu, products_instrumented;

/* `count` matrices out of 64 rows of 8; lane l has row order[l]: out[count lane + r]. */
typedef void matrices_runner(int count, int trans, const unsigned short x[512],
                             const unsigned order[32], unsigned *out);
matrices_runner matrices_cpu, matrices_instrumented;

/* 64 threads copy `given` of `bytes` bytes each. */
typedef void async_copies_runner(int bytes, const char *in, char *out, int given);
async_copies_runner async_copies_cpu, async_copies_instrumented;

/* Five groups of copies: values after a wait for all but `pending`, then for all. */
void groups_cpu(int pending, const float in[20], float out[10]);

/* 2^x, 1 / x, and (x, -2) in halves and bfloat16; `count` is a multiple of 32. */
void conversions_cpu(const float *x, unsigned count, float *powers, float *inverses,
                     unsigned *halves, unsigned *bfloats);

/* On a GPU, and the assertions that gpu.c shares. */
typedef void conversions_runner(const float *x, unsigned count, float *powers, float *inverses,
                                unsigned *halves, unsigned *bfloats);
products_runner products_gpu;
matrices_runner matrices_gpu;
async_copies_runner async_copies_gpu;
conversions_runner conversions_gpu;
void assert_places_of_mma(products_runner *run, enum factors factors);
void assert_products_of_mma(products_runner *run, products_runner *sometimes, enum factors factors);
void assert_loads(matrices_runner *run);
void assert_copies(async_copies_runner *run);
void assert_conversions(conversions_runner *run, double error);

/* Ten times the compute capability; 0 without a GPU. */
int capability_gpu(void);

#ifdef __cplusplus
}
#endif
#endif
