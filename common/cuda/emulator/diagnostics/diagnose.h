/*
 * Saying what is wrong with a kernel: what, in which kernel, block and thread, where in the source.
 * Then the program ends with status 1, because what it would go on with is not right.
 */
#ifndef COMMON_CUDA_DIAGNOSE_H
#define COMMON_CUDA_DIAGNOSE_H

#include "common/cuda/emulator/site.h"

#include <csignal>
#include <cstddef>

namespace cpu
{

/* Names the running kernel, block and thread if there are any; a place if it is known. */
[[noreturn]] void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void refuse_at(site at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says of all threads of the running block where they are. */
[[noreturn]] void refuse_block(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* No thread of the block can run: says why. */
[[noreturn]] void refuse_stuck();

/*
 * The machine does not give what the emulator needs, and no kernel is wrong: one line under the program's name, and then
 * the program ends with status 2.
 */
[[noreturn]] void machine_lacks(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "byte 12 of __shared__ tile", "byte 64 of K (400 bytes)": what lies at `p`; returns `text`. */
const char *name_of(const void *p, char *text, size_t size);

/* A stack for the handler of faults, as long as it lives: the running stack may be the reason. */
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

/* The instruction that a signal came at; NULL where we do not know how the system tells. */
const void *instruction_of(void *context);

/* From now on, accesses that the machine refuses are explained. */
void explain_faults();

}  // namespace cpu

#endif
