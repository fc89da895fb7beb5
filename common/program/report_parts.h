/*
 * Between the files of report.h.
 */
#ifndef COMMON_REPORT_PARTS_H
#define COMMON_REPORT_PARTS_H

#include "common/check/tolerance.h"
#include "common/program/report.h"

#include <stdbool.h>
#include <stddef.h>

extern struct report {
    const char *chapter, *title;
    const char *label;  // of the part whose first line is to come, else ""
    bool begun, quiet, aside, wrong;
} report;

/* Exits unless each requested output is kept by now. */
void report_check_files(void);

/* What is wrong with a result: the elements around the worst one, along the last axis, got and expected. */
void report_neighbourhood(const struct comparison *c);

/* The coordinates in the whole result of element `index` of the given rows. */
const char *report_place(struct axes axes, size_t index, char *text, size_t size);

#endif
