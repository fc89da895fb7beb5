/* The last error; at exit, reports errors never read and memory never freed. */
#include "common/cuda/emulator/errors.h"

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/memory.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

static cudaError_t last_error;
static char last_why[400];  // of a failed launch, until read

namespace cpu
{

static void report_leak(allocation *a, void *data)
{
    size_t *leaks = static_cast<size_t *>(data);
    if ((*leaks)++ < 4)
        fprintf(stderr,
                "CUDA on the CPU: leak: %zu bytes of device memory (%s), from %s:%d, were never "
                "freed\n",
                a->bytes, a->name, a->at.file, a->at.line);
}

static void report_leftovers(int status)
{
    size_t leaks = 0;
    if (status == EXIT_FAILURE || status == 2)
        return;
    if (*last_why)
        fprintf(stderr, "CUDA on the CPU: %s\n    and the program did not ask for the error\n",
                last_why);
    memory_each(report_leak, &leaks);
    if (leaks == 0 && !*last_why)
        return;
    fflush(nullptr);
    _exit(EXIT_FAILURE);
}

/* Only glibc passes the exit status. */
static void watch_end()
{
    static bool watching;
    if (watching)
        return;
    watching = true;
#ifdef __GLIBC__
    on_exit([](int status, void *) { report_leftovers(status); }, nullptr);
#else
    atexit([] { report_leftovers(EXIT_SUCCESS); });
#endif
}

void launch_failed(cudaError_t error, const struct launch *l, const char *why)
{
    watch_end();
    last_error = error;
    snprintf(last_why, sizeof last_why, "the launch of %s at %s:%d failed: %s", l->name, l->at.file,
             l->at.line, why);
    fprintf(stderr, "CUDA on the CPU: %s\n", last_why);
}

void only_on_the_host(const char *name)
{
    if (self)
        refuse("%s is called in a kernel", name);
}

cudaError_t result(cudaError_t error)
{
    watch_end();
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

}  // namespace cpu

cudaError_t cudaGetLastError()
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    *last_why = '\0';
    return error;
}

cudaError_t cudaPeekAtLastError()
{
    *last_why = '\0';
    return last_error;
}

#define ERRORS(ERROR)                                                          \
    ERROR(cudaSuccess, "no error")                                             \
    ERROR(cudaErrorInvalidValue, "invalid argument")                           \
    ERROR(cudaErrorMemoryAllocation, "out of memory")                          \
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument")     \
    ERROR(cudaErrorInsufficientDriver,                                         \
          "CUDA driver version is insufficient for CUDA runtime version")      \
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected")             \
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal")                    \
    ERROR(cudaErrorNoKernelImageForDevice,                                     \
          "no kernel image is available for execution on the device")          \
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle")           \
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered") \
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated")

const char *cudaGetErrorName(cudaError_t error)
{
#define NAME(name, text) \
    case name:           \
        return #name;
    switch (error) {
        ERRORS(NAME)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
#define TEXT(name, text) \
    case name:           \
        return text;
    switch (error) {
        ERRORS(TEXT)
    }
    return "unrecognized error code";
}
