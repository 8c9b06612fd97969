/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and exit of our own programs. Libraries must not use this: descriptors, signals and exit
 * belong to the program. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>

/* Must be the first call of main. `name` appears in messages and must stay valid. Opens /dev/null
 * on each of descriptors 0, 1 and 2 that is closed. A write beyond the file size limit then fails
 * with EFBIG; without this call it would kill the process. At exit, runs program_output_check; if
 * that fails, the exit status is 1. */
void program_begin(const char *name);

/* Returns true if descriptor 0, 1 or 2 was closed at program start: output to it is dropped, input
 * is empty. */
bool program_was_closed(int fd);

/* Flushes standard output. If text is lost, reports it once on standard error and returns false. */
bool program_output_check(void);

#endif
