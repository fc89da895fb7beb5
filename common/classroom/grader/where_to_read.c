/*
 * Where to read again if a case goes wrong: of each topic the page and the section.
 */
#include "common/classroom/grader/grade.h"

#include <string.h>

/* Of each topic the page of a chapter, as a student has it too, and the section; then what it says. */
static const struct {
    enum topic topic;
    const char *chapters, *text;
} places[] = {
    { ON_OUTPUTS, "01 02 03 04 05 06 07", "exercise/README.md: what each part writes, and where" },
    { ON_SUM, "01 02",
      "README.md, The code: no weight can be written before the whole sum is known" },
    { ON_SUM, "03",
      "README.md, The idea: when the maximum moves, l is multiplied by e^(m_old - m_new)" },
    { ON_ROWS, "01 02", "README.md, The code: nothing is left over from the row before" },
    { ON_ROWS, "03",
      "README.md, The idea: when the maximum moves, l is multiplied by e^(m_old - m_new)" },
    { ON_SHIFT, "02 03", "README.md, The idea: the row's maximum is subtracted from every score" },
    { ON_ONLINE, "02", "README.md, The idea: the row's maximum is subtracted from every score" },
    { ON_ONLINE, "03",
      "README.md, The idea: when the maximum moves, l is multiplied by e^(m_old - m_new)" },
    { ON_INFINITY, "01", "README.md, Where it breaks: what the exponential of a score can be" },
    { ON_INFINITY, "02",
      "README.md, Does it work?: -inf has weight 0; a row of nothing else is NaN" },
    { ON_INFINITY, "03",
      "README.md, Minus infinity: -inf has weight 0; a row of nothing else is NaN" },
    { ON_INFINITY, "04", "README.md, Masks: a score of -inf has weight 0, also the first" },
    { ON_INFINITY, "05",
      "README.md, The algorithm, line by line: a score of -inf has weight 0, also the first" },
    { ON_MERGE, "03", "README.md, Merging two blocks: both sums are about the same maximum" },
    { ON_EMPTY, "03",
      "README.md, Merging two blocks: an empty block changes nothing and has no share" },
    { ON_RECURRENCE, "04",
      "README.md, The idea: what share of the weight the old keys keep, and the new one gets" },
    { ON_RECURRENCE, "05",
      "README.md, Step 2: FlashAttention: what the old O, and the new tile, are multiplied by" },
    { ON_RECURRENCE, "06",
      "pages/fa1.md, FlashAttention, one block per head: what the old O is multiplied by" },
    { ON_TILES, "04", "README.md, The code: any number of queries and of keys" },
    { ON_TILES, "05", "README.md, Tiles: the last tile of each direction may be smaller" },
    { ON_TILES, "06",
      "README.md, Threads that work together: the last tile of each direction may be smaller" },
    { ON_PRODUCTS, "05", "README.md, Step 1: the two products: every block adds its share" },
    { ON_SCALE, "04",
      "README.md, What attention computes: scores are scaled before their softmax" },
    { ON_SCALE, "05",
      "README.md, The algorithm, line by line: scores are scaled before their softmax" },
    { ON_SCALE, "06",
      "README.md, Step 1: attention as the formula says: scores are scaled before their softmax" },
    { ON_MASKS, "04",
      "README.md, Masks: what a query does not attend to has weight exactly 0, and is not read" },
    { ON_MASKS, "05",
      "pages/masks.md, Step 4: three kinds of tile: what is masked has weight exactly 0" },
    { ON_MASKS, "06",
      "README.md, Mistakes people make: a masked score is -inf, also the first of its row" },
    { ON_MASKS, "07",
      "pages/complete.md, Masks, dropout, grouped heads: what is masked has no gradient" },
    { ON_OTHER_MASKS, "05",
      "pages/options.md, Step 4, continued: other masks: which blocks are skipped whole" },
    { ON_GROUPS, "04 05 06", "common/docs/GLOSSARY.md: grouped heads" },
    { ON_WARP, "06", "pages/registers.md, Which thread has which scores: which lanes share a row" },
    { ON_FRAGMENTS, "06", "pages/tensor_cores.md, mma: fragments: which lane has which element" },
    { ON_SWIZZLE, "06",
      "pages/tensor_cores.md, swizzle: banks: each piece has a place of its own" },
    { ON_GRADIENTS, "07", "README.md, The derivation: which of the five products is it?" },
    { ON_DV, "07", "README.md, Through O = P V: dV is right if P and dO are" },
    { ON_DK, "07", "README.md, Through S = c Q K^T: dQ is right, so dS is" },
    { ON_DROPOUT, "07",
      "pages/complete.md, Masks, dropout, grouped heads: P before dropout goes into dS" },
    { ON_SCORE, "05",
      "pages/options.md, Step 7: a changed score: first the score is changed, then it is masked" },
    { ON_SCORE, "07", "exercise/README.md: what dS is multiplied by, and where the scale belongs" },
    { ON_SINK, "05", "exercise/README.md: a sink takes part in the softmax, and has no value" },
    { ON_COUNTS, "01", "README.md, What a memory access costs: what is counted" },
    { ON_COUNTS, "02 03", "README.md, What it costs: how many passes there are" },
    { ON_COUNTS, "04", "README.md, Count it: what is read how often" },
    { ON_COUNTS, "05", "pages/counting.md, The formulas: what is read how often" },
    { ON_COUNTS, "06", "pages/tensor_cores.md, swizzle: banks: what costs a cycle" },
    { ON_COUNTS, "07", "pages/tiles.md, Count it: what is read how often" },
};

void where_to_read(const struct assignment *a, enum topic topic, char text[200])
{
    text[0] = '\0';
    for (size_t k = 0; k < sizeof places / sizeof places[0] && !text[0]; k++) {
        const bool is_common = strncmp(places[k].text, "common/", 7) == 0;
        if (places[k].topic == topic && strstr(places[k].chapters, a->number))
            snprintf(text, 200, "%s%s%s", is_common ? "" : a->chapter, is_common ? "" : "/",
                     places[k].text);
    }
    if (!text[0] && topic != ON_NOTHING)
        options_fail("where_to_read.c", "expected a page of chapter %s for topic %d", a->number,
                     topic);
}

enum topic topic_of(enum topic of_case, const struct finding *f)
{
    if (f->missing || f->unlike[0])
        return ON_OUTPUTS;
    if (of_case != ON_GRADIENTS || !f->array)
        return of_case;
    return strcmp(f->array, "dV") == 0 ? ON_DV : strcmp(f->array, "dK") == 0 ? ON_DK : of_case;
}
