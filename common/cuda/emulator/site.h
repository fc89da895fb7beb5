/*
 * A place in the source.
 */
#ifndef COMMON_CUDA_SITE_H
#define COMMON_CUDA_SITE_H

#include <cstring>
#include <vector>

namespace cpu
{

struct site {
    const char *file;
    int line;
};

/* Texts are equal; mostly they are the same one. */
static inline bool same_text(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

static inline bool same_site(site a, site b)
{
    return a.line == b.line && same_text(a.file, b.file);
}

/*
 * The place of an instruction, of the kernel's source and not of this folder's where one has been
 * inlined into the other; line 0 if it cannot be found. Slow the first time, known afterwards.
 */
site site_of(const void *instruction);

/*
 * Looks up instructions that site_of will be asked for: hundreds together take as long as one. False if no process can be
 * started for that: then site_of finds nothing.
 */
bool sites_look_up(const std::vector<const void *> &instructions);

/* For functions that access memory for a kernel: inlined, so that the place is where they are called. */
#define CUDA_IN_LINE inline __attribute__((always_inline))

}  // namespace cpu

#endif
