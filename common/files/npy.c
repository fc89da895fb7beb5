#include "common/files/npy.h"

#include "common/cpu/memory.h"
#include "common/files/npy_header.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the numbers of a file are used as they lie there, which is in little-endian order"
#endif
_Static_assert(FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "float and double are those of IEEE 754");

static const char magic[] = "\x93NUMPY";

enum { START = 8, FIRST_ROOM = 1 << 16 };

/* Refuses the file if the last read failed for another reason than its end. */
static bool readable(FILE *file, struct file_error *error)
{
    return !ferror(file) ||
           npy_refuse(error, "expected a file that can be read, found: %s", strerror(errno));
}

/* Reads what comes before the header, and how many bytes that has. */
static bool read_start(FILE *file, size_t *header, struct file_error *error)
{
    unsigned char start[START], size[4] = { 0 };
    const size_t found = fread(start, 1, START, file);
    if (!readable(file, error))
        return false;
    if (found == 0)
        return npy_refuse(error, "expected a .npy file, found an empty file");
    if (found >= 4 && memcmp(start, "PK\3\4", 4) == 0)
        return npy_refuse(error, "expected a .npy file, found a zip archive, as .npz files are");
    if (found < START || memcmp(start, magic, 6) != 0)
        return npy_refuse(error, "expected a .npy file, found something else");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return npy_refuse(error, "expected version 1.0, 2.0 or 3.0 of the .npy format, found %d.%d",
                          start[6], start[7]);
    const size_t wide = start[6] == 1 ? 2 : 4;
    const size_t got = fread(size, 1, wide, file);
    if (!readable(file, error))
        return false;
    if (got < wide)
        return npy_refuse(error, "expected the length of the header, found the end of the file");
    *header =
        (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    return *header <= NPY_MAX_HEADER ||
           npy_refuse(error, "expected a header of at most %d bytes, found %zu", NPY_MAX_HEADER,
                      *header);
}

/* Reads the header, and sees to it that it is a string of ASCII. */
static bool read_header(FILE *file, char text[NPY_MAX_HEADER + 1], struct file_error *error)
{
    size_t size = 0;
    if (!read_start(file, &size, error))
        return false;
    const size_t got = fread(text, 1, size, file);
    if (!readable(file, error))
        return false;
    if (got < size)
        return npy_refuse(error, "expected a header of %zu bytes, found %zu", size, got);
    text[size] = '\0';
    for (size_t k = 0; k < size; k++) {
        const unsigned char c = (unsigned char)text[k];
        if (c > '~' || (c < ' ' && (c == '\0' || !strchr("\t\n\r\f", c))))
            return npy_refuse(error, "expected a header of plain text, found the byte 0x%02X", c);
    }
    return true;
}

/*
 * Reads the data, and that nothing follows it. Room for it grows with what has come, for the
 * header may promise terabytes.
 */
static bool read_data(FILE *file, struct npy *array, struct file_error *error)
{
    const size_t size = array->count * npy_element_size(array->type);
    size_t room = 0, got = 0;
    while (got == room && got < size) {
        room = room == 0 ? FIRST_ROOM : 2 * room;
        if (room > size || room == 0)
            room = size;
        void *bigger = realloc(array->data, room);
        if (!bigger)
            return npy_refuse(error, "expected memory for %zu bytes of data, found too little",
                              size);
        array->data = bigger;
        got += fread((char *)bigger + got, 1, room - got, file);
    }
    if (!readable(file, error))
        return false;
    if (got < size)
        return npy_refuse(error, "expected %zu bytes of data, found %zu", size, got);
    if (fgetc(file) != EOF)
        return npy_refuse(error, "expected %zu bytes of data, found more than that", size);
    return readable(file, error);
}

static bool check_bools(const struct npy *array, struct file_error *error)
{
    const unsigned char *bools = array->data;
    for (size_t i = 0; i < array->count && array->type == NPY_B1; i++)
        if (bools[i] > 1)
            return npy_refuse(error, "expected bools that are 0 or 1, found %d at element %zu",
                              bools[i], i);
    return true;
}

bool npy_read_stream(FILE *file, struct npy *array, struct file_error *error)
{
    char header[NPY_MAX_HEADER + 1];
    *array = (struct npy){ .data = NULL };
    if (read_header(file, header, error) && npy_header_parse(header, array, error) &&
        read_data(file, array, error) && check_bools(array, error))
        return true;
    npy_free(array);
    return false;
}

bool npy_read(const char *path, struct npy *array, struct file_error *error)
{
    *array = (struct npy){ .data = NULL };
    FILE *file = fopen(path, "rb");
    if (!file)
        return npy_refuse(error, "expected a file that can be read, found: %s", strerror(errno));
    const bool good = npy_read_stream(file, array, error);
    fclose(file);
    return good;
}

/* Is the open file as long as its header, which has been read, promises? Its data begins here. */
static bool check_length(struct npy_parts *parts, struct file_error *error)
{
    const size_t size = parts->array.count * npy_element_size(parts->array.type);
    parts->begin = ftell(parts->file);
    if (parts->begin < 0 || fseek(parts->file, 0, SEEK_END) != 0)
        return npy_refuse(error, "expected a file of which a part can be read, found: %s",
                          strerror(errno));
    const long end = ftell(parts->file);
    if (end < parts->begin)
        return npy_refuse(error, "expected a file that has a length, found: %s", strerror(errno));
    const size_t found = (size_t)(end - parts->begin);
    return found == size || npy_refuse(error, "expected %zu bytes of data, found %zu", size, found);
}

bool npy_parts_open(const char *path, struct npy_parts *parts, struct file_error *error)
{
    char header[NPY_MAX_HEADER + 1];
    *parts = (struct npy_parts){ .file = fopen(path, "rb") };
    if (!parts->file)
        return npy_refuse(error, "expected a file that can be read, found: %s", strerror(errno));
    if (read_header(parts->file, header, error) && npy_header_parse(header, &parts->array, error) &&
        check_length(parts, error))
        return true;
    npy_parts_close(parts);
    return false;
}

void npy_parts_close(struct npy_parts *parts)
{
    if (parts->file)
        fclose(parts->file);
    *parts = (struct npy_parts){ .file = NULL };
}

bool npy_parts_read(const struct npy_parts *parts, size_t first, size_t count, void *to,
                    struct file_error *error)
{
    const size_t size = npy_element_size(parts->array.type);
    const struct npy read = { .type = parts->array.type, .count = count, .data = to };
    if (fseek(parts->file, parts->begin + (long)(first * size), SEEK_SET) != 0)
        return npy_refuse(error, "expected %zu elements from the %zuth on, found: %s", count, first,
                          strerror(errno));
    const size_t found = fread(to, size, count, parts->file);
    if (!readable(parts->file, error))
        return false;
    if (found < count)  // it has become shorter
        return npy_refuse(error, "expected %zu elements from the %zuth on, found %zu", count, first,
                          found);
    return check_bools(&read, error);
}

void npy_free(struct npy *array)
{
    free(array->data);
    array->data = NULL;
}

/* A float16 as the float32 of the same value: sign, 5 bits of exponent, 10 of fraction. */
static float widened(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
    uint32_t bits;
    float value = ldexpf((float)fraction, -24);  // zero, or subnormal
    memcpy(&bits, &value, sizeof bits);
    if (exponent > 0)
        bits = (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float *npy_floats(const struct npy *array)
{
    float *floats = allocate(array->count, sizeof *floats, "an array from a file");
    for (size_t i = 0; i < array->count; i++)
        switch (array->type) {
        case NPY_F2:
            floats[i] = widened(((const uint16_t *)array->data)[i]);
            break;
        case NPY_F4:
            floats[i] = ((const float *)array->data)[i];
            break;
        case NPY_F8:
            floats[i] = (float)((const double *)array->data)[i];
            break;
        case NPY_B1:
        case NPY_U1:
            floats[i] = ((const uint8_t *)array->data)[i];
            break;
        }
    return floats;
}

void npy_file_of(struct npy_file *file, enum npy_type type, int dims, const size_t *shape,
                 const void *data)
{
    static const unsigned char start[START] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
    _Static_assert(START + 2 + NPY_HEADER_ROOM <= NPY_FILE_HEADER, "there is room for a header");
    const size_t length = npy_header_format(type, dims, shape, (char *)file->header + START + 2);
    memcpy(file->header, start, START);
    file->header[START] = (unsigned char)(length & 255);
    file->header[START + 1] = (unsigned char)(length >> 8);
    size_t size = npy_element_size(type);
    for (int k = 0; k < dims; k++)
        size *= shape[k];
    file->pieces[0] = (struct bytes){ file->header, START + 2 + length };
    file->pieces[1] = (struct bytes){ data, size };
}

bool npy_write(const char *path, enum npy_type type, int dims, const size_t *shape,
               const void *data, struct file_error *error)
{
    struct npy_file file;
    npy_file_of(&file, type, dims, shape, data);
    return whole_file_write(path, file.pieces, 2, error);
}
