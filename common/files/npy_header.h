/*
 * The header of a .npy file: a Python dictionary with three keys, as text.
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (164, 32), }
 *
 * Any order of the keys and any blanks will do, but of Python no more is understood than what
 * np.save makes use of. Only npy.c includes this.
 */
#ifndef COMMON_NPY_HEADER_H
#define COMMON_NPY_HEADER_H

#include "common/files/npy.h"

/* Says what is wrong in `error`; always false. */
bool npy_refuse(struct file_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Fills in all of `array` but its data from `text`, which is ASCII. What it accepts has elements,
 * and not more of them than memory could hold.
 */
bool npy_header_parse(const char *text, struct npy *array, struct file_error *error);

/*
 * Writes the header of such an array to `text`, padded with blanks to the length that np.save gives
 * it. Returns that length; the text is no string.
 */
enum { NPY_HEADER_ROOM = 384 };
size_t npy_header_format(enum npy_type type, int dims, const size_t *shape, char *text);

#endif
