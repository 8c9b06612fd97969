/* SPDX-License-Identifier: BSD-3-Clause */
/* Small things done with files. */
#ifndef CMD_DXP_FILE_H
#define CMD_DXP_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_BYTES 4096

/* Writes all of it; false with errno set. */
bool file_write(int fd, const void *data, size_t bytes);

/* At most `bytes` - 1 of a file's beginning (also of one in /proc or /sys) or end, as a string.
 * False when it cannot be read. */
bool file_head(const char *path, char *out, size_t bytes);
bool file_tail(const char *path, char *out, size_t bytes);

/* A file that appears under its name when it is complete, or not at all. "-" is standard output;
 * what exists and is no plain file is written directly. */
struct file_out {
	int fd;
	bool standard, plain;
	char path[PATH_BYTES], part[PATH_BYTES];
};

/* Each says why it failed. */
bool file_out_open(struct file_out *out, const char *path);
bool file_out_close(struct file_out *out, bool complete);

#endif
