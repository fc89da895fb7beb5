#define _POSIX_C_SOURCE 200809L
#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdint.h>
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

#define HEADER(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
#define F4(shape) HEADER("'<f4'", "False", shape)

struct image {
    unsigned char bytes[16000];
    size_t size;
};

/* A file of version `major`.0 whose header claims `said` bytes. */
static struct image lying_image(int major, const char *header, size_t said, const void *data,
                                size_t size)
{
    struct image image = { .bytes = { 0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major } };
    image.size = 8;
    for (int k = 0; k < (major == 1 ? 2 : 4); k++)
        image.bytes[image.size++] = (unsigned char)(said >> 8 * k);
    memcpy(image.bytes + image.size, header, strlen(header));
    image.size += strlen(header);
    memcpy(image.bytes + image.size, data, size);
    image.size += size;
    return image;
}

static struct image image_of(int major, const char *header, const void *data, size_t size)
{
    return lying_image(major, header, strlen(header), data, size);
}

static bool read_image(const struct image *image, struct npy *array, struct file_error *error)
{
    FILE *file = fmemopen((void *)(uintptr_t)image->bytes, image->size, "rb");
    cr_assert(file, "no stream of %zu bytes", image->size);
    const bool good = npy_read_stream(file, array, error);
    cr_assert(good || !array->data, "left something to free");
    fclose(file);
    return good;
}

static void accepts(struct image image)
{
    struct npy array;
    struct file_error error;
    cr_assert(read_image(&image, &array, &error), "refused version %d, %.99s: %s", image.bytes[6],
              (char *)image.bytes + 10, error.text);
    npy_free(&array);
}

static void refuses(struct image image, const char *message)
{
    struct npy array;
    struct file_error error = { "" };
    cr_assert(!read_image(&image, &array, &error), "accepted what should give: %s", message);
    cr_assert(strcmp(error.text, message) == 0, "said \"%s\" instead of \"%s\"", error.text,
              message);
}

TEST(npy, reads_every_type_in_every_version)
{
    static const struct {
        enum npy_type type;
        const char *header;
        size_t size;
    } types[] = {
        { NPY_F2, HEADER("'<f2'", "False", "(2, 3)"), 2 },
        { NPY_F4, HEADER("'<f4'", "False", "(2, 3)"), 4 },
        { NPY_F8, HEADER("'<f8'", "False", "(2, 3)"), 8 },
        { NPY_B1, HEADER("'|b1'", "False", "(2, 3)"), 1 },
        { NPY_U1, HEADER("'|u1'", "False", "(2, 3)"), 1 },
        { NPY_V2, HEADER("'<V2'", "False", "(2, 3)"), 2 },
        { NPY_V2, HEADER("'|V2'", "False", "(2, 3)"), 2 },
    };
    unsigned char data[48];
    for (int major = 1; major <= 3; major++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            for (size_t k = 0; k < sizeof data; k++)
                data[k] = (unsigned char)(types[t].type == NPY_B1   ? k % 2
                                          : types[t].type == NPY_F8 ? k % 8 == 7 ? 0x3f : k
                                                                    : 3 * k + 1);
            const struct image image = image_of(major, types[t].header, data, 6 * types[t].size);
            struct npy array;
            struct file_error error;
            cr_assert(read_image(&image, &array, &error), "version %d, %s: %s", major,
                      types[t].header, error.text);
            cr_assert(array.type == types[t].type && array.dims == 2 && array.shape[0] == 2 &&
                          array.shape[1] == 3 && array.count == 6,
                      "version %d, %s: type %d, %d dimensions, %zu elements", major,
                      types[t].header, (int)array.type, array.dims, array.count);
            cr_assert(memcmp(array.data, data, 6 * types[t].size) == 0, "%s: other data",
                      types[t].header);
            npy_free(&array);
        }
}

