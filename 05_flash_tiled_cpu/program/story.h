/*
 * What chapter 05's program tells before it comes to its input.
 */
#ifndef FLASH_TILED_STORY_H
#define FLASH_TILED_STORY_H

/* By hand, the two theorems, masks, dropout, splits, and all steps on the first text. */
void print_story(void);

/* How far ALiBi as two more columns of Q and K is from its formula: the largest error of O. */
double story_error_of_bias(void);

#endif
