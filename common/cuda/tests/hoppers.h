/* kernels/wgmma.cu and hopper.cu, for the tests in C. */
#ifndef COMMON_CUDA_TESTS_HOPPERS_H
#define COMMON_CUDA_TESTS_HOPPERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In bytes, in an image of shared memory. */
enum { IMAGE = 96 * 1024, MOST_N = 256 };
struct product_test {
    int bfloat, n, a_in_registers, a_columns, b_columns, add;
    unsigned a_begin, a_leading, a_stride, b_begin, b_leading, b_stride;
};

/* d[thread n / 2 + e], of 128 threads; a_registers[4 thread + r]. */
typedef void wgmma_runner(const struct product_test *t, const unsigned char *image,
                          const unsigned *a_registers, float *d);
wgmma_runner wgmma_cpu, wgmma_instrumented;

/* Loads a box, and copies it to `shared`. */
struct box_test {
    int floats;
    unsigned rank, box[4];
    uint64_t size[4];  // of the dense array
    int from[4];
};
typedef void box_runner(const struct box_test *t, const void *array, unsigned char *shared);
box_runner box_cpu, box_instrumented;

/* Stores a box of three dimensions, or adds floats twice. */
typedef void stored_box_runner(const struct box_test *t, const unsigned char *shared, void *array);
stored_box_runner stored_box_cpu, stored_box_instrumented;

/* Numbered halves, stored to rows order[lane]. */
typedef void stored_matrices_runner(int count, const unsigned order[32], unsigned short out[512]);
stored_matrices_runner stored_matrices_cpu, stored_matrices_instrumented;

/* One warp fills a ring with `rounds` boxes, four warps sum their rows. */
typedef void ring_runner(unsigned rounds, const float *in, float *out);
ring_runner ring_cpu, ring_instrumented;

/* A box and a product before the wait, and after: out[4]. */
void too_early_cpu(const float in[256], float out[4]);

/* 64 blocks add to one array. */
typedef void bulk_runner(float out[256]);
bulk_runner bulk_cpu, bulk_instrumented;

/* Two warpgroups take turns; `elected` counts lanes. */
typedef void turns_runner(unsigned order[8], unsigned *elected);
turns_runner turns_cpu, turns_instrumented;

/* On a GPU, and the assertions that gpu.c shares. */
wgmma_runner wgmma_gpu;
box_runner box_gpu;
stored_box_runner stored_box_gpu;
stored_matrices_runner stored_matrices_gpu;
ring_runner ring_gpu;
bulk_runner bulk_gpu;
turns_runner turns_gpu;
void assert_products(wgmma_runner *run);
void assert_places_of_elements(wgmma_runner *run);
void assert_boxes(box_runner *run, box_runner *sometimes);
void assert_stored_boxes(stored_box_runner *run);
void assert_stored_matrices(stored_matrices_runner *run);
void assert_ring(ring_runner *run, unsigned rounds);
void assert_bulk(bulk_runner *run);
void assert_turns(turns_runner *run);

#ifdef __cplusplus
}
#endif
#endif
