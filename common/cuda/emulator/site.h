/* A place in the source. */
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

/* Compares pointers first: usually they are the same. */
static inline bool same_text(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

static inline bool same_site(site a, site b)
{
    return a.line == b.line && same_text(a.file, b.file);
}

/*
 * The line of an instruction in the kernel's source, also if emulator functions were inlined there;
 * line 0 if unknown. The first call per instruction is slow; results are cached.
 */
site site_of(const void *instruction);

/*
 * Looks up many instructions for site_of at once: hundreds take as long as one. False if no process
 * could be started; site_of then finds nothing.
 */
bool sites_look_up(const std::vector<const void *> &instructions);

/*
 * For functions that access memory for a kernel: inlined, so that site_of finds the caller's line.
 */
#define CUDA_IN_LINE inline __attribute__((always_inline))

}  // namespace cpu

#endif
