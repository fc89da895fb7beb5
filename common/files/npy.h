/*
 * NumPy's .npy files, versions 1.0 to 3.0.
 *
 * Reads little-endian f2, f4, f8, b1 and u1 arrays, and V2, which is ml_dtypes' bfloat16, in C
 * order with one to eight non-zero dimensions. Refuses everything else with a message: other types,
 * big-endian, Fortran order, a wrong length. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef COMMON_NPY_H
#define COMMON_NPY_H

#include "common/files/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { NPY_MAX_DIMS = 8, NPY_FILE_HEADER = 400 };
enum npy_type { NPY_F2, NPY_F4, NPY_F8, NPY_B1, NPY_U1, NPY_V2 };

struct npy {
    enum npy_type type;
    int dims;
    size_t shape[NPY_MAX_DIMS];
    size_t count;  // of elements: the product of the shape
    void *data;    // owned; npy_free releases it
};

/*
 * Reads the array in `path`. On failure returns false, fills in `error`, and leaves nothing to
 * free.
 */
bool npy_read(const char *path, struct npy *array, struct file_error *error);
void npy_free(struct npy *array);

/* The same from an open file, which stays open. */
bool npy_read_stream(FILE *file, struct npy *array, struct file_error *error);

/* The elements as float32, f8 rounded to nearest even, others exact; free() them. */
float *npy_floats(const struct npy *array);

/* Writes `shape` as "(2, 4, 164, 32)" or "(164,)"; returns `text`. */
char *npy_shape_text(int dims, const size_t *shape, char *text, size_t size);

/* A version 1.0 file, byte for byte as np.save writes it. */
struct npy_file {
    unsigned char header[NPY_FILE_HEADER];
    struct bytes pieces[2];  // the header, and the caller's elements
};

/*
 * Builds it for the elements of `data`, as many as `shape` holds. Nothing is copied: *file must not
 * move, and `data` must outlive it.
 */
void npy_file_of(struct npy_file *file, enum npy_type type, int dims, const size_t *shape,
                 const void *data);

/* Writes such a file (file.h). False and `error` on failure. */
bool npy_write(const char *path, enum npy_type type, int dims, const size_t *shape,
               const void *data, struct file_error *error);

#endif
