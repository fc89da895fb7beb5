#include "common/cuda/emulator/runtime.h"

#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/errors.h"
#include "common/cuda/emulator/memory.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/shared.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>
#include <utility>

namespace cpu
{

// ---- functions ----------------------------------------------------------------------------------

/* Per kernel and device. */
static int &shared_limit(const void *kernel)
{
    static auto *all = new std::map<std::pair<const void *, int>, int>;
    int device = 0;
    cudaGetDevice(&device);
    return (*all)[{ kernel, device }];
}

cudaError_t function_attribute(const void *kernel, cudaFuncAttribute, int value)
{
    if (value < 0 || size_t(value) > settings.shared)
        return result(cudaErrorInvalidValue);
    shared_limit(kernel) = value;
    return cudaSuccess;
}

size_t shared_limit_of(const void *kernel)
{
    const size_t asked = size_t(shared_limit(kernel));
    return std::max(size_t{ SHARED_USUAL }, std::min(asked, settings.shared));
}

}  // namespace cpu

using namespace cpu;

// ---- memory -------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void **p, size_t bytes, const char *file, int line)
{
    only_on_the_host("cudaMalloc");
    *p = bytes > 0 ? memory_allocate(bytes, { file, line }) : nullptr;
    return result(*p || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *p)
{
    only_on_the_host("cudaFree");
    return result(!p || memory_free(p) ? cudaSuccess : cudaErrorInvalidValue);
}

static bool fits(const void *p, size_t bytes, bool device)
{
    return device ? on_device(p, bytes) : !allocation_of(p);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    only_on_the_host("cudaMemcpy");
    const cudaError_t error = stream_given(stream);
    if (error != cudaSuccess || bytes == 0)
        return result(error);
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        to_device = allocation_of(to);
        from_device = allocation_of(from);
    }
    if (!fits(to, bytes, to_device) || !fits(from, bytes, from_device))
        return result(cudaErrorInvalidValue);
    memory_expose();
    memmove(to, from, bytes);
    memory_hide();
    return result(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind);
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream)
{
    only_on_the_host("cudaMemset");
    const cudaError_t error = stream_given(stream);
    if (error != cudaSuccess || bytes == 0)
        return result(error);
    if (!on_device(p, bytes))
        return result(cudaErrorInvalidValue);
    memory_expose();
    memset(p, byte, bytes);
    memory_hide();
    return result(cudaSuccess);
}

cudaError_t cudaMemset(void *p, int byte, size_t bytes)
{
    return cudaMemsetAsync(p, byte, bytes);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *free = *total = pages > 0 && page > 0 ? size_t(pages) * size_t(page) : 0;
    return cudaSuccess;
}

void cuda_name(const void *array, const char *name, size_t element)
{
    memory_name(array, name, element);
    watch_named(array, name);
}
