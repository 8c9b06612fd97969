/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors 0, 1 and 2 carry a program's text, also where the program was started with one of
 * them closed. The kernel gives out the lowest free number, so an open file or socket could land
 * there, and text would go into it. Code that runs inside other people's programs (src/, doors/)
 * therefore passes each descriptor that it opens or receives through here; tools/tidy checks that.
 * Our own programs also fill the missing ones at their start (base/program.h).
 *
 * Another thread may write to the low number between open and move. No system call closes this
 * gap. */
#ifndef BASE_DESCRIPTOR_H
#define BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdio.h>

#define DESCRIPTOR_FIRST 3 /* the lowest that is not standard input, output or error */

/* Moves a descriptor that is 0, 1 or 2 to a higher number; returns any other unchanged, also -1.
 * The descriptor returned is closed on exec if it moved. -1 with errno set: none is free, and `fd`
 * is closed. Keeps errno otherwise. */
int descriptor_raise(int fd);

/* Moves both ends that socketpair or pipe2 made; `made` is what that call returned. Returns 0, or
 * -1 with errno set and both closed. */
int descriptor_raise_pair(int made, int fds[2]);

/* fopen with "e" in `mode`, and opendir. */
FILE *descriptor_fopen(const char *path, const char *mode);
DIR *descriptor_opendir(const char *path);

#endif
