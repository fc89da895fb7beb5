/*
 * A machine that fails, for a program that is started with LD_PRELOAD=build/faults.so (Linux and the GNU library):
 *
 *     FAULT=write:3       the third write fails; also alloc, open, fsync, rename, close, ftruncate, link, thread; short:3
 *                         writes half of what it is given
 *     FAULT_SIGNAL=15     instead this signal is sent to the process, and the call is made
 *     FAULT_FIRED=FILE    is made when it has happened
 *     FAULT_NAMED=1       no file can be opened that has no name yet, as on some file systems
 *
 * What the program starts itself is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static char kind[16], fired[4096];
static long wanted, count;
static int number, named, armed = 1;

/* With FAULT_ARM set calls count only from faults_arm(1) on, which an interpreter makes when it is itself ready. */
void faults_arm(int on)
{
    armed = on;
}

static const char *setting(const char *name)
{
    const char *const value = getenv(name);
    return value ? value : "";
}

__attribute__((constructor)) static void begin(void)
{
    const char *const fault = setting("FAULT"), *const at = strchr(fault, ':');
    unsetenv("LD_PRELOAD");
    armed = !*setting("FAULT_ARM");
    named = *setting("FAULT_NAMED") != '\0';
    number = (int)strtol(setting("FAULT_SIGNAL"), NULL, 10);
    snprintf(fired, sizeof fired, "%s", setting("FAULT_FIRED"));
    if (at && at - fault < (long)sizeof kind) {
        memcpy(kind, fault, (size_t)(at - fault));
        wanted = strtol(at + 1, NULL, 10);
    }
}

/* Is this the call that is to fail? A signal comes instead of the failure. */
static int fails(const char *call, int error)
{
    if (!armed || wanted == 0 || strcmp(call, kind) != 0 ||
        __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != wanted)
        return 0;
    if (*fired)
        syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, fired, O_WRONLY | O_CREAT, 0600));
    if (number) {
        kill(getpid(), number);
        return 0;
    }
    errno = error;
    return 1;
}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): of the library's own headers
void *malloc(size_t size)
{
    return fails("alloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails("alloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails("alloc", ENOMEM) ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails("alloc", ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    if (fails("alloc", ENOMEM))
        return ENOMEM;
    *p = __libc_memalign(alignment, size);
    return *p ? 0 : ENOMEM;
}

ssize_t write(int file, const void *from, size_t size)
{
    if (fails("write", ENOSPC))
        return -1;
    return syscall(SYS_write, file, from, fails("short", 0) ? (size + 1) / 2 : size);
}

int fsync(int file)
{
    return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, file);
}

int ftruncate(int file, off_t size)
{
    return fails("ftruncate", EIO) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}

int close(int file)
{
    const int done = (int)syscall(SYS_close, file);
    return fails("close", EIO) ? -1 : done;
}

int rename(const char *from, const char *to)
{
    return fails("rename", EACCES) ? -1
                                   : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails("link", ENOSPC)
               ? -1
               : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const int mode = va_arg(more, int);
    va_end(more);
    const int unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    errno = EOPNOTSUPP;
    return (named && unnamed) || fails("open", EMFILE)
               ? -1
               : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *how)
{
    FILE *(*const real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return fails("open", EMFILE) ? NULL : real(path, how);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *with)
{
    int (*const real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    return fails("thread", EAGAIN) ? EAGAIN : real(thread, attributes, run, with);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
