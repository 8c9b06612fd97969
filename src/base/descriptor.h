/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps descriptors 0, 1 and 2 free for standard streams. The kernel assigns the lowest free
 * number. If a program starts with one of the three closed, an open file or socket could get it,
 * and text would be written into it. Code that runs inside other programs (src/, plugins/)
 * therefore passes each descriptor that it opens or receives through these functions; tools/tidy
 * checks that. Our own programs also fill missing ones at start (base/program.h).
 *
 * Another thread may write to the low number between open and move. No system call closes this
 * gap. */
#ifndef BASE_DESCRIPTOR_H
#define BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdio.h>

#define DESCRIPTOR_FIRST 3 /* lowest after standard input, output and error */

/* Moves a descriptor that is 0, 1 or 2 to a higher number; returns any other unchanged, also -1. A
 * moved descriptor is closed on exec. Returns -1 with errno set if none is free; `fd` is closed
 * then. Otherwise keeps errno. */
int descriptor_raise(int fd);

/* Moves both descriptors of socketpair or pipe2; `made` is the result of that call. Returns 0, or
 * -1 with errno set and both closed. */
int descriptor_raise_pair(int made, int fds[2]);

/* As fopen (`mode` contains "e") and opendir. */
FILE *descriptor_fopen(const char *path, const char *mode);
DIR *descriptor_opendir(const char *path);

#endif
