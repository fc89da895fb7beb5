#include "common/files/npy.h"

#include "common/cpu/memory.h"
#include "common/problem/dtype.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the numbers of a file are used as they lie there, which is in little-endian order"
#endif
_Static_assert(FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "float and double are those of IEEE 754");

enum { START = 10, MAX_HEADER = 10000 };

static const struct {
    char descr[4];
    size_t size;
} types[] = {
    [NPY_F2] = { "<f2", 2 }, [NPY_F4] = { "<f4", 4 }, [NPY_F8] = { "<f8", 8 },
    [NPY_B1] = { "|b1", 1 }, [NPY_U1] = { "|u1", 1 }, [NPY_V2] = { "<V2", 2 },
};

char *npy_shape_text(int dims, const size_t *shape, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int k = 0; k < dims && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, k == 0 ? "%zu" : ", %zu", shape[k]);
    if (used < size)
        snprintf(text + used, size - used, dims == 1 ? ",)" : ")");
    return text;
}

// ---- the header: {'descr': '<f4', 'fortran_order': False, 'shape': (164, 32), } ------------------

/* Refuses a header, quoting it at the unexpected character. */
static bool unexpected(struct file_error *error, const char *expected, const char *at)
{
    const int length = (int)strcspn(at, "\n"), most = 50;
    return file_refuse(error, "expected %s, found \"%.*s\"", expected,
                       length < most ? length : most, at);
}

static bool take_type(const char *descr, struct npy *array, struct file_error *error)
{
    if (strcmp(descr, "|V2") == 0)
        descr = types[NPY_V2].descr;
    for (array->type = NPY_F2; array->type <= NPY_V2; array->type++)
        if (strcmp(descr, types[array->type].descr) == 0)
            return true;
    return file_refuse(error,
                       "expected little-endian float16, float32, float64 ('<f2', '<f4', '<f8'), "
                       "bool ('|b1') or uint8 ('|u1'), found '%s'",
                       descr);
}

/*
 * Parses the numbers of a shape, after its parenthesis. Returns the rest of the header; NULL if
 * malformed.
 */
static const char *take_shape(const char *at, struct npy *array)
{
    bool comma = true;
    for (at += strspn(at, " "); *at != ')'; at += strspn(at, " ")) {
        const size_t digits = strspn(at, "0123456789");
        if (!comma || digits < 1 || digits > 19 || (digits > 1 && *at == '0') ||
            array->dims == NPY_MAX_DIMS)
            return NULL;
        array->shape[array->dims++] = strtoull(at, NULL, 10);
        at += digits + strspn(at + digits, " ");
        comma = *at == ',';
        at += comma;
    }
    return array->dims > 1 || (array->dims == 1 && comma) ? at + 1 : NULL;
}

/* Computes the number of elements; refuses none, and more than memory could hold. */
static bool count_elements(struct npy *array, struct file_error *error)
{
    char shape[200];
    const size_t most = PTRDIFF_MAX / types[array->type].size;
    npy_shape_text(array->dims, array->shape, shape, sizeof shape);
    for (int k = 0; k < array->dims; k++)
        if (array->shape[k] == 0)
            return file_refuse(error, "expected at least one element, found the shape %s", shape);
    array->count = 1;
    for (int k = 0; k < array->dims; array->count *= array->shape[k++])
        if (array->shape[k] > most / array->count)
            return file_refuse(error, "expected an array that fits in memory, found the shape %s",
                               shape);
    return true;
}

/* Fills in `array` from a header, except its data: the three keys once each, in any order. */
static bool parse_header(const char *at, struct npy *array, struct file_error *error)
{
    char descr[21] = "", order[6] = "";
    int n = 0, comma = 1;
    *array = (struct npy){ .dims = 0 };
    sscanf(at, " {%n", &n);
    for (at += n; n > 0 && comma > 0; at += comma) {
        n = comma = 0;
        if (!*descr)
            sscanf(at, " %*1['\"]descr%*1['\"] : %*1['\"]%20[^'\"\n]%*1['\"]%n", descr, &n);
        if (n == 0 && !*order)
            sscanf(at, " %*1['\"]fortran_order%*1['\"] : %5[a-zA-Z]%n", order, &n);
        if (n == 0 && array->dims == 0) {
            sscanf(at, " %*1['\"]shape%*1['\"] : (%n", &n);
            const char *const end = n > 0 ? take_shape(at + n, array) : at;
            if (!end)
                return unexpected(error, "a shape of 1 to 8 dimensions, like (2, 3) or (6,)",
                                  at + n - 1);
            n = (int)(end - at);
        }
        at += n;
        sscanf(at, " ,%n", &comma);
    }
    int end = 0;
    sscanf(at, " } %n", &end);
    if (end == 0 || at[end] || !*descr || !*order || array->dims == 0)
        return unexpected(
            error, "a header like {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", at);
    if (strcmp(order, "False") != 0)
        return file_refuse(error, "expected C order (row after row), found fortran_order: %s",
                           order);
    return take_type(descr, array, error) && count_elements(array, error);
}

// ---- reading ------------------------------------------------------------------------------------

