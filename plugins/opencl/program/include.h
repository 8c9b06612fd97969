/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the files on this machine that #include lines of a program may refer to, because they must
 * be sent to the node. It makes no I/O itself: a function of the caller reads the files.
 *
 *  It ignores comments and conditions, so it finds too many files rather than too few; the node's
 *  compiler decides which it needs, and reports missing files. On the node, the files have the same
 *  relative paths. */
#ifndef OPENCL_INCLUDE_H
#define OPENCL_INCLUDE_H

#include <stdbool.h>
#include <stddef.h>

#define INCLUDE_FILES_MAX 4096
/* bytes of all files together; the limit of a package */
#define INCLUDE_BYTES_MAX (64u << 20)
#define INCLUDE_PATH_MAX  4096

struct include_file {
	char *path; /* absolute path, without "." and ".." */
	char *text;
	size_t bytes;
};

/* An option -D NAME=VALUE whose value is an absolute path, for lines such as
 * `#include TEXT(NAME/file.h)`. */
struct include_macro {
	char *name, *value;
	/* Result: the path without "." and ".." if a file was found through it, else NULL. */
	char *folder;
};

struct include_set {
	/* Returns the bytes of the file (malloc); NULL: it does not exist. */
	char *(*read)(void *context, const char *path, size_t *bytes);
	void *context;
	const char *here; /* folder of the program, absolute */
	/* folders of the options -I, in order; may be relative to `here` */
	const char *const *folders;
	size_t folder_count;
	struct include_macro *macros; /* the caller frees them and their members */
	size_t macro_count;
	/* Results: */
	struct include_file *files;
	size_t file_count, total_bytes;
	/* Absolute paths of the folders in which a file was found, NULL for the others: first
	 * `folders`, then `here`, so folder_count + 1 entries. */
	char **used;
	bool computed; /* true: a file contains `#include NAME`, where NAME is a macro */
};

/* Initializes the results; the caller must have set the members before them. False: memory is
 * short. */
bool include_begin(struct include_set *s);
/* Adds the files that this text includes, directly or indirectly. `path` is its absolute path;
 * NULL: the text is not a file. False: memory is short. */
bool include_scan(struct include_set *s, const char *path, const char *text, size_t bytes);
/* Adds the file that `name` refers to, if it exists, and the files that it includes. */
bool include_name(struct include_set *s, const char *name);
void include_clear(struct include_set *s);

/* Returns an absolute path without "." and ".."; a relative `path` begins at `folder`. The caller
 * frees it. NULL: memory is short or the path is too long. */
char *include_path(const char *folder, const char *path);
/* Returns the deepest folder that contains all files, and all folders of `used` and of macros. The
 * caller frees it. */
char *include_root(const struct include_set *s);
/* Copies the text, in which `prefix` and the path below `root` replace absolute paths of files in
 * the set. NULL: memory is short. */
char *include_rename(const struct include_set *s, const char *root, const char *prefix,
		     const char *text, size_t *bytes);

/* A line that includes a file, or defines a macro as a name that an #include could use. */
struct include_line {
	enum { INCLUDE_LINE, INCLUDE_NEXT, INCLUDE_COMPUTED, INCLUDE_DEFINED } kind;
	/* name without the quotes, at[-1] is " or <; INCLUDE_COMPUTED: the rest of the line */
	const char *at;
	size_t bytes;
};
/* Finds the next such line from *at on, and moves *at after it. False: there is none. */
bool include_line_next(const char **at, const char *end, struct include_line *out);

#endif
