/*
 * Reading .npy: files put together byte by byte, those that np.save could have written and those
 * that it never would. Each refusal is held against its whole message.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEADER(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
#define F4(shape) HEADER("'<f4'", "False", shape)

struct image {
    unsigned char bytes[16000];
    size_t size;
};

/* A file of version `major`.0 whose header says that it has `said` bytes. */
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
    };
    unsigned char data[48];
    for (int major = 1; major <= 3; major++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            for (size_t k = 0; k < sizeof data; k++)
                data[k] = (unsigned char)(types[t].type == NPY_B1 ? k % 2 : 3 * k + 1);
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

TEST(npy, refuses_bytes_that_are_no_text)
{
    static const unsigned char bytes[] = { 0x00, 0x01, 0x07, 0x08, 0x0B, 0x1B,
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
    refuses(lying_image(1, header, 0, data, sizeof data),
            "expected a header in braces, found the end of the header");
    refuses(lying_image(1, header, length - 2, data, sizeof data),
            "expected the keys 'descr', 'fortran_order' and 'shape', found the end of the header");
    refuses(lying_image(1, header, length - 1, data, sizeof data),
            "expected 24 bytes of data, found more than that");
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
                 "expected version 1.0, 2.0 or 3.0 of the .npy format, found %d.%d", versions[k][0],
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
        for (size_t size = 1; size < whole.size; size++) {
            struct image cut = whole;
            char message[100] = "expected a .npy file, found something else";
            cut.size = size;
            if (size >= before + length)
                snprintf(message, sizeof message, "expected 24 bytes of data, found %zu",
                         size - before - length);
            else if (size >= before)
                snprintf(message, sizeof message, "expected a header of %zu bytes, found %zu",
                         length, size - before);
            else if (size >= 8)
                strcpy(message, "expected the length of the header, found the end of the file");
            refuses(cut, message);
        }
        whole.size++;
        refuses(whole, "expected 24 bytes of data, found more than that");
    }
}

TEST(npy, believes_no_promise_of_terabytes)
{
    // Memory for all of it, had it been asked for, would have given another message.
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
