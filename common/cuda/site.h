/*
 * A place in the source.
 */
#ifndef COMMON_CUDA_SITE_H
#define COMMON_CUDA_SITE_H

namespace cpu
{

struct site {
    const char *file;
    int line;
};

/*
 * The place of an instruction, of the kernel's source and not of this folder's where one has been
 * inlined into the other; line 0 if it cannot be found. Slow the first time, known afterwards.
 */
site site_of(const void *instruction);

}  // namespace cpu

#endif
