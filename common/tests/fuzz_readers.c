/*
 * Fuzzes the readers: any bytes are accepted or refused in one plain line, without invalid memory
 * accesses. The first byte selects:
 *
 *     o    a command line: the second byte is the chapter, then one word a line; also loads its input
 *     else a whole .npy file
 *
 *     make build/fuzz_readers
 *     build/fuzz_readers -max_total_time=600 -max_len=4096 FOLDER_OF_SUCH_FILES
 */
#define _GNU_SOURCE  // assignable stderr
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/attention_load.h"
#include "common/program/options.h"

#include <setjmp.h>
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

static void fuzz_npy(const uint8_t *bytes, size_t size)
{
    struct npy array;
    struct file_error error = { "" };
    FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    if (!file)
        return;  // some systems refuse empty memory files
    if (npy_read_stream(file, &array, &error))
        check_array(&array, bytes, size);
    else
        check_refusal(&array, &error);
    npy_free(&array);
    fclose(file);
}

/* ---- a command line ----------------------------------------------------------------------------- */

static jmp_buf *way_out;  // refusals jump here instead of exiting
static void *kept[64];    // allocations since the line began
static size_t keeps;

void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status)
{
    if (way_out)
        longjmp(*way_out, status + 1);
    __real_exit(status);
}

void *__real_allocate(size_t count, size_t size, const char *what);
void *__wrap_allocate(size_t count, size_t size, const char *what);
void *__wrap_allocate(size_t count, size_t size, const char *what)
{
    void *const room = __real_allocate(count, size, what);
    if (way_out && keeps < sizeof kept / sizeof kept[0])
        kept[keeps++] = room;
    return room;
}

static size_t or_else(size_t count, size_t usual)
{
    return count ? count : usual;
}

static bool is_little(const struct options *o)
{
    const double rows = (double)or_else(o->batch, 1) * (double)or_else(o->heads, 1) *
                        (double)or_else(o->kv_heads, 1),
                 N = (double)or_else(o->n_q, 128) + (double)or_else(o->n_k, 128);
    return !o->q && !o->key_mask && o->seed_given && rows * N * 256 < 1e6 &&
           (!o->block_mask || strncmp(o->block_mask, "band:", 5) == 0 ||
            strncmp(o->block_mask, "random:", 7) == 0);
}

static void read_line(int chapter, int count, char **words)
{
    const struct program program = { chapter, "fuzz", "a test", "" };
    const struct options options = options_parse(&program, count, words);
    if (chapter >= 4 && is_little(&options))
        (void)attention_input_load(&options);
}

static void fuzz_options(const uint8_t *bytes, size_t size)
{
    enum { MOST = 60 };
    static char text[4097], said[20000];
    char *words[MOST + 2] = { (char *)"build/fuzz" };
    int count = 1;
    if (size < 1 || size > sizeof text)
        return;
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    for (char *word = strtok(text, "\n"); word && count < MOST; word = strtok(NULL, "\n"))
        words[count++] = word;

    jmp_buf here;
    FILE *const errors = stderr;
    memset(said, 0, sizeof said);
    stderr = fmemopen(said, sizeof said, "w");
    way_out = &here;
    keeps = 0;
    const int ended = setjmp(here);
    if (ended == 0)
        read_line(1 + bytes[0] % 9, count, words);
    way_out = NULL;
    fclose(stderr);
    stderr = errors;
    for (size_t k = 0; k < keeps; k++)
        free(kept[k]);
    require(ended <= 1 || ended == EXIT_USAGE + 1, "the status 0 or 2");
    const char *const end = strchr(said, '\n');
    require(ended <= 1 ? !*said : strncmp(said, "fuzz: ", 6) == 0 && end && !end[1],
            "one line if it is refused");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool silent;
    silent = silent || freopen("/dev/null", "w", stdout);  // --help
    if (size > 1 && bytes[0] == 'o')
        fuzz_options(bytes + 1, size - 1);
    else
        fuzz_npy(bytes, size);
    return 0;
}
