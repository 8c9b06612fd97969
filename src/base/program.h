/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of each of our programs: secures descriptors 0 to 2, checks the output. Libraries
 * never call this: descriptors, signals and exit belong to the program. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>

/* The first call of main. Names the program in messages (`name` lives as long as the process).
 * Opens /dev/null on each of the descriptors 0, 1 and 2 that is closed. Lets a write beyond the
 * limit on file sizes fail with EFBIG, where the default is to end the process without a word. At
 * exit, standard output is checked by program_output_check; a failure makes the exit status 1. */
void program_begin(const char *name);

/* Descriptor 0, 1 or 2 was closed when the program began: what is written there is dropped, and
 * nothing can be read. */
bool program_was_closed(int fd);

/* Writes out what standard output still holds. False, after one message on standard error: some of
 * its text is lost. */
bool program_output_check(void);

#endif
