#define _POSIX_C_SOURCE 200809L
#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGE = 1 << 18 };  // elements, more than a buffer holds
static const float zeros[LARGE];

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    return path;
}

static size_t content(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s is not there", path);
    const size_t found = fread(bytes, 1, size, file);
    fclose(file);
    return found;
}

static bool write_zeros(const char *path, size_t count, struct file_error *error)
{
    return npy_write(path, NPY_F4, 1, &count, zeros, error);
}

TEST(npy_write, writes_every_byte_as_np_save_does)
{
    static const char *const names[] = { "q", "key_mask", "scores" };
    static char before[800000], after[800000];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        struct npy array;
        struct file_error error;
        char source[100];
        snprintf(source, sizeof source, "common/data/%s.npy", names[k]);
        cr_assert(npy_read(source, &array, &error), "%s: %s", source, error.text);
        cr_assert(
            npy_write(path_of("y.npy"), array.type, array.dims, array.shape, array.data, &error),
            "%s", error.text);
        npy_free(&array);
        const size_t size = content(source, before, sizeof before);
        cr_assert(size < sizeof before, "%s is larger than thought", source);
        cr_assert(content(path_of("y.npy"), after, sizeof after) == size &&
                      memcmp(before, after, size) == 0,
                  "%s: not the same %zu bytes again", source, size);
    }
}

TEST(npy_write, writes_every_type)
{
    static const unsigned char data[48] = { 1, 0, 1, 0, 0, 1, 7, 8, 9, 10, 11, 12 };
    static const size_t sizes[] = {
        [NPY_F2] = 2, [NPY_F4] = 4, [NPY_F8] = 8, [NPY_B1] = 1, [NPY_U1] = 1
    };
    for (int type = NPY_F2; type <= NPY_U1; type++) {
        struct npy array;
        struct file_error error;
        cr_assert(npy_write(path_of("y.npy"), (enum npy_type)type, 3, (size_t[]){ 1, 3, 2 }, data,
                            &error) &&
                      npy_read(path_of("y.npy"), &array, &error),
                  "type %d: %s", type, error.text);
        cr_assert((int)array.type == type && array.dims == 3 && array.shape[1] == 3 &&
                      memcmp(array.data, data, 6 * sizes[type]) == 0,
                  "type %d: came back as type %d, or with other data", type, (int)array.type);
        npy_free(&array);
    }
}

