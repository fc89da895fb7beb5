/*
 * Launching a kernel: to_cpp.sed turns kernel<<<grid, block, shared, stream>>>(…) into
 * cpu::configure(grid, block, shared, stream).kernel("kernel", kernel)(…).
 */
#ifndef COMMON_CUDA_LAUNCH_H
#define COMMON_CUDA_LAUNCH_H

#include "common/cuda/emulator/block.h"
#include "common/cuda/emulator/runtime.h"

#include <atomic>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace cpu
{

/* Places of shared variables, the same in every block of a launch. */
struct shared_packing {
    size_t count, bytes;      // as packed by a GPU's compiler
    std::atomic<size_t> end;  // of the last, with gap
    shared_variable variables[SHARED_VARIABLES];
};

struct launch {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    site at;
    const char *name;
    const void *kernel;
    void (*call)(const void *);
    const void *arguments;
    size_t argument_bytes;
    bool instrumented;
    unsigned number;
    size_t shared_limit;
    shared_packing *packed;
};

/* Runs the grid; a refused launch sets the last error. */
void run(launch *l);

/*
 * Ends the program if a block has more threads than __launch_bounds__ declares; the rest are hints.
 * Inserted by to_cpp.sed.
 */
void launch_bounds(size_t threads, size_t blocks = 0, size_t cluster = 0);

/* Ends the program unless parameter `number`, `p`, points to device memory. */
void check_parameter(const void *p, unsigned number, const launch *l);

// Compiled twice per program, with and without instrumentation.
inline namespace CUDA_BUILD
{

template <class T> void check(const T &, unsigned, const launch *)
{
}

template <class T> void check(T *const &p, unsigned number, const launch *l)
{
    if (!std::is_function_v<T>)
        check_parameter(reinterpret_cast<const void *>(p), number, l);
}

template <class... P> struct call {
    void (*kernel)(P...);
    std::tuple<P...> parameters;

    static void run(const void *one)
    {
        const call *c = static_cast<const call *>(one);
        std::apply(c->kernel, c->parameters);  // copies them per thread
    }
};

template <class... P> struct launcher {
    launch l;
    void (*kernel)(P...);

    /* Parameters have the kernel's types, so arguments convert as usual. */
    void operator()(P... parameters)
    {
        static_assert(!(std::is_reference_v<P> || ...), "a kernel takes no references");
        unsigned number = 1;
        (check(parameters, number++, &l), ...);
        const call<P...> c = { kernel, { parameters... } };
        l.call = call<P...>::run;
        l.arguments = &c;
        l.argument_bytes = sizeof c;
        cpu::run(&l);
    }
};

struct configuration {
    launch l;

    template <class... P> launcher<P...> kernel(const char *name, void (*function)(P...))
    {
        l.name = name;
        l.kernel = reinterpret_cast<const void *>(function);
        return { l, function };
    }
};

static inline configuration configure(dim3 grid, dim3 block, size_t shared = 0,
                                      cudaStream_t stream = nullptr, CUDA_SITE)
{
    configuration c = {};
    c.l.grid = grid;
    c.l.block = block;
    c.l.shared = shared;
    c.l.stream = stream;
    c.l.at = { file, line };
#ifdef CUDA_INSTRUMENTED
    c.l.instrumented = true;
#endif
    return c;
}

}  // namespace CUDA_BUILD
}  // namespace cpu

#endif
