#ifndef COMMON_TESTS_SOFTMAX_PROGRAM_H
#define COMMON_TESTS_SOFTMAX_PROGRAM_H

/* `program` is a name like "03_online_softmax". */
void assert_program_tells(const char *program, const char *const parts[], unsigned count);
void assert_program_takes_its_options(const char *program);
void assert_program_writes_what_numpy_reads(const char *program);
void assert_program_refuses_bad_options(const char *program);
void assert_program_refuses_bad_files(const char *program);
void assert_program_refuses_bad_outputs(const char *program);
void assert_program_refuses_too_much(const char *program);

#endif
