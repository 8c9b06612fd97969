/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps descriptors 0, 1 and 2 for standard streams: otherwise a program started without one opens
 * a file there, and text for the stream damages it. Code inside other programs (src/, plugins/)
 * passes every new descriptor through here; tools/tidy checks that.
 *
 * Before the move, another thread may still write to the low number; no system call prevents
 * this. */
#ifndef BASE_DESCRIPTOR_H
#define BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DESCRIPTOR_FIRST 3 /* after 0 .. 2 */

/* Moves 0, 1 or 2 higher, closed on exec; others, and -1, stay. Without a free number, closes `fd`
 * and returns -1 with errno; otherwise errno stays. */
int descriptor_raise(int fd);

/* Moves both descriptors of socketpair or pipe2, which returned `made`. Returns 0, or -1 with errno
 * and both closed. */
int descriptor_raise_pair(int made, int fds[2]);

/* Open as fopen (`mode` must contain "e") and opendir do, with the descriptor above 2. */
FILE *descriptor_fopen(const char *path, const char *mode);
DIR *descriptor_opendir(const char *path);

/* Creates zeroed shareable memory that never shrinks, because access beyond a file's end raises
 * SIGBUS. Returns a descriptor, closed on exec, or -1 with errno. */
int descriptor_memory(const char *name, uint64_t bytes);

/* Frees whole pages, which then read as zeros. Returns false with errno. */
bool descriptor_discard(int fd, uint64_t offset, uint64_t bytes);

/* Writes all bytes, also if signals interrupt. Returns false with errno. */
bool descriptor_write(int fd, const void *data, size_t bytes);

#endif
