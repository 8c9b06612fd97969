/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and exit of our own programs: secures descriptors 0 to 2, checks the output. Libraries must
 * not use this: descriptors, signals and exit belong to the program. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>

/* Must be the first call of main. Sets the program name in messages (`name` lives as long as the
 * process). Opens /dev/null on each closed descriptor of 0, 1 and 2. Makes a write beyond the file
 * size limit fail with EFBIG instead of killing the process. At exit, runs program_output_check;
 * its failure makes the exit status 1. */
void program_begin(const char *name);

/* Returns true if descriptor 0, 1 or 2 was closed at program start. Output to it is dropped, input
 * is empty. */
bool program_was_closed(int fd);

/* Flushes standard output. Returns false after one message on standard error if text is lost. */
bool program_output_check(void);

#endif
