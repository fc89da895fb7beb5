#ifndef BACKWARD_TILES_H
#define BACKWARD_TILES_H

enum { Br = 64, Bc = 64 };

#endif
