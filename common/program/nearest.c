#include "common/program/option_table.h"

#include <string.h>

enum { LONGEST_NAME = 20 };  // of an option

/* How many letters must be changed, added or left out to make `b` of the first n letters of `a`. */
static size_t edits_between(const char *a, size_t n, const char *b)
{
    size_t row[LONGEST_NAME + 1];  // row[j]: from the letters of `a` so far to the first j of `b`
    const size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; i < n; i++) {
        size_t before = row[0]++;
        for (size_t j = 0; j < length; j++) {
            const size_t changed = before + (a[i] != b[j]);
            const size_t shorter = row[j] < row[j + 1] ? row[j] : row[j + 1];
            before = row[j + 1];
            row[j + 1] = changed < shorter + 1 ? changed : shorter + 1;
        }
    }
    return row[length];
}

/*
 * The program's option that is at most two letters away from `word`, or NULL; also NULL if no
 * letter is wrong.
 */
static const char *nearest_to(const char *word, const struct program *program)
{
    const char *nearest = NULL;
    size_t least = 3;
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    word += 2;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        const size_t length = strlen(row->name);
        const size_t edits = edits_between(word, strcspn(word, "="), row->name);
        if (edits == 0 && !option_taken(program, row))
            return NULL;  // another chapter's
        if (option_taken(program, row) && edits < least && edits + 1 < length) {
            least = edits;
            nearest = row->name;
        }
    }
    return nearest;
}

const struct option_row *option_unknown(const struct program *program, const char *word)
{
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++)
        if (option_taken(program, row) && strcmp(row->name, "step") == 0 &&
            strncmp(word, "--kernel", strcspn(word, "=")) == 0 && strcspn(word, "=") == 8)
            return row;
    const char *const nearest = nearest_to(word, program);
    if (nearest)
        options_fail(word, "did you mean --%s?", nearest);
    options_fail(word, "expected an option of this chapter; --help lists them");
}
