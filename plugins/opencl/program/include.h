/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the files on this machine that a program's #include lines may refer to, so that they are
 * sent to the node. Pure: a given function reads the files.
 *
 * The search includes too much rather than too little (it ignores comments and conditions), since
 * the node's compiler decides. The node gets the files at the same relative paths. The compiler
 * reports missing files. */
#ifndef OPENCL_INCLUDE_H
#define OPENCL_INCLUDE_H

#include <stdbool.h>
#include <stddef.h>

#define INCLUDE_FILES_MAX 4096
#define INCLUDE_BYTES_MAX (64u << 20) /* bytes of all files: the limit of a package */
#define INCLUDE_PATH_MAX  4096

struct include_file {
	char *path; /* absolute, without "." and ".." */
	char *text;
	size_t bytes;
};

struct include_set {
	/* Returns the file's bytes (malloc), or NULL if it does not exist. */
	char *(*read)(void *context, const char *path, size_t *bytes);
	void *context;
	const char *here;           /* the program's folder, absolute */
	const char *const *folders; /* folders of -I, in order; they may be relative to `here` */
	size_t folder_count;
	/* results */
	struct include_file *files;
	size_t file_count, total_bytes;
	/* absolute folders through which a file was found, in the order of `folders`, then `here`;
	 * NULL: not used. folder_count + 1 entries */
	char **used;
	bool computed; /* some file contains `#include NAME` */
};

/* Initialises the results. The members above must be set. False: no memory. */
bool include_begin(struct include_set *s);
/* Adds the files that this text includes, recursively. `path`: absolute path of the text; NULL: the
 * text is not a file. False: no memory. */
bool include_scan(struct include_set *s, const char *path, const char *text, size_t bytes);
/* Adds the file that `name` refers to, if any, and its includes. */
bool include_name(struct include_set *s, const char *name);
void include_clear(struct include_set *s);

/* Returns `path`, relative to `folder` unless absolute, without "." and ".."; the caller frees it.
 * NULL: no memory, or too long. */
char *include_path(const char *folder, const char *path);
/* Returns the deepest folder that contains all files and used folders; the caller frees it. */
char *include_root(const struct include_set *s);
/* Copies the text. Absolute includes of files in the set are replaced by `prefix` and the path
 * below `root`. NULL: no memory. */
char *include_rename(const struct include_set *s, const char *root, const char *prefix,
		     const char *text, size_t *bytes);

/* A line that includes a file, or defines a name as text that an #include could use. */
struct include_line {
	enum { INCLUDE_LINE, INCLUDE_NEXT, INCLUDE_COMPUTED, INCLUDE_DEFINED } kind;
	const char *at; /* name without quotes; at[-1] is " or < */
	size_t bytes;
};
/* Finds the next such line from *at on and advances *at past it. False: there is none. */
bool include_line_next(const char **at, const char *end, struct include_line *out);

#endif