TEST(npy, refuses_numbers_that_float32_cannot_hold)
{
    const double data[2] = { 1.0, -1e39 };
    const struct image image =
        image_of(1, HEADER("'<f8'", "False", "(2,)"), (const unsigned char *)data, sizeof data);
    struct npy array;
    struct file_error error;
    cr_assert(!read_image(&image, &array, &error), "-1e39 was read");
    cr_assert(
        strcmp(error.text, "expected numbers that float32 holds, found -1e+39 at element 1") == 0,
        "it said: %s", error.text);
}

TEST(npy, takes_keys_in_any_order_and_any_blanks)
{
    static const struct {
        const char *header;
        int dims;
        size_t shape[NPY_MAX_DIMS];
    } cases[] = {
        { "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}", 2, { 2, 3 } },
        { "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}", 2, { 2, 3 } },
        { "{ 'fortran_order' : False ,\n'descr' : '<f4' ,'shape' :( 2 , 3 , ) , } \n\n",
          2,
          { 2, 3 } },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }          \n", 1, { 6 } },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1, 3, 1, 1, 1, 1), }",
          8,
          { 1, 2, 1, 3, 1, 1, 1, 1 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct npy array;
        struct file_error error;
        const struct image image = image_of(1, cases[k].header, "123456781234567812345678", 24);
        cr_assert(read_image(&image, &array, &error), "%s: %s", cases[k].header, error.text);
        cr_assert(array.type == NPY_F4 && array.dims == cases[k].dims && array.count == 6 &&
                      memcmp(array.shape, cases[k].shape, sizeof array.shape) == 0,
                  "%s: found type %d, %d dimensions, %zu elements", cases[k].header,
                  (int)array.type, array.dims, array.count);
        npy_free(&array);
    }
}

TEST(npy, refuses_each_other_type_by_name)
{
    static const char *const types[] = { ">f4", ">f8",     "<i8",  "|i1",  "<u2", "<f16",
                                         "<c8", "|S5",     "<U7",  "|O",   "=f4", "|f4",
                                         "<V4", "<M8[ns]", "f4",   "<b1",  "<f",  "<f44",
                                         "<",   "<f    4", "<f4x", "<f40", "<F4", "u1" };
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        char header[200], message[240];
        snprintf(header, sizeof header, HEADER("'%s'", "False", "(6,)"), types[k]);
        snprintf(message, sizeof message,
                 "expected little-endian float16, float32, float64 ('<f2', '<f4', '<f8'), bool "
                 "('|b1') or uint8 ('|u1'), found '%s'",
                 types[k]);
        refuses(image_of(1, header, "", 0), message);
    }
    refuses(image_of(1, HEADER("'<f4'", "True", "(6,)"), "", 0),
            "expected C order (row after row), found fortran_order: True");
}

TEST(npy, refuses_shapes_that_are_none)
{
    static const char *const shapes[] = {
        "()",         "(6)",      "(-6,)",        "(+6,)",    "(06,)",
        "(,)",        "(2,,3)",   "(True, 6)",    "(2 3)",    "(6L,)",
        "(6.0,)",     "(6, [3])", "(6,;3)",       "(6, 3",    "(1, 1, 1, 1, 1, 1, 1, 1, 6)",
        "(1e3, 2, 3", "(0x6,)",   "(None, 2, 3)", "(6\t, 2)", "(18446744073709551617, 6)",
    };
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        char header[200];
        struct npy array;
        struct file_error error = { "" };
        snprintf(header, sizeof header, F4("%s"), shapes[k]);
        const struct image image = image_of(1, header, "", 0);
        const char *const expected = strchr(shapes[k], '\t')
                                         ? "expected a header of plain text, found the byte 0x09"
                                         : "expected a shape of 1 to 8 dimensions, like (2, 3) or "
                                           "(6,), found \"(";
        cr_assert(!read_image(&image, &array, &error), "accepted %s", shapes[k]);
        cr_assert(strncmp(error.text, expected, strlen(expected)) == 0, "%s: said \"%s\"",
                  shapes[k], error.text);
    }
    refuses(image_of(1, F4("(6)"), "", 0),
            "expected a shape of 1 to 8 dimensions, like (2, 3) or (6,), found \"(6), }\"");
    refuses(image_of(1, F4("(0,)"), "", 0), "expected at least one element, found the shape (0,)");
    refuses(image_of(1, F4("(9999999999, 9999999999, 0)"), "", 0),
            "expected at least one element, found the shape (9999999999, 9999999999, 0)");
    refuses(image_of(1, F4("(4294967296, 4294967296)"), "", 0),
            "expected an array that fits in memory, found the shape (4294967296, 4294967296)");
    refuses(image_of(1, F4("(2305843009213693952,)"), "", 0),
            "expected an array that fits in memory, found the shape (2305843009213693952,)");
    refuses(image_of(1, F4("(9223372036854775808, 2)"), "", 0),
            "expected an array that fits in memory, found the shape (9223372036854775808, 2)");
}

