/*
 * Reports an error in a kernel: what, in which kernel, block and thread, and at which line. Then
 * ends the program with status 1, because its results would be wrong.
 */
#ifndef COMMON_CUDA_DIAGNOSE_H
#define COMMON_CUDA_DIAGNOSE_H

#include "common/cuda/emulator/site.h"

#include <csignal>
#include <cstddef>

namespace cpu
{

/* Prints the running kernel, block and thread, if any, and the place if it is known. */
[[noreturn]] void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void refuse_at(site at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Also prints where all threads of the running block are. */
[[noreturn]] void refuse_block(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports why no thread of the block can run. */
[[noreturn]] void refuse_stuck();

/*
 * The machine lacks a resource and no kernel is wrong: prints one line and ends the program with
 * status 2.
 */
[[noreturn]] void machine_lacks(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Describes the memory at `p`: "byte 12 of __shared__ tile", "byte 64 of K (400 bytes)". Returns
 * `text`.
 */
const char *name_of(const void *p, char *text, size_t size);

/* A stack for the fault handler during its lifetime: the running stack may have overflowed. */
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

/* The instruction that raised a signal; NULL on systems where we cannot find it. */
const void *instruction_of(void *context);

/* Installs handlers that explain invalid accesses. */
void explain_faults();

}  // namespace cpu

#endif
