#include "common/files/npy_header.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    char descr[4];
    size_t size;
} types[] = {
    [NPY_F2] = { "<f2", 2 }, [NPY_F4] = { "<f4", 4 }, [NPY_F8] = { "<f8", 8 },
    [NPY_B1] = { "|b1", 1 }, [NPY_U1] = { "|u1", 1 },
};

enum { TYPES = sizeof types / sizeof types[0] };

size_t npy_element_size(enum npy_type type)
{
    return types[type].size;
}

bool npy_refuse(struct file_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

static const char blanks[] = " \t\n\r\f";

/* Refuses what is at `at` in the header, and shows the beginning of it. */
static bool unexpected(struct file_error *error, const char *expected, const char *at)
{
    char found[44];
    const size_t most = sizeof found - 1;
    size_t length = *at == '(' && strchr(at, ')') ? strcspn(at, ")") + 1 : strlen(at);
    while (length > 0 && strchr(blanks, at[length - 1]))
        length--;
    snprintf(found, sizeof found, "%.*s", (int)length, at);
    for (char *c = found; *c; c++)
        *c = *c < ' ' ? ' ' : *c;
    return npy_refuse(error, "expected %s, found %s%s", expected,
                      length > 0 ? found : "the end of the header", length > most ? "..." : "");
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, blanks);
}

/* Steps past the string literal at `*at`. Returns what is between its quotes; NULL if none is. */
static const char *take_string(const char **at, int *length)
{
    const char quote = **at, *const start = *at + 1, *end = start;
    if (quote != '\'' && quote != '"')
        return NULL;
    while (*end >= ' ' && *end != '\\' && *end != quote)
        end++;
    if (*end != quote)
        return NULL;
    *at = end + 1;
    *length = (int)(end - start);
    return start;
}

/* Refuses a type, calling it what it is in NumPy: found big-endian float32 ('>f4'). */
static bool refuse_type(const char *descr, int length, struct file_error *error)
{
    static const struct {
        char letter;
        const char *name;
        bool sized;
    } kinds[] = { { 'f', "float", true },          { 'i', "int", true },
                  { 'u', "uint", true },           { 'b', "bool", false },
                  { 'c', "complex", true },        { 'S', "byte strings", false },
                  { 'M', "dates", false },         { 'm', "time spans", false },
                  { 'U', "strings", false },       { 'V', "bytes", false },
                  { 'O', "Python objects", false } };
    char text[20], name[32] = "the type";
    snprintf(text, sizeof text, "%.*s", length, descr);
    const char *const kind = text + (*text && strchr("<>=|", *text));
    const char *const number = kind + (*kind != '\0');
    const size_t digits = strspn(number, "0123456789");
    const bool plain = digits >= 1 && digits <= 2 && number[digits] == '\0';
    const int bytes = plain ? (int)strtol(number, NULL, 10) : 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (*kind == kinds[k].letter && (bytes > 0 || !kinds[k].sized))
            snprintf(name, sizeof name, kinds[k].sized ? "%s%d" : "%s", kinds[k].name, 8 * bytes);
    return npy_refuse(
        error,
        "expected little-endian float16, float32, float64 ('<f2', '<f4', '<f8'), bool ('|b1') or "
        "uint8 ('|u1'), found %s%s ('%s')",
        *text == '>' ? "big-endian " : "", name, text);
}

static bool take_type(const char **at, struct npy *array, struct file_error *error)
{
    int length;
    if (**at == '[' || **at == '(')
        return npy_refuse(error,
                          "expected elements that are plain numbers, found a structured type");
    const char *const start = *at, *const descr = take_string(at, &length);
    if (!descr)
        return unexpected(error, "a type like '<f4'", start);
    for (int type = 0; type < TYPES; type++)
        if (length == 3 && memcmp(descr, types[type].descr, 3) == 0) {
            array->type = (enum npy_type)type;
            return true;
        }
    return refuse_type(descr, length, error);
}

static bool take_order(const char **at, struct npy *array, struct file_error *error)
{
    (void)array;
    if (strncmp(*at, "True", 4) == 0)
        return npy_refuse(error, "expected C order (row after row), found Fortran order");
    if (strncmp(*at, "False", 5) != 0)
        return unexpected(error, "True or False for fortran_order", *at);
    *at += 5;
    return true;
}

/* The number of elements, if there are any and memory could hold them. */
static bool count_elements(struct npy *array, struct file_error *error)
{
    char shape[160];
    npy_shape_text(array->dims, array->shape, shape, sizeof shape);
    for (int k = 0; k < array->dims; k++)
        if (array->shape[k] == 0)
            return npy_refuse(error, "expected at least one element, found the shape %s", shape);
    array->count = 1;
    for (int k = 0; k < array->dims; k++) {
        if (array->shape[k] > PTRDIFF_MAX / types[array->type].size / array->count)
            return npy_refuse(error, "expected an array that fits in memory, found the shape %s",
                              shape);
        array->count *= array->shape[k];
    }
    return true;
}