TEST(npy, refuses_what_is_no_such_dictionary)
{
    static const struct {
        const char *header, *from;
    } cases[] = {
        { "", "" },
        { " \n", " " },
        { "('descr', '<f4')", "('descr', '<f4')" },
        { "{", "" },
        { "{}", "" },
        { "{, }", " }" },
        { HEADER("[('a', '<f4')]", "False", "(6,)"),
          "'descr': [('a', '<f4')], 'fortran_order': False, '" },
        { HEADER("4", "False", "(6,)"), "'descr': 4, 'fortran_order': False, 'shape': (6,)," },
        { HEADER("''", "False", "(6,)"), "'descr': '', 'fortran_order': False, 'shape': (6,)" },
        { HEADER("'a name that is far too long for a type'", "False", "(6,)"),
          "'descr': 'a name that is far too long for a type'," },
        { HEADER("'<f4'", "0", "(6,)"), " 'fortran_order': 0, 'shape': (6,), }" },
        { HEADER("'<f4'", "Falsehood", "(6,)"), "hood, 'shape': (6,), }" },
        { HEADER("'<f4'", "False", "6"), " 'shape': 6, }" },
        { HEADER("'<f4'", "False", "[6]"), " 'shape': [6], }" },
        { "{'fortran_order': False, 'shape': (6,)}", "" },
        { "{'descr': '<f4', 'shape': (6,)}", "" },
        { "{'descr': '<f4', 'fortran_order': False}", "" },
        { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False}",
          " 'descr': '<f4', 'fortran_order': False}" },
        { "{'shape': (6,), 'shape': (6,), 'descr': '<f4'}", " 'shape': (6,), 'descr': '<f4'}" },
        { "{'x': 1}", "'x': 1}" },
        { "{'shapes': (6,)}", "'shapes': (6,)}" },
        { "{u'shape': (6,)}", "u'shape': (6,)}" },
        { "{'sh\\x61pe': (6,)}", "'sh\\x61pe': (6,)}" },
        { "{'shape' (6,)}", "'shape' (6,)}" },
        { "{'shape': (6,); }", "; }" },
        { "{'shape': (6,) 'descr': '<f4'}", " 'descr': '<f4'}" },
        { "{'shape': (6,)", "" },
        { "{'shape': (6,),, 'descr': '<f4'}", " 'descr': '<f4'}" },
        { F4("(6,)") "and so on", " }" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char message[240];
        struct npy array;
        struct file_error error = { "" };
        const struct image image = image_of(2, cases[k].header, "", 0);
        snprintf(message, sizeof message,
                 "expected a header like {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "
                 "}, found \"%s",
                 cases[k].from);
        cr_assert(!read_image(&image, &array, &error), "accepted %s", cases[k].header);
        cr_assert(strncmp(error.text, message, strlen(message)) == 0,
                  "%s: said \"%s\" instead of \"%s\"", cases[k].header, error.text, message);
    }
}

TEST(npy, refuses_bytes_that_are_no_text)
{
    static const unsigned char bytes[] = { 0x00, 0x01, 0x07, 0x09, 0x0D, 0x1B,
                                           0x1F, 0x7F, 0x80, 0x9B, 0xC3, 0xFF };
    char header[] = F4("(6,)"), message[100];
    for (size_t k = 0; k < sizeof bytes; k++) {
        struct image image = image_of(3, header, "", 0);
        image.bytes[12 + 12] = bytes[k];  // in the type
        snprintf(message, sizeof message, "expected a header of plain text, found the byte 0x%02X",
                 bytes[k]);
        refuses(image, message);
    }
}