static bool read_header(FILE *file, struct npy *array, struct file_error *error)
{
    unsigned char start[START + 2] = { 0 };
    char text[MAX_HEADER + 1];
    size_t found = fread(start, 1, START, file);
    if (found == 0)
        return file_refuse(error, "expected a .npy file, found an empty file");
    if (memcmp(start, "PK\3\4", 4) == 0)
        return file_refuse(error, "expected a .npy file, found a zip archive, as .npz files are");
    if (found < START || memcmp(start, "\x93NUMPY", 6) != 0)
        return file_refuse(error, "expected a .npy file, found something else");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return file_refuse(error, "expected version 1.0, 2.0 or 3.0 of the format, found %d.%d",
                           start[6], start[7]);
    if (start[6] > 1 && fread(start + START, 1, 2, file) < 2)
        return file_refuse(error, "expected a header, found the end of the file");
    const size_t size = (size_t)start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 |
                        (size_t)start[11] << 24;
    if (size > MAX_HEADER)
        return file_refuse(error, "expected a header of at most %d bytes, found %zu", MAX_HEADER,
                           size);
    found = fread(text, 1, size, file);
    if (found < size)
        return file_refuse(error, "expected a header of %zu bytes, found %zu", size, found);
    text[size] = '\0';
    for (const char *c = text; c < text + size; c++)
        if ((*c < ' ' && *c != '\n') || *c > '~')
            return file_refuse(error, "expected a header of plain text, found the byte 0x%02X",
                               (unsigned char)*c);
    return parse_header(text, array, error);
}

/* The elements; the stream is at the first. */
static bool read_data(FILE *file, struct npy *array, struct file_error *error)
{
    const size_t size = array->count * types[array->type].size;
    const long begin = ftell(file);
    if (begin < 0 || fseek(file, 0, SEEK_END) != 0)
        return file_refuse(error, "expected a file of known length, found: %s", strerror(errno));
    const size_t found = (size_t)(ftell(file) - begin);
    if (found != size)
        return file_refuse(error, "expected %zu bytes of data, found %zu", size, found);
    array->data = malloc(size);
    if (!array->data)
        return file_refuse(error, "expected memory for %zu elements, found too little",
                           array->count);
    if (fseek(file, begin, SEEK_SET) != 0 || fread(array->data, 1, size, file) < size)
        return file_refuse(error, "expected %zu bytes of data, found fewer", size);
    const unsigned char *const bools = array->data;
    for (size_t i = 0; i < array->count && array->type == NPY_B1; i++)
        if (bools[i] > 1)
            return file_refuse(error, "expected bools that are 0 or 1, found %d at element %zu",
                               bools[i], i);
    const double *const doubles = array->data;
    for (size_t i = 0; i < array->count && array->type == NPY_F8; i++)
        if (isfinite(doubles[i]) && !isfinite((float)doubles[i]))
            return file_refuse(error,
                               "expected numbers that float32 holds, found %g at element %zu",
                               doubles[i], i);
    return true;
}

bool npy_read_stream(FILE *file, struct npy *array, struct file_error *error)
{
    *array = (struct npy){ .data = NULL };
    bool good = read_header(file, array, error) && read_data(file, array, error);
    if (ferror(file))
        good = file_refuse(error, "expected a file that can be read, found: %s", strerror(errno));
    if (!good)
        npy_free(array);
    return good;
}

bool npy_read(const char *path, struct npy *array, struct file_error *error)
{
    FILE *const file = fopen(path, "rb");
    *array = (struct npy){ .data = NULL };
    if (!file)
        return file_refuse(error, "expected a file that can be read, found: %s", strerror(errno));
    const bool good = npy_read_stream(file, array, error);
    fclose(file);
    return good;
}

void npy_free(struct npy *array)
{
    free(array->data);
    array->data = NULL;
}

float *npy_floats(const struct npy *array)
{
    float *floats = allocate(array->count, sizeof *floats, "an array from a file");
    for (size_t i = 0; i < array->count; i++)
        switch (array->type) {
        case NPY_F2:
            floats[i] = dtype_number(DTYPE_F16, ((const uint16_t *)array->data)[i]);
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
        case NPY_V2:
            floats[i] = dtype_number(DTYPE_BF16, ((const uint16_t *)array->data)[i]);
            break;
        }
    return floats;
}

// ---- writing ------------------------------------------------------------------------------------

void npy_file_of(struct npy_file *file, enum npy_type type, int dims, const size_t *shape,
                 const void *data)
{
    enum { ALIGN = 64, GROWTH = 21 };
    char list[200], *const text = (char *)file->header;
    int length =
        snprintf(text, NPY_FILE_HEADER,
                 "\x93NUMPY\1%c%c%c{'descr': '%s', 'fortran_order': False, 'shape': %s, }", 0, 0, 0,
                 types[type].descr, npy_shape_text(dims, shape, list, sizeof list));
    // NumPy lets the first dimension grow to 21 digits, and pads by 1 to 64 blanks.
    const int least = length + GROWTH - snprintf(list, sizeof list, "%zu", shape[0]) + 1;
    for (const int padded = (least / ALIGN + 1) * ALIGN; length < padded; length++)
        text[length] = length + 1 < padded ? ' ' : '\n';
    text[START - 2] = (char)((length - START) % 256);
    text[START - 1] = (char)((length - START) / 256);
    size_t size = types[type].size;
    for (int k = 0; k < dims; k++)
        size *= shape[k];
    file->pieces[0] = (struct bytes){ file->header, (size_t)length };
    file->pieces[1] = (struct bytes){ data, size };
}

bool npy_write(const char *path, enum npy_type type, int dims, const size_t *shape,
               const void *data, struct file_error *error)
{
    struct npy_file file;
    npy_file_of(&file, type, dims, shape, data);
    return file_write(path, file.pieces, 2, error);
}
