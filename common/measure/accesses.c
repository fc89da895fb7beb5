#include "common/measure/accesses.h"

#include "common/measure/traffic.h"

#include <stdio.h>
#include <string.h>

void accesses_add(struct accesses *a, const char *what, size_t n, const char *formula)
{
    const char *const space = strrchr(what, ' ');
    char array[24];
    snprintf(array, sizeof array, "%.*s", (int)(space - what), what);
    const struct traffic seen = traffic_of(array);
    a->line[a->n++] = (struct counted){
        .what = what,
        .count = strcmp(space, " stores") == 0 ? seen.stores : seen.loads,
        .predicted = n,
        .formula = formula,
        .note = "",
    };
}

bool accesses_sum(struct accesses *a, const char *formula, size_t *total)
{
    const struct traffic all = traffic_total();
    size_t predicted = 0;
    bool as_predicted = true;
    for (size_t k = 0; k < a->n; k++) {
        predicted += a->line[k].predicted;
        as_predicted &= a->line[k].count == a->line[k].predicted;
    }
    *total = all.loads + all.stores;
    a->line[a->n++] = (struct counted){ "all", *total, predicted, formula, "" };
    return as_predicted && *total == predicted;
}
