/* Texts about steps: their list, and unsupported options. */
#include "common/program/step.h"

#include <stdio.h>
#include <string.h>

/* " 3", or blanks for the last step, and where steps have no numbers. */
static void step_number(const struct step_table *table, const struct step *step, char text[16])
{
    const size_t k = (size_t)(step - table->steps);
    if (table->first < 0 || k + 1 == table->count)
        snprintf(text, 16, "  ");
    else
        snprintf(text, 16, "%2zu", k + (size_t)table->first);
}

void step_label(const struct step_table *table, const struct step *step, char text[32])
{
    char number[16];
    step_number(table, step, number);
    snprintf(text, 32, "%s%s%-*s", table->first < 0 ? "" : number, table->first < 0 ? "" : " ",
             table->width, step->name);
}

void step_list(const struct step_table *table, bool only_names, enum dtype type)
{
    for (const struct step *step = table->steps; step < table->steps + table->count; step++) {
        char number[16];
        step_number(table, step, number);
        if (!only_names)
            printf("%s  %-*s  %s\n", number, table->width, step->name, step->idea);
        else if (step_takes_type(step, type))
            printf("%s\n", step->name);
    }
}

/* What a step takes that does not take the type it was given. */
static const char *types_instead(const struct step *step)
{
    if (step_takes_type(step, DTYPE_F32))
        return "; it takes f32";
    return step->float16_only ? "; it takes f16" : "; it takes bf16 and f16";
}

void step_refuse(const struct step *step, const struct attention *p, const struct options *options,
                 const char *unsupported)
{
    const bool made_up = !options->key_mask && strcmp(unsupported, "--key-mask") == 0;
    const bool usual_d =
        !options->q && !options->d && strncmp(unsupported, "d = ", strlen("d = ")) == 0;
    options_fail("--step", "expected a %s that supports %s%s, and %s does not%s",
                 step->is_kernel ? "kernel" : "step", unsupported,
                 made_up ? " (the course's input has one, and --n-q draws another input)" : "",
                 step->name,
                 !step_takes_type(step, p->dtype) ? types_instead(step)
                 : usual_d ? "; the course's input has this d, and --d draws another input"
                           : "");
}
