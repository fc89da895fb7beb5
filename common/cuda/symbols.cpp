#include "site.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

namespace cpu
{

/* A path below the folder that we are in is shown from there on. */
static const char *without_folder(const char *path)
{
    char folder[500];
    if (!getcwd(folder, sizeof folder))
        return path;
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/* This folder's, or a header of the system, which may have been inlined into either. */
static bool is_no_kernels(const char *path)
{
    if (without_folder(path) == path && strstr(path, "/include/"))
        return true;
    return strstr(path, "common/cuda/") && !strstr(path, "common/cuda/tests/");
}

/* "fa2.cu:71" or "fa2.cu:71 (discriminator 2)", innermost first: the first that is a kernel's. */
static site parse(FILE *lines)
{
    char text[600];
    site found = { "?", 0 };
    while (fgets(text, sizeof text, lines)) {
        char *colon = strrchr(text, ':');
        if (!colon || is_no_kernels(text))
            continue;
        *colon = '\0';
        const int line = int(strtol(colon + 1, nullptr, 10));
        if (line > 0 && found.line == 0)
            found = { strdup(without_folder(text)), line };  // kept as long as the program runs
    }
    return found;
}

/* The file that the program is in. */
static const char *program(const char *named)
{
    static char path[1000];
    const ssize_t length = *path ? 0 : readlink("/proc/self/exe", path, sizeof path - 1);
    return *path || length > 0 ? path : named;  // where there is no /proc, as it was called
}

static site ask(const void *instruction)
{
    Dl_info info;
    if (!dladdr(instruction, &info))
        return { "?", 0 };
    char command[1200];
    const char *const at =
        static_cast<const char *>(instruction) - 1;  // in the call, not behind it
#ifdef __APPLE__
    snprintf(command, sizeof command, "atos -i -fullPath -o '%s' -l %p %p 2>/dev/null",
             info.dli_fname, info.dli_fbase, static_cast<const void *>(at));
#else
    snprintf(command, sizeof command, "addr2line -i -e '%s' %#zx 2>/dev/null",
             program(info.dli_fname), size_t(at - static_cast<const char *>(info.dli_fbase)));
#endif
    FILE *lines = popen(command, "r");
    if (!lines)
        return { "?", 0 };
    const site found = parse(lines);
    pclose(lines);
    return found;
}

site site_of(const void *instruction)
{
    static auto *known = new std::map<const void *, site>;
    static std::mutex asking;
    const std::lock_guard<std::mutex> lock(asking);
    const auto [place, is_new] = known->try_emplace(instruction, site{ "?", 0 });
    if (is_new)
        place->second = ask(instruction);
    return place->second;
}

}  // namespace cpu
