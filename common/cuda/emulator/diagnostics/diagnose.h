/*
 * Reports an error in a kernel, with kernel, block, thread and line, and ends the program with
 * status 1.
 */
#ifndef COMMON_CUDA_DIAGNOSE_H
#define COMMON_CUDA_DIAGNOSE_H

#include "common/cuda/emulator/site.h"

#include <csignal>
#include <cstddef>

namespace cpu
{

[[noreturn]] void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void refuse_at(site at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Also prints where the block's threads are. */
[[noreturn]] void refuse_block(const char *format, ...) __attribute__((format(printf, 1, 2)));

[[noreturn]] void refuse_stuck();

/* For a machine without enough resources: prints one line, ends the program with status 2. */
[[noreturn]] void machine_lacks(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes to `text`, for example, "byte 12 of __shared__ tile" or "byte 64 of K (400 bytes)", and
 * returns it.
 */
const char *name_of(const void *p, char *text, size_t size);

/* A stack for the fault handler: the running one may have overflowed. */
class fault_stack
{
  public:
    fault_stack();
    ~fault_stack();
    fault_stack(const fault_stack &) = delete;
    fault_stack &operator=(const fault_stack &) = delete;

  private:
    char *room;
    stack_t before;
};

/* The instruction that raised a signal; NULL on unknown systems. */
const void *instruction_of(void *context);

void explain_faults();

}  // namespace cpu

#endif
