/*
 * Between the files of report.h.
 */
#ifndef COMMON_REPORT_PARTS_H
#define COMMON_REPORT_PARTS_H

#include "common/check/tolerance.h"
#include "common/program/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The chapter of report_start, and whether an error was found. */
const char *report_chapter(void);
bool report_is_wrong(void);

/* "ok"; or "WRONG", which also makes the verdict wrong. */
const char *report_mark(bool right);

/* Exits unless each requested output is kept by now. */
void report_check_files(void);

/* What is wrong with a result: the elements around the worst one, along the last axis, got and expected. */
void report_neighbourhood(const struct comparison *c);

/* The coordinates in the whole result of element `index` of the given rows. */
const char *report_place(struct axes axes, size_t index, char *text, size_t size);

#endif
