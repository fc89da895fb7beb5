/* Tells the address sanitizer about stacks and inaccessible memory; empty in other builds. */
#ifndef COMMON_CUDA_SANITIZER_H
#define COMMON_CUDA_SANITIZER_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define CUDA_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_ADDRESS_SANITIZER
#endif
#endif

#ifdef CUDA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cpu
{

static inline void sanitizer_poison(const void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
#ifdef CUDA_ADDRESS_SANITIZER
    __asan_poison_memory_region(memory, bytes);
#endif
}

static inline void sanitizer_unpoison(const void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
#ifdef CUDA_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(memory, bytes);
#endif
}

static inline void sanitizer_switch(void **fake_stack, const void *stack, size_t bytes)
{
    (void)fake_stack, (void)stack, (void)bytes;
#ifdef CUDA_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#endif
}

static inline void sanitizer_switched(void *fake_stack, const void **stack, size_t *bytes)
{
    (void)fake_stack, (void)stack, (void)bytes;
#ifdef CUDA_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
#endif
}

}  // namespace cpu

#endif
