#include "common/cuda/emulator/diagnostics/diagnose.h"
#include "common/cuda/emulator/site.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#ifdef __linux__
#include <sys/auxv.h>
#endif
#include <unistd.h>
#include <vector>

namespace cpu
{

static const site nowhere = { "?", 0 };

/* Relative, if below the current folder. */
static const char *without_folder(const char *path)
{
    char folder[500];
    if (!getcwd(folder, sizeof folder))
        return path;
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/*
 * Emulator files and system headers may be inlined into a kernel, and a watch may stop it in the
 * functions that count its accesses.
 */
static bool is_no_kernels(const char *path)
{
    if (without_folder(path) == path && strstr(path, "/include/"))
        return true;
    return strstr(path, "common/measure/") ||
           (strstr(path, "common/cuda/") && !strstr(path, "common/cuda/tests/"));
}

/* "fa2.cu:71" or "fa2.cu:71 (discriminator 2)" */
static site parse(char *text)
{
    char *colon = strrchr(text, ':');
    if (!colon || is_no_kernels(text))
        return nowhere;
    *colon = '\0';
    const int line = int(strtol(colon + 1, nullptr, 10));
    if (line <= 0)
        return nowhere;
    const char *const kept = strdup(without_folder(text));  // never freed
    if (!kept)
        machine_lacks("memory for a line's place");
    return { kept, line };
}

/* dli_fname is a library's path, but the program's argv[0]. */
static const char *path_of(const Dl_info &file)
{
#ifdef __linux__
    static char path[1000];
    Dl_info main;
    const bool is_program = dladdr(reinterpret_cast<const void *>(getauxval(AT_ENTRY)), &main) &&
                            main.dli_fbase == file.dli_fbase;
    if (is_program && (*path || readlink("/proc/self/exe", path, sizeof path - 1) > 0))
        return path;
#endif
    return file.dli_fname;
}

/*
 * addr2line's start takes most of the time, so we ask for many. atos does not mark where an answer
 * begins.
 */
#ifdef __APPLE__
enum { AT_ONCE = 1 };
#else
enum { AT_ONCE = 500 };
#endif

static std::string question(const Dl_info &file, const void *const *instructions, size_t count)
{
    char words[1200];
#ifdef __APPLE__
    snprintf(words, sizeof words, "atos -i -fullPath -o '%s' -l %p", file.dli_fname,
             file.dli_fbase);
#else
    snprintf(words, sizeof words, "addr2line -a -i -e '%s'", path_of(file));
#endif
    std::string question = words;
    for (size_t n = 0; n < count; n++) {
        const char *const at = static_cast<const char *>(instructions[n]) - 1;  // before the return
                                                                                // address
#ifdef __APPLE__
        snprintf(words, sizeof words, " %p", static_cast<const void *>(at));
#else
        snprintf(words, sizeof words, " %#zx",
                 size_t(at - static_cast<const char *>(file.dli_fbase)));
#endif
        question += words;
    }
    return question + " 2>/dev/null";
}

/* Never destroyed: errors may be reported at exit. */
static std::map<const void *, site> &known()
{
    static auto *sites = new std::map<const void *, site>;
    return *sites;
}

/*
 * addr2line prints the address, then a line per inlined function, innermost first; we take the
 * kernel's first. False if no process could be started.
 */
static bool ask(const Dl_info &file, const void *const *instructions, size_t count)
{
    FILE *answers = popen(question(file, instructions, count).c_str(), "r");
    if (!answers)
        return false;
    char text[600];
    size_t begun = AT_ONCE == 1 ? 1 : 0;
    while (fgets(text, sizeof text, answers)) {
        if (AT_ONCE > 1 && strncmp(text, "0x", 2) == 0)
            begun++;
        else if (begun > 0 && begun <= count) {
            site *found = &known()[instructions[begun - 1]];
            if (found->line == 0)
                *found = parse(text);
        }
    }
    pclose(answers);
    return true;
}

static std::mutex asking;

bool sites_look_up(const std::vector<const void *> &instructions)
{
    bool asked = true;
    const std::lock_guard<std::mutex> lock(asking);
    std::map<void *, std::vector<const void *>> unknown;
    Dl_info file;
    for (const void *instruction : instructions)
        if (known().try_emplace(instruction, nowhere).second && dladdr(instruction, &file))
            unknown[file.dli_fbase].push_back(instruction);
    for (const auto &[begins, of_file] : unknown)
        for (size_t n = 0; n < of_file.size() && dladdr(of_file[n], &file); n += AT_ONCE)
            asked &= ask(file, &of_file[n], std::min(of_file.size() - n, size_t(AT_ONCE)));
    return asked;
}

site site_of(const void *instruction)
{
    sites_look_up({ instruction });
    const std::lock_guard<std::mutex> lock(asking);
    return known().at(instruction);
}

}  // namespace cpu
