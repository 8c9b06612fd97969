/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files of this machine a program's #include lines may mean, so that they go to the node with
 * it. Pure: files are read by a function that is given.
 *
 * It finds too many rather than too few (comments and conditions are not looked at), since the
 * node's compiler decides in the end: it has them in folders that lie to each other as they do
 * here. What is not found is left to it, too, to complain of. */
#ifndef DOOR_INCLUDE_H
#define DOOR_INCLUDE_H

#include <stdbool.h>
#include <stddef.h>

#define INCLUDE_FILES_MAX 4096
#define INCLUDE_BYTES_MAX (64u << 20) /* of all files: as much as a package may have */
#define INCLUDE_PATH_MAX  4096

struct include_file {
	char *path; /* absolute, without "." and ".." */
	char *text;
	size_t bytes;
};

struct include_set {
	/* The file's bytes (malloc), or NULL where there is none. */
	char *(*read)(void *context, const char *path, size_t *bytes);
	void *context;
	const char *here;           /* the program's folder, absolute */
	const char *const *folders; /* of -I, in order; may be relative to `here` */
	size_t folder_count;
	/* found */
	struct include_file *files;
	size_t file_count, total_bytes;
	char **used; /* folders, absolute: some file was found through each; in their order, `here`
			last; NULL: not used. folder_count + 1 */
	bool computed; /* some file has `#include NAME` */
};

/* Begins with what is set above `found`. False: no memory. */
bool include_begin(struct include_set *s);
/* Adds what this text includes, and what that includes in turn. `path`: the text's own, absolute;
 * NULL: it is no file. */
bool include_scan(struct include_set *s, const char *path, const char *text, size_t bytes);
/* Adds what `name` means, when it means anything. */
bool include_name(struct include_set *s, const char *name);
void include_clear(struct include_set *s);

/* `path`, from `folder` when it is relative, without "." and ".."; NULL: no memory, or too long. */
char *include_path(const char *folder, const char *path);
/* The longest folder that has all files and used folders; for the caller to free. */
char *include_root(const struct include_set *s);
/* A copy of the text in which includes by an absolute path that is in the set name
 * `prefix` and the path behind `root` instead. NULL: no memory. */
char *include_rename(const struct include_set *s, const char *root, const char *prefix,
		     const char *text, size_t *bytes);

/* A line that includes, or defines a name as something that could be included. */
struct include_line {
	enum { INCLUDE_LINE, INCLUDE_NEXT, INCLUDE_COMPUTED, INCLUDE_DEFINED } kind;
	const char *at; /* of the name, without its quotes; at[-1] is " or < */
	size_t bytes;
};
/* The next one from *at on, which it moves behind. False: there is none. */
bool include_line_next(const char **at, const char *end, struct include_line *out);

#endif