TEST(npy, refuses_a_header_length_that_lies)
{
    const float data[6] = { 1, 2, 3, 4, 5, 6 };
    const char *const header = F4("(6,)");
    const size_t length = strlen(header);
    refuses(lying_image(1, header, length - 1, data, sizeof data),
            "expected 24 bytes of data, found 25");
    refuses(lying_image(1, header, length + 24, "                        ", 24),
            "expected 24 bytes of data, found 0");
    refuses(lying_image(1, header, length + 4, data, sizeof data),
            "expected a header of plain text, found the byte 0x00");
    refuses(lying_image(1, header, length + 25, data, sizeof data),
            "expected a header of 83 bytes, found 82");
    refuses(lying_image(1, header, 65535, data, sizeof data),
            "expected a header of at most 10000 bytes, found 65535");
    refuses(lying_image(2, header, 0xFFFFFFFF, data, sizeof data),
            "expected a header of at most 10000 bytes, found 4294967295");
    refuses(lying_image(3, header, 0x1000000 + length, data, sizeof data),
            "expected a header of at most 10000 bytes, found 16777274");
}

TEST(npy, takes_headers_of_up_to_10000_bytes)
{
    char header[10002];
    memset(header, ' ', sizeof header);
    memcpy(header, F4("(1,)"), strlen(F4("(1,)")));
    header[10000] = '\0';
    accepts(image_of(1, header, "1234", 4));
    header[10000] = ' ';
    header[10001] = '\0';
    refuses(image_of(1, header, "1234", 4),
            "expected a header of at most 10000 bytes, found 10001");
}

TEST(npy, refuses_what_is_no_npy_file)
{
    struct image image = image_of(1, F4("(1,)"), "1234", 4);
    static const unsigned char versions[][2] = { { 0, 0 }, { 4, 0 }, { 1, 1 }, { 255, 0 } };
    for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++) {
        char message[100];
        memcpy(image.bytes + 6, versions[k], 2);
        snprintf(message, sizeof message,
                 "expected version 1.0, 2.0 or 3.0 of the format, found %d.%d", versions[k][0],
                 versions[k][1]);
        refuses(image, message);
    }
    for (size_t k = 0; k < 6; k++) {
        image = image_of(1, F4("(1,)"), "1234", 4);
        image.bytes[k] ^= 0x20;
        refuses(image, "expected a .npy file, found something else");
    }
    refuses((struct image){ "PK\3\4\24\0\0\0\0\0\0\0", 12 },
            "expected a .npy file, found a zip archive, as .npz files are");
    refuses((struct image){ "hello", 5 }, "expected a .npy file, found something else");
}

TEST(npy, refuses_every_file_that_is_cut_off_or_too_long)
{
    const float data[6] = { 1, 2, 3, 4, 5, 6 };
    for (int major = 1; major <= 2; major++) {
        const char *const header = F4("(2, 3)");
        const size_t length = strlen(header), before = major == 1 ? 10 : 12;
        struct image whole = image_of(major, header, data, sizeof data);
        for (size_t size = 1; size <= whole.size + 1; size++) {
            struct image cut = whole;
            char message[100] = "expected a .npy file, found something else";
            cut.size = size;
            if (size == whole.size)
                continue;
            if (size >= before + length)
                snprintf(message, sizeof message, "expected 24 bytes of data, found %zu",
                         size - before - length);
            else if (size >= before)
                snprintf(message, sizeof message, "expected a header of %zu bytes, found %zu",
                         length, size - before);
            else if (size >= 10)
                strcpy(message, "expected a header, found the end of the file");
            refuses(cut, message);
        }
    }
}

TEST(npy, believes_no_promise_of_terabytes)
{
    refuses(image_of(1, F4("(1099511627776, 1000)"), "1234", 4),
            "expected 4398046511104000 bytes of data, found 4");
    refuses(image_of(1, F4("(2305843009213693951,)"), "1234", 4),
            "expected 9223372036854775804 bytes of data, found 4");
}

