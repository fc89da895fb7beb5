/*
 * Random bytes for the .npy reader: whatever they are, it takes them for an array or refuses them in
 * one plain line, and touches no memory that is not its own.
 *
 *     clang -g -O1 -std=c17 -fsanitize=fuzzer,address,undefined -I. \
 *         common/tests/fuzz_npy.c common/npy*.c common/files/whole_file.c common/cpu/memory.c -lm \
 *         -o build/fuzz_npy
 *     build/fuzz_npy -max_total_time=600 -max_len=4096 FOLDER_OF_NPY_FILES
 */
#define _POSIX_C_SOURCE 200809L
#include "common/files/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "the reader broke its promise: %s\n", what);
        abort();
    }
}

static void check_refusal(const struct npy *array, const struct file_error *error)
{
    require(!array->data, "nothing to free after a refusal");
    require(strncmp(error->text, "expected ", 9) == 0 && strstr(error->text, ", found"),
            "a message of the form expected …, found …");
    require(strlen(error->text) + 1 < sizeof error->text, "a message that is not cut off");
    for (const char *c = error->text; *c; c++)
        require(*c >= ' ' && *c <= '~', "a message of printable characters");
}

static void check_array(const struct npy *array, const uint8_t *bytes, size_t size)
{
    static const size_t sizes[] = {
        [NPY_F2] = 2, [NPY_F4] = 4, [NPY_F8] = 8, [NPY_B1] = 1, [NPY_U1] = 1
    };
    size_t count = 1;
    require(array->dims >= 1 && array->dims <= NPY_MAX_DIMS, "1 to 8 dimensions");
    for (int k = 0; k < array->dims; k++)
        count *= array->shape[k];
    require(count > 0 && count == array->count, "as many elements as the shape says");
    require(count <= size / sizes[array->type], "no more elements than there are bytes");
    const size_t data = count * sizes[array->type];
    require(memcmp(array->data, bytes + size - data, data) == 0, "the last bytes are the data");

    char shape[200];
    npy_shape_text(array->dims, array->shape, shape, sizeof shape);
    require(shape[0] == '(' && shape[strlen(shape) - 1] == ')', "a shape in parentheses");
    free(npy_floats(array));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct npy array;
    struct file_error error = { "" };
    FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    if (!file)
        return 0;  // some systems have no empty file in memory
    if (npy_read_stream(file, &array, &error))
        check_array(&array, bytes, size);
    else
        check_refusal(&array, &error);
    npy_free(&array);
    fclose(file);
    return 0;
}
