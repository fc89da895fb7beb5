/* The table of the chapter's steps, made of the rows of steps/table.h. */
#include "05_flash_tiled_cpu/program/chapter.h"

#include "common/measure/watch.h"

/* What every step supports; and those that write lse, and take any tile. */
enum { SHAPES = SUPPORTS_GROUPED_HEADS, ANY_TILE = SHAPES | SUPPORTS_LSE | SUPPORTS_BR };

#define STEP(constant, function, ...) DECLARE_WATCHED(function);
#include "05_flash_tiled_cpu/steps/table.h"
#undef STEP

#define RUNS(run, watched) (&(const struct runs){ run, watched })
#define STEP(constant, function, ...) \
    [constant] = { .name = #function, .f32 = { .most = ATTENTION_MAX_D }, __VA_ARGS__ },

const struct step steps[STEPS] = {
#include "05_flash_tiled_cpu/steps/table.h"
};

const struct step_table table = { steps, STEPS, .first = 0, .width = 12 };
