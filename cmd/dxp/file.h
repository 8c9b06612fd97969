/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares helpers for files. */
#ifndef CMD_DXP_FILE_H
#define CMD_DXP_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_BYTES 4096

/* Reads a whole file of at most `most` bytes and appends a zero byte, which *bytes does not count.
 * `bytes` may be NULL. The caller frees the buffer. Returns NULL with error_text() set on
 * failure. */
char *file_load(const char *path, size_t most, size_t *bytes);

/* Read the beginning or the last part of a file, at most `bytes` - 1, as a string. file_head also
 * reads files in /proc and /sys. Return false if it is unreadable. */
bool file_head(const char *path, char *out, size_t bytes);
bool file_tail(const char *path, char *out, size_t bytes);

/* Returns true if the name ends so and has more characters before the end. */
bool file_name_ends(const char *name, const char *end);

/* Calls `use` with the path of each file of a folder whose name ends so. Does nothing if the folder
 * is unreadable. */
void file_each(const char *folder, const char *end, void (*use)(void *context, const char *path),
	       void *context);

/* An output file that gets its name only when it is complete. "-" is standard output. An existing
 * file that is not regular is written directly. */
struct file_out {
	int fd;
	bool standard, plain;
	char path[PATH_BYTES], part[PATH_BYTES];
};

/* Each function prints the reason of a failure. */
bool file_out_open(struct file_out *out, const char *path);
bool file_out_close(struct file_out *out, bool complete);

#endif
