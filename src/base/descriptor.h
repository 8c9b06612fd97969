/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps descriptors 0, 1 and 2 free for standard streams. If a program starts with one of them
 * closed, the next file that it opens gets this number. Text for the stream then damages that file.
 * Code that runs inside other programs (src/, plugins/) passes every new descriptor through these
 * functions; tools/tidy checks this. Programs of this project open missing streams at their start
 * (base/program.h).
 *
 * Between opening and moving a descriptor, another thread may still write to the low number. No
 * system call prevents this. */
#ifndef BASE_DESCRIPTOR_H
#define BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DESCRIPTOR_FIRST 3 /* lowest descriptor after standard input, output and error (0 .. 2) */

/* Moves a descriptor 0, 1 or 2 to a higher number, closed on exec. Returns any other number
 * unchanged, including -1. If no number is free, closes `fd` and returns -1 with errno set;
 * otherwise does not change errno. */
int descriptor_raise(int fd);

/* Moves both descriptors of socketpair or pipe2. `made` is the result of that call. Returns 0, or
 * -1 with errno set and both descriptors closed. */
int descriptor_raise_pair(int made, int fds[2]);

/* Like fopen (`mode` must contain "e") and opendir, these functions open a file or a folder. They
 * move its descriptor above 2. */
FILE *descriptor_fopen(const char *path, const char *mode);
DIR *descriptor_opendir(const char *path);

/* Creates zeroed memory of fixed size that processes can share. It can never shrink, because access
 * beyond the end of a file raises SIGBUS. Returns a descriptor, closed on exec; or -1 with errno
 * set. */
int descriptor_memory(const char *name, uint64_t bytes);

/* Frees whole pages of such memory. Processes that map the pages then read zeros. Returns false
 * with errno set. */
bool descriptor_discard(int fd, uint64_t offset, uint64_t bytes);

/* Writes all bytes, also if signals interrupt the write. Returns false with errno set. */
bool descriptor_write(int fd, const void *data, size_t bytes);

#endif