TEST(npy, refuses_bools_that_are_neither)
{
    const char *const bools = HEADER("'|b1'", "False", "(2, 3)");
    accepts(image_of(1, bools, "\1\0\1\0\0\1", 6));
    refuses(image_of(1, bools, "\1\0\1\0\0\2", 6),
            "expected bools that are 0 or 1, found 2 at element 5");
    refuses(image_of(1, bools, "\377\0\1\0\0\1", 6),
            "expected bools that are 0 or 1, found 255 at element 0");
}

TEST(npy, survives_any_byte_in_any_place)
{
    const float data[2] = { 1, 2 };
    const struct image good = image_of(1, F4("(2, 1)"), data, sizeof data);
    for (size_t k = 0; k < good.size; k++)
        for (int byte = 0; byte < 256; byte++) {
            struct image image = good;
            struct npy array;
            struct file_error error = { "" };
            char line[sizeof error.text + 1];
            image.bytes[k] = (unsigned char)byte;
            const bool taken = read_image(&image, &array, &error);
            snprintf(line, sizeof line, "%s\n", error.text);
            cr_assert(taken || (is_one_line_with(line, ", found") && line[0] == 'e'),
                      "byte %d at %zu: said \"%s\"", byte, k, error.text);
            cr_assert(!taken || (array.count == 2 && array.type == NPY_F4),
                      "byte %d at %zu: %zu elements of type %d", byte, k, array.count,
                      (int)array.type);
            npy_free(&array);
        }
}

// ---- where a program finds it -------------------------------------------------------------------

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", *name == '/' ? "" : command_folder(), name);
    return path;
}

static void refuses_file(const char *name, const char *message)
{
    struct npy array;
    struct file_error error = { "" };
    const char *const path = path_of(name);
    cr_assert(!npy_read(path, &array, &error) && !array.data, "read %s", path);
    cr_assert(strcmp(error.text, message) == 0, "%s: said \"%s\"", path, error.text);
}

TEST(npy, refuses_what_is_no_file_that_can_be_read)
{
    refuses_file("/dev/null", "expected a .npy file, found an empty file");
    refuses_file("none", "expected a file that can be read, found: No such file or directory");
    refuses_file("", "expected a file that can be read, found: Is a directory");
    command_file("x.npy", "x", 1);
    refuses_file("x.npy/x.npy", "expected a file that can be read, found: Not a directory");
    const uid_t user = geteuid();
    cr_assert(chmod(path_of("x.npy"), 0) == 0 && (user != 0 || seteuid(65534) == 0),
              "no file to refuse");
    refuses_file("x.npy", "expected a file that can be read, found: Permission denied");
    cr_assert(seteuid(user) == 0, "no way back");
}

TEST(npy, says_so_when_there_is_not_enough_memory)
{
// Sanitizers, and on macOS all programs, need more memory than the limit.
#if !defined(INSTRUMENTED_MEMORY) && !defined(__APPLE__)
    enum { COUNT = 1 << 28 };
    const struct image image = image_of(1, HEADER("'|u1'", "False", "(268435456,)"), "", 0);
    struct rlimit before, little;
    command_file("x.npy", (const char *)image.bytes, (unsigned)image.size);
    cr_assert(truncate(path_of("x.npy"), (off_t)image.size + COUNT) == 0, "no long file");
    cr_assert(getrlimit(RLIMIT_AS, &before) == 0, "no limit to change");
    little = before;
    little.rlim_cur = 1 << 25;
    cr_assert(setrlimit(RLIMIT_AS, &little) == 0, "no limit");
    struct npy array;
    struct file_error error = { "" };
    const bool good = npy_read(path_of("x.npy"), &array, &error);
    cr_assert(setrlimit(RLIMIT_AS, &before) == 0, "no way back");
    cr_assert(!good && !array.data, "read %d bytes into less memory", COUNT);
    cr_assert(strcmp(error.text, "expected memory for 268435456 elements, found too little") == 0,
              "said \"%s\"", error.text);
#endif
}
