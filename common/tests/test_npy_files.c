/*
 * Reading .npy from where a program finds it: files, pipes, folders, nothing at all.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INSTRUMENTED_MEMORY
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define INSTRUMENTED_MEMORY
#endif

static const char small[] = "\x93NUMPY\1\0"
                            "\x3A\0"
                            "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n"
                            "1234";
enum { SMALL = sizeof small - 1 };

TEST(npy, reads_data_larger_than_its_first_room)
{
    enum { COUNT = 70001 };  // of float32: more than four times the room it starts with
    static float data[COUNT];
    struct npy array;
    struct file_error error;
    char path[300];
    for (size_t i = 0; i < COUNT; i++)
        data[i] = (float)i;
    snprintf(path, sizeof path, "%s/x.npy", command_folder());
    cr_assert(npy_write(path, NPY_F4, 1, (size_t[]){ COUNT }, data, &error), "%s", error.text);
    cr_assert(npy_read(path, &array, &error), "%s", error.text);
    cr_assert(array.count == COUNT && memcmp(array.data, data, sizeof data) == 0,
              "%zu elements, not the same", array.count);
    npy_free(&array);
}

TEST(npy, reads_parts_of_a_file)
{
    const double data[6] = { 0, 1, 2, 3, 4, 5 };
    double got[3];
    struct npy_parts parts;
    struct file_error error;
    char path[300];
    snprintf(path, sizeof path, "%s/x.npy", command_folder());
    cr_assert(npy_write(path, NPY_F8, 2, (size_t[]){ 2, 3 }, data, &error), "%s", error.text);
    cr_assert(npy_parts_open(path, &parts, &error), "%s", error.text);
    cr_assert(parts.array.dims == 2 && parts.array.count == 6 && !parts.array.data);
    for (size_t first = 4; first-- > 0;) {
        cr_assert(npy_parts_read(&parts, first, 3, got, &error), "%s", error.text);
        cr_assert(memcmp(got, data + first, sizeof got) == 0, "another part than from %zu on",
                  first);
    }
    cr_assert(!npy_parts_read(&parts, 4, 3, got, &error));
    cr_assert(strstr(error.text, "expected 3 elements from the 4th on, found 2"), "%s", error.text);
    npy_parts_close(&parts);
}

TEST(npy, opens_for_parts_only_what_is_whole)
{
    struct npy_parts parts;
    struct file_error error;
    char path[300];
    snprintf(path, sizeof path, "%s/x.npy", command_folder());
    for (int more = -1; more <= 1; more += 2) {
        command_file("x.npy", small, (unsigned)(SMALL + more));
        cr_assert(!npy_parts_open(path, &parts, &error) && !parts.file);
        cr_assert(strstr(error.text, more < 0 ? "expected 4 bytes of data, found 3"
                                              : "expected 4 bytes of data, found 5"),
                  "%s", error.text);
    }
    cr_assert(!npy_parts_open(command_folder(), &parts, &error) && !parts.file);
    cr_assert(!npy_parts_open("/dev/null", &parts, &error) && !parts.file);
}

/* The reading end of a pipe that holds `size` bytes, after which it ends, or else fails. */
static int pipe_of(const char *bytes, size_t size, bool ends)
{
    int end[2];
    cr_assert(pipe(end) == 0 && write(end[1], bytes, size) == (ssize_t)size, "no pipe");
    if (ends)
        close(end[1]);
    else
        cr_assert(fcntl(end[0], F_SETFL, O_NONBLOCK) == 0, "no pipe that does not wait");
    return end[0];
}

TEST(npy, reads_from_a_pipe)
{
    char path[100];
    struct npy array;
    struct file_error error;
    snprintf(path, sizeof path, "/dev/fd/%d", pipe_of(small, SMALL, true));
    cr_assert(npy_read(path, &array, &error), "%s", error.text);
    cr_assert(array.count == 4 && memcmp(array.data, "1234", 4) == 0, "other data");
    npy_free(&array);

    snprintf(path, sizeof path, "/dev/fd/%d", pipe_of(small, SMALL + 1, true));
    cr_assert(!npy_read(path, &array, &error), "took one byte too many");
    cr_assert(strcmp(error.text, "expected 4 bytes of data, found more than that") == 0,
              "said \"%s\"", error.text);
}

TEST(npy, says_so_when_reading_fails_halfway)
{
    for (size_t size = 0; size <= SMALL; size++) {
        struct npy array;
        struct file_error error = { "" };
        FILE *file = fdopen(pipe_of(small, size, false), "rb");
        const bool good = npy_read_stream(file, &array, &error);
        cr_assert(!good && !array.data &&
                      strstr(error.text, "expected a file that can be read, found: Resource"),
                  "after %zu bytes: said \"%s\"", size, error.text);
        fclose(file);
    }
}

/* Reading what is called `name` gives this message. */
static void refuses_file(const char *name, const char *message)
{
    char path[300];
    struct npy array;
    struct file_error error = { "" };
    snprintf(path, sizeof path, "%s%s", strncmp(name, "/dev", 4) ? command_folder() : "", name);
    cr_assert(!npy_read(path, &array, &error) && !array.data, "read %s", path);
    cr_assert(strcmp(error.text, message) == 0, "%s: said \"%s\"", path, error.text);
}

TEST(npy, refuses_what_is_no_file_that_can_be_read)
{
    refuses_file("/dev/null", "expected a .npy file, found an empty file");
    refuses_file("/none", "expected a file that can be read, found: No such file or directory");
    refuses_file("", "expected a file that can be read, found: Is a directory");
    command_file("x.npy", "x", 1);
    refuses_file("/x.npy/x.npy", "expected a file that can be read, found: Not a directory");
    const uid_t user = geteuid();
    char path[300];
    snprintf(path, sizeof path, "%s/x.npy", command_folder());
    cr_assert(chmod(path, 0) == 0 && (user != 0 || seteuid(65534) == 0), "no file to refuse");
    refuses_file("/x.npy", "expected a file that can be read, found: Permission denied");
    cr_assert(seteuid(user) == 0, "no way back");
}

TEST(npy, says_so_when_there_is_not_enough_memory)
{
// The sanitizer needs more than any limit leaves it, and on macOS every program has more from its beginning.
#if !defined(INSTRUMENTED_MEMORY) && !defined(__APPLE__)
    enum { COUNT = 1 << 28 };
    static const char image[] = "\x93NUMPY\1\0"
                                "\x41\0"
                                "{'descr': '|u1', 'fortran_order': False, 'shape': (268435456,), }";
    struct npy array;
    struct file_error error = { "" };
    struct rlimit before, little;
    char path[300];
    snprintf(path, sizeof path, "%s/x.npy", command_folder());
    command_file("x.npy", image, sizeof image - 1);
    cr_assert(truncate(path, (off_t)sizeof image - 1 + COUNT) == 0, "no long file");
    cr_assert(getrlimit(RLIMIT_AS, &before) == 0, "no limit to change");
    little = before;
    little.rlim_cur = 1 << 25;
    cr_assert(setrlimit(RLIMIT_AS, &little) == 0, "no limit");
    const bool good = npy_read(path, &array, &error);
    cr_assert(setrlimit(RLIMIT_AS, &before) == 0, "no way back");
    cr_assert(!good && !array.data, "read %d bytes into less memory", COUNT);
    cr_assert(strcmp(error.text, "expected memory for 268435456 bytes of data, found too little") ==
                  0,
              "said \"%s\"", error.text);
#endif
}
