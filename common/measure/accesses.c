#include "common/measure/accesses.h"

#include "common/measure/traffic.h"

#include <stdio.h>
#include <string.h>

void accesses_add(struct accesses *a, const char *what, size_t n, const char *formula)
{
    a->line[a->n++] =
        (struct counted){ .what = what, .predicted = n, .formula = formula, .note = "" };
}

static size_t seen_of(const char *what)
{
    const char *const space = strrchr(what, ' ');
    char array[24];
    snprintf(array, sizeof array, "%.*s", (int)(space - what), what);
    const struct traffic seen = traffic_of(array);
    return strcmp(space, " stores") == 0 ? seen.stores : seen.loads;
}

bool accesses_sum(struct accesses *a, const char *formula, size_t *total)
{
    const struct traffic all = traffic_total();
    size_t predicted = 0;
    bool as_predicted = true;
    for (struct counted *line = a->line; line < a->line + a->n; line++) {
        line->count = seen_of(line->what);
        predicted += line->predicted;
        as_predicted &= line->count == line->predicted;
    }
    *total = all.loads + all.stores;
    a->line[a->n++] = (struct counted){ "all", *total, predicted, formula, "" };
    return as_predicted && *total == predicted;
}

void count_tiles_between(const struct attention *p, struct tile_size size, size_t begin, size_t end,
                         struct tile_counts *counts)
{
    for (size_t n = 0; n < p->B * p->H; n++)
        for (size_t i0 = 0; i0 < p->Nq; i0 += size.Br)
            for (size_t j0 = begin; j0 < end; j0 += size.Bc) {
                const size_t i1 = i0 + size.Br < p->Nq ? i0 + size.Br : p->Nq;
                const size_t j1 = j0 + size.Bc < end ? j0 + size.Bc : end;
                const enum tile_kind kind = tile_kind(p, n / p->H, n % p->H, i0, i1, j0, j1);
                counts->of_kind[kind]++;
                counts->queries += kind == TILE_SKIPPED ? 0 : i1 - i0;
                counts->keys += kind == TILE_SKIPPED ? 0 : j1 - j0;
                counts->pairs += kind == TILE_SKIPPED ? 0 : (i1 - i0) * (j1 - j0);
            }
}

struct tile_counts count_tiles(const struct attention *p, struct tile_size size)
{
    struct tile_counts counts = { .queries = 0 };
    count_tiles_between(p, size, 0, p->Nk, &counts);
    return counts;
}
