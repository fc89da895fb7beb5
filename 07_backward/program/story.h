/*
 * What the program tells of the chapter before it comes to the input.
 */
#ifndef BACKWARD_STORY_H
#define BACKWARD_STORY_H

void print_story(void);

#endif
