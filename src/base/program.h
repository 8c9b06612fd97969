/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and exit of our own programs. Not for libraries: descriptors, signals and exit belong to
 * the program. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>

/* Must be the first call of main. `name` is for messages and must stay valid. Opens /dev/null on
 * closed descriptors 0, 1 and 2. A write beyond the file size limit then fails with EFBIG instead
 * of killing the process. Runs program_output_check at exit; if that fails, the status is 1. */
void program_begin(const char *name);

/* Sets the handler of SIGTERM and SIGINT, without SA_RESTART: a blocked call then fails with EINTR.
 * Ignores SIGPIPE, so that writes to a closed pipe fail with EPIPE. */
void program_signals_set(void (*handler)(int number));

/* Raises the soft limit of open descriptors to the hard limit. */
void program_descriptors_raise(void);

/* 0, 1 or 2 was closed at the start: output is dropped, input is empty. */
bool program_was_closed(int fd);

/* Flushes standard output. False: text was lost, reported once on standard error. */
bool program_output_check(void);

#endif
