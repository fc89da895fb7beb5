/*
 * How large the kernels' tiles are: Br queries by Bc keys. They are part of the kernels, known when
 * these are compiled, and such that 48 kB of shared memory hold them: that much every GPU gives.
 */
#ifndef FLASH_TILED_CUDA_TILES_H
#define FLASH_TILED_CUDA_TILES_H

/* These are macros because both a C function and a template's parameter need them. */
#define FA1_BR 16
#define FA1_BC(d) ((d) <= 32 ? 128 : (d) <= 64 ? 64 : 32)

#define FA2_BR(d) (16 * ((d) <= 64 ? 8 : 4))
#define FA2_BC 64

/* The kernels on tensor cores: 4 warps of 32 queries, and as many keys as there are registers for scores. */
#define TENSOR_BR 128
#define TENSOR_BC(d) ((d) <= 64 ? 64 : 32)

/* From exp2 on, with 32 keys at d = 128, nvcc runs out of registers for compute capability 9.0. */
#define POWER_BC(d) ((d) <= 64 ? 64 : 16)

/* complete, for inputs of 16 bits: keys, bands of 16 queries a warp, warps. */
#define COMPLETE16_BC(d) ((d) <= 64 ? 64 : (d) <= 128 ? 32 : 16)
#define COMPLETE16_BANDS(d) ((d) <= 96 ? 2 : 1)
#define COMPLETE16_WARPS(d) ((d) == 128 ? 8 : 4)

#endif
