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

static inline bool same_text(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

static inline bool same_site(site a, site b)
{
    return a.line == b.line && same_text(a.file, b.file);
}

/* The kernel's line, also of inlined emulator functions; 0 if unknown. Slow, but cached. */
site site_of(const void *instruction);

/*
 * Fills site_of's cache: hundreds take as long as one. False if no process could be started; then
 * lines are unknown.
 */
bool sites_look_up(const std::vector<const void *> &instructions);

/* Inlined, so that site_of finds the caller's line. */
#define CUDA_IN_LINE inline __attribute__((always_inline))

}  // namespace cpu

#endif
