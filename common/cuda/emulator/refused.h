/* Unsupported CUDA functions: the compiler rejects them by name. */
#ifndef COMMON_CUDA_REFUSED_H
#define COMMON_CUDA_REFUSED_H

#define CUDA_REFUSED(name) template <class... T> void name(T...) = delete
CUDA_REFUSED(__activemask);  // no lockstep: pass an explicit mask
CUDA_REFUSED(__nanosleep);   // busy waits never end
CUDA_REFUSED(__match_all_sync);
CUDA_REFUSED(__threadfence_system);
CUDA_REFUSED(clock64);
CUDA_REFUSED(atomicInc);
CUDA_REFUSED(atomicDec);
CUDA_REFUSED(cudaMallocManaged);  // device and host memory are separate
CUDA_REFUSED(cudaMallocAsync);
CUDA_REFUSED(cudaMallocPitch);
CUDA_REFUSED(cudaMemcpy2D);
CUDA_REFUSED(cudaMemcpyToSymbol);
CUDA_REFUSED(cudaMemcpyFromSymbol);
CUDA_REFUSED(cudaHostRegister);
CUDA_REFUSED(cudaLaunchKernel);
CUDA_REFUSED(cudaLaunchKernelEx);
CUDA_REFUSED(cudaLaunchCooperativeKernel);  // no barrier over the whole grid
CUDA_REFUSED(cudaStreamWaitEvent);
CUDA_REFUSED(cudaStreamBeginCapture);
CUDA_REFUSED(cudaGraphLaunch);
CUDA_REFUSED(cudaFuncGetAttributes);  // a CPU has no such registers
CUDA_REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor);
CUDA_REFUSED(cudaCreateTextureObject);
CUDA_REFUSED(tex1Dfetch);
CUDA_REFUSED(tex2D);
#undef CUDA_REFUSED

#endif