/* One number of a shape. */
static bool take_size(const char **at, size_t *size, struct file_error *error)
{
    const size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || (digits > 1 && **at == '0'))
        return unexpected(error, "a whole number in the shape", *at);
    const unsigned long long value = strtoull(*at, NULL, 10);  // the largest, if there is no room
    if (value > PTRDIFF_MAX)
        return unexpected(error, "an array that fits in memory", *at);
    *size = (size_t)value;
    *at += digits;
    return true;
}

static bool take_shape(const char **at, struct npy *array, struct file_error *error)
{
    const char *const start = *at;
    bool comma = true;
    if (*start != '(')
        return unexpected(error, "a shape like (2, 3)", start);
    *at = skip_blanks(start + 1);
    for (; **at != ')'; array->dims++) {
        size_t size = 0;
        if (!comma)
            return unexpected(error, "a comma in the shape", *at);
        if (!take_size(at, &size, error))
            return false;
        if (array->dims < NPY_MAX_DIMS)
            array->shape[array->dims] = size;
        *at = skip_blanks(*at);
        comma = **at == ',';
        *at = skip_blanks(*at + comma);
    }
    ++*at;
    if (array->dims == 0)
        return npy_refuse(error, "expected 1 to %d dimensions, found shape (), a single number",
                          NPY_MAX_DIMS);
    if (array->dims > NPY_MAX_DIMS)
        return npy_refuse(error, "expected 1 to %d dimensions, found %d", NPY_MAX_DIMS,
                          array->dims);
    return (array->dims > 1 || comma) || unexpected(error, "a shape like (3,)", start);
}

static const struct {
    const char *name;
    bool (*take_value)(const char **at, struct npy *array, struct file_error *error);
} keys[] = { { "descr", take_type }, { "fortran_order", take_order }, { "shape", take_shape } };

enum { KEYS = sizeof keys / sizeof keys[0] };

/* A key that was not seen before, a colon and its value. */
static bool take_entry(const char **at, bool *seen, struct npy *array, struct file_error *error)
{
    int length, k = 0;
    const char *const start = *at, *const name = take_string(at, &length);
    while (name && k < KEYS &&
           (strncmp(name, keys[k].name, (size_t)length) != 0 || keys[k].name[length]))
        k++;
    if (!name || k == KEYS)
        return unexpected(error, "the keys 'descr', 'fortran_order' and 'shape'", start);
    if (seen[k])
        return npy_refuse(error, "expected each key once, found '%s' twice", keys[k].name);
    seen[k] = true;
    *at = skip_blanks(*at);
    if (**at != ':')
        return unexpected(error, "a colon after a key", *at);
    *at = skip_blanks(*at + 1);
    return keys[k].take_value(at, array, error);
}

bool npy_header_parse(const char *at, struct npy *array, struct file_error *error)
{
    bool seen[KEYS] = { false };
    *array = (struct npy){ .dims = 0 };
    at = skip_blanks(at);
    if (*at != '{')
        return unexpected(error, "a header in braces", at);
    at = skip_blanks(at + 1);
    while (*at != '}') {
        if (!take_entry(&at, seen, array, error))
            return false;
        at = skip_blanks(at);
        if (*at != ',' && *at != '}')
            return unexpected(error, "a comma or a closing brace in the header", at);
        at = skip_blanks(at + (*at == ','));
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k])
            return npy_refuse(error, "expected a header with the key '%s', found none",
                              keys[k].name);
    at = skip_blanks(at + 1);
    return (*at == '\0' || unexpected(error, "the end of the header", at)) &&
           count_elements(array, error);
}

char *npy_shape_text(int dims, const size_t *shape, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int k = 0; k < dims && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, k == 0 ? "%zu" : ", %zu", shape[k]);
    if (used < size)
        snprintf(text + used, size - used, dims == 1 ? ",)" : ")");
    return text;
}

size_t npy_header_format(enum npy_type type, int dims, const size_t *shape, char *text)
{
    enum { BEFORE = 10, ALIGN = 64, GROWTH = 21 };
    char list[NPY_HEADER_ROOM], first[24];
    const int length =
        snprintf(text, NPY_HEADER_ROOM, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 types[type].descr, npy_shape_text(dims, shape, list, sizeof list));
    // NumPy leaves the first dimension room to grow to 21 digits, and pads by 1 to 64 blanks.
    const int digits = snprintf(first, sizeof first, "%zu", shape[0]);
    const size_t least = BEFORE + (size_t)length + GROWTH - (size_t)digits + 1;
    const size_t padded = (least / ALIGN + 1) * ALIGN - BEFORE;
    memset(text + length, ' ', padded - (size_t)length - 1);
    text[padded - 1] = '\n';
    return padded;
}
