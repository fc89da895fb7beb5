/*
 * The programs that are made from a submission, run one at a time, each in a file system of its own.
 */
#ifndef CLASSROOM_RUN_H
#define CLASSROOM_RUN_H

#include "common/classroom/grader/grade.h"

/*
 * What a program may take: seconds of the processor's time, and MB of memory; and seconds by the clock for all of a
 * submission's, so that a service's ten minutes suffice.
 */
enum { SECONDS = 4, MEMORY = 512, MOST_SECONDS = 240, PATH_ROOM = 4200 };

/* What the grader was told; grade.c says what is where. */
struct grading {
    const char *course, *build, *number, *work, *reports, *user;
    uint64_t seed;
    long seconds;  // for all that is tried
};
extern struct grading given;

const char *path_of(const char *folder, const char *name, char path[PATH_ROOM]);

/* Up to `size` - 1 bytes of a file, without what a terminal might take for orders; "" if there is none. */
void read_text(const char *path, char *text, size_t size);

/* Is there WORK/root/bin/PROGRAM-VARIANT? */
bool was_built(const char *program, const char *variant);

/*
 * Prepares in/ and out/, runs the program and says how it ended. VARIANT is how the submission was built, or "course".
 * `options` gets what it was given besides files.
 */
void run_case(const struct graded_program *program, const struct test_case *c,
              const struct case_input *in, const char *variant, char *options, size_t size,
              char verdict[300]);

/* Is there something in out/? A program that ended in silence has written nothing. */
bool has_output(enum kind kind);

/* Runs the stage before on the same input; the folder that has its outputs, or NULL if it cannot do it. */
const char *run_before(const struct graded_program *program, const char *options,
                       char folder[PATH_ROOM]);

#endif