TEST(npy_write, writes_headers_as_np_save_does)
{
    // NumPy 2's layout: the first dimension can grow to 21 digits, and data is aligned to 64.
    static const struct {
        enum npy_type type;
        int dims;
        size_t shape[8], padded;
        const char *text;
    } cases[] = {
        { NPY_F2, 1, { 3 }, 118, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }" },
        { NPY_B1,
          2,
          { 2, 164 },
          118,
          "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 164), }" },
        { NPY_F8,
          5,
          { 7, 1000000000, 1000000000, 1000000000, 10 },
          118,
          "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 1000000000, 1000000000, "
          "1000000000, 10), }" },
        { NPY_U1,
          5,
          { 7, 1000000000, 1000000000, 1000000000, 100 },
          182,
          "{'descr': '|u1', 'fortran_order': False, 'shape': (7, 1000000000, 1000000000, "
          "1000000000, 100), }" },
        { NPY_F4,
          8,
          { 1111111111111111111, 1111111111111111111, 1111111111111111111, 1111111111111111111,
            1111111111111111111, 1111111111111111111, 1111111111111111111, 1111111111111111111 },
          246,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1111111111111111111, "
          "1111111111111111111, 1111111111111111111, 1111111111111111111, 1111111111111111111, "
          "1111111111111111111, 1111111111111111111, 1111111111111111111), }" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct npy_file file;
        char right[NPY_FILE_HEADER];
        npy_file_of(&file, cases[k].type, cases[k].dims, cases[k].shape, NULL);
        const size_t length = file.pieces[0].size - 10;
        snprintf(right, sizeof right, "%-*s\n", (int)cases[k].padded - 1, cases[k].text);
        cr_assert(length == cases[k].padded && memcmp(file.header + 10, right, length) == 0,
                  "found %zu bytes: %.*s", length, (int)length, (const char *)file.header + 10);
        cr_assert(memcmp(file.header, "\x93NUMPY\1", 8) == 0 && file.header[8] == length &&
                      file.header[9] == 0,
                  "another beginning");
    }
}

TEST(npy_write, shows_shapes_as_python_does)
{
    static const struct {
        int dims;
        size_t shape[4], size;
        const char *text;
    } cases[] = {
        { 1, { 164 }, 50, "(164,)" },
        { 2, { 0, 7 }, 50, "(0, 7)" },
        { 4, { 2, 4, 164, 32 }, 50, "(2, 4, 164, 32)" },
        { 4, { 2, 4, 164, 32 }, 15, "(2, 4, 164, 32" },
        { 4, { 2, 4, 164, 32 }, 9, "(2, 4, 1" },
        { 4, { 2, 4, 164, 32 }, 1, "" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[100];
        cr_assert(npy_shape_text(cases[k].dims, cases[k].shape, text, cases[k].size) == text &&
                      strcmp(text, cases[k].text) == 0,
                  "found %s, expected %s", text, cases[k].text);
    }
}

TEST(npy_write, replaces_what_is_there)
{
    struct npy array;
    struct file_error error;
    struct stat there;
    cr_assert(chdir(command_folder()) == 0, "no folder");
    command_file("y.npy", "old", 3);
    command_file("target.npy", "old", 3);
    cr_assert(symlink("target.npy", "link.npy") == 0, "no link");
    cr_assert(write_zeros("y.npy", 5, &error), "%s", error.text);
    cr_assert(write_zeros("link.npy", LARGE, &error), "%s", error.text);
    cr_assert(npy_read("y.npy", &array, &error) && array.count == 5, "%s", error.text);
    npy_free(&array);
    cr_assert(npy_read("target.npy", &array, &error) && array.count == LARGE, "%s", error.text);
    npy_free(&array);
    cr_assert(lstat("link.npy", &there) == 0 && S_ISLNK(there.st_mode), "the link is gone");
    cr_assert(command_files() == 3, "left %d files", command_files());
}

/* write_zeros without root's rights: a bug would permanently replace the device. */
static bool write_zeros_as_anyone(const char *path, size_t count, struct file_error *error)
{
    const uid_t user = geteuid();
    cr_assert(user != 0 || seteuid(65534) == 0, "root for ever");
    const bool good = write_zeros(path, count, error);
    cr_assert(seteuid(user) == 0, "no way back");
    return good;
}

/* It fails with this message and leaves y.npy, unchanged, and nothing else. */
static void fails(const char *path, const char *message)
{
    struct file_error error = { "" };
    char there[20] = "";
    command_file("y.npy", "precious", 8);
    const bool device = strncmp(path, "/dev/", 5) == 0;
    cr_assert(!(device ? write_zeros_as_anyone : write_zeros)(path, LARGE, &error), "%s: wrote it",
              path);
    cr_assert(strcmp(error.text, message) == 0, "%s: said \"%s\"", path, error.text);
    cr_assert(content(path_of("y.npy"), there, 19) == 8 && strcmp(there, "precious") == 0,
              "%s: destroyed what was there", path);
    cr_assert(command_files() == 1, "%s: left %d files", path, command_files());
}

TEST(npy_write, fails_where_nothing_can_be_written)
{
    char path[300];
    fails("/dev/full", "expected to write all of it, found: No space left on device");
    snprintf(path, sizeof path, "%s/none/y.npy", command_folder());
    fails(path, "expected to write all of it, found: No such file or directory");
    fails(command_folder(), "expected to write all of it, found: Is a directory");
    snprintf(path, sizeof path, "%s/y.npy/y.npy", command_folder());
    fails(path, "expected to write all of it, found: Not a directory");
}

TEST(file, is_writable_where_it_can_be_written)
{
    char path[300];
    struct file_error error = { "" };
    static const struct {
        const char *name, *message;
    } cases[] = {
        { "none/y.npy", "expected a folder that can be written, found: No such file or directory" },
        { "y.npy/y.npy", "expected a folder that can be written, found: Not a directory" },
        { "", "expected a file to write, found: Is a directory" },
    };
    command_file("y.npy", "old", 3);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", command_folder(), cases[k].name);
        cr_assert(!file_writable(path, &error) && strcmp(error.text, cases[k].message) == 0,
                  "%s: said \"%s\"", path, error.text);
    }
    cr_assert(file_writable(path_of("y.npy"), &error) && file_writable(path_of("z.npy"), &error) &&
                  file_writable("/dev/null", &error) && file_writable("z.npy", &error),
              "%s", error.text);
    cr_assert(command_files() == 1, "left %d files", command_files());
}
