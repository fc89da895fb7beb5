/* The table of the chapter's steps, made of the rows of steps/table.h. */
#include "07_backward/program/chapter.h"

#include "common/measure/watch.h"

static struct tile_size one_pair(size_t M, size_t d)
{
    (void)M, (void)d;
    return (struct tile_size){ 1, 1 };
}

#define STEP(constant, function, ...) DECLARE_WATCHED(backward_##function);
#include "07_backward/steps/table.h"
#undef STEP

#define STEP(constant, function, ...) [constant] = { .name = #function, __VA_ARGS__ },

const struct step steps[STEPS] = {
#include "07_backward/steps/table.h"
};

const struct step_table table = { steps, STEPS, .first = 1, .width = 10 };
