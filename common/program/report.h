/*
 * What a chapter prints: the same parts in the same columns in every chapter.
 *
 *     Label             text, and tables in columns, no wider than 100
 *
 * Everything goes to standard output; with --quiet only the verdict does.
 */
#ifndef COMMON_REPORT_H
#define COMMON_REPORT_H

#include <stdbool.h>
#include <stddef.h>

struct comparison;  // tolerance.h
struct counted;     // accesses.h

/* "03", "Online softmax", and the chapter's main idea. */
void report_start(const char *chapter, const char *title, const char *idea, bool quiet);

/* Standard output is used for data, so the line printed with --quiet goes to standard error. */
void report_aside(void);

/* Begins the part `label`, printed before its first line. */
void report_part(const char *label);

/* One line of the part, given without its newline. */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "26 896": a number in groups of three digits; returns `text`. */
char *report_number(size_t number, char text[32]);

/* "0.25", "NaN": `digits` digits, and NaN without printf's sign; returns `text`. */
char *report_value(double x, int digits, char text[32]);

/* "none", "264 B", "215.2 kB": an amount of memory; returns `text`. */
char *report_bytes(size_t bytes, char text[32]);

/* "0.0512 ms", "12.3 ms": three digits of a time; returns `text`. */
char *report_milliseconds(double seconds, char text[24]);

/* "[0.0900 0.6652 0.2447]": n numbers, each printed by `format`; returns `text`. */
char *report_row(const char *format, const float *x, size_t n, char *text, size_t size);

/*
 * The part "Counted". The column `per` ("per row of N") has the counts divided by `unit`, in units
 * of `suffix` (" N"). A count that differs from the formula makes the verdict wrong.
 */
void report_counted(const struct counted *lines, size_t n, const char *per, size_t unit,
                    const char *suffix);

/*
 * Instead of that part, or as a line of another if `label` is NULL: notes that there is no
 * instrumented build (watch.h).
 */
void report_not_counted(const char *label);

/*
 * The part "Compared with": for each comparison that has a `with`, the largest error, absolute and
 * as a fraction of the rounding bound (above 1 is an error). Then the neighbourhood of the worst
 * element, computed and expected side by side.
 */
void report_compared(const struct comparison *comparisons, size_t n);

/* The part "Next": what to read next. */
void report_next(const char *text);

/* Prints an error that no comparison covers, and makes the verdict wrong. */
void report_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A chapter's line in the table that `make run` prints at the end. */
struct summary {
    const char *accesses;  // "3 N / row"
    size_t counted;        // accesses in this run; 0: not counted, nor extra_bytes
    size_t extra_bytes;    // memory besides inputs and outputs
    double milliseconds;
    double error;           // the largest against the double reference
    const char *previous;   // the previous stage, NULL if there is none …
    double previous_error;  // … and the largest difference from it
};

/* report_close will write it to `path`, as comma-separated values with a header. */
void report_summary(const char *path, const struct summary *summary);

/* The columns of a ladder's CSV; `on` is "threads" or "device". */
#define REPORT_SPEED_CSV(on)                                    \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction," on \
    ",milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error\n"

/* Appends a line of comma-separated values to `text`; what does not fit is left out. */
enum { REPORT_CSV = 40000 };
void report_append(char text[REPORT_CSV], const char *line);

/*
 * report_close will write `text`, lines of comma-separated values, to `path`. The last text for a
 * path wins.
 */
void report_csv(const char *path, const char *text);

/*
 * report_close will write float32 numbers of this shape to `path`, as .npy; nothing happens if
 * `path` is NULL.
 */
void report_array(const char *path, int dims, const size_t *shape, const float *x);

/*
 * Flushes standard output, then writes all files that the three functions above have queued
 * (file.h). Exits with 2 if any of it cannot be written.
 */
void report_close(void);

/*
 * Ends the report and returns the exit status: verified, or not; with --quiet this prints the one
 * line. Then it closes the report: a file appears only after everything has been verified and
 * printed. Exits with 2 if the command line names a file that was not written.
 */
int report_finish(void);

#endif
