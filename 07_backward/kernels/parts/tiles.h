/*
 * How large the kernels' tiles are: Br queries by Bc keys. Host code that foretells accesses knows it too.
 */
#ifndef BACKWARD_TILES_H
#define BACKWARD_TILES_H

enum { Br = 64, Bc = 64 };

#endif
