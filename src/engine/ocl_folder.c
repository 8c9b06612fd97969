/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/scratch.h"
#include "engine/ocl_include.h"

#define DEVICE_HEADER "dxp/device.h"
/* link to a folder with blanks in its path, which options cannot contain */
#define ALIAS "dxp-i"

/* The name is relative, without a part that is empty, "." or "..". */
static bool name_good(const char *name)
{
	if (!name || name[0] == '\0')
		return false;
	for (const char *part = name;; part++) {
		size_t bytes = strcspn(part, "/");
		if (bytes == 0 || bytes > NAME_MAX || strncmp(part, ".", bytes) == 0 ||
		    (bytes == 2 && strncmp(part, "..", 2) == 0))
			return false;
		part += bytes;
		if (*part == '\0')
			return true;
	}
}

static int reject(char **log, const char *what, const char *name)
{
	return asprintf(log, "%s: '%.200s'\n", what, name ? name : "") < 0 ? DXP_ENOMEM
									   : DXP_EBUILD;
}

static void folders_make(int root, const char *name)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
		mkdirat(root, part, 0700);
	}
}

static bool file_make(int root, const char *name, const void *data, size_t bytes)
{
	folders_make(root, name);
	int file = descriptor_raise(
		openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (file < 0)
		return false;
	bool written = descriptor_write(file, data, bytes);
	return close(file) == 0 && written;
}

static int files_make(int root, const struct engine_source *s, char **log)
{
	bool device_header = false;

	for (uint32_t i = 1; i < s->file_count; i++) {
		const struct engine_file *f = &s->files[i];
		if (!name_good(f->name))
			return reject(log,
				      "a header's name must be relative, without \"..\" or empty "
				      "parts",
				      f->name);
		device_header |= strcmp(f->name, DEVICE_HEADER) == 0;
		if (!file_make(root, f->name, f->data, f->bytes))
			return reject(log,
				      errno == EEXIST
					      ? "two headers have one name"
					      : "the xPU's machine cannot write this header",
				      f->name);
	}
	if (!device_header &&
	    !file_make(root, DEVICE_HEADER, ocl_device_header, strlen(ocl_device_header)))
		return reject(log, "the xPU's machine cannot write this header", DEVICE_HEADER);
	return DXP_OK;
}

int ocl_folder_create(const char *where, const struct engine_source *source, struct ocl_folder *out,
		      char **log)
{
	struct ocl_folder f;

	/* The path becomes part of an option, which ends at a blank. */
	if (strpbrk(where, " \t\n\"\\"))
		where = "/tmp";
	if (snprintf(f.path, sizeof(f.path), "%s/dxp-build-XXXXXX", where) >= (int)sizeof(f.path) ||
	    !mkdtemp(f.path)) {
		log_error("cannot create a folder for a program's headers in %s: %s; check that "
			  "the disk is not full",
			  where, strerror(errno));
		return DXP_EIO;
	}
	int root = descriptor_raise(open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int status = root < 0 ? DXP_EIO : files_make(root, source, log);
	if (root >= 0)
		close(root);
	if (status != DXP_OK) {
		ocl_folder_destroy(&f);
		return status;
	}
	*out = f;
	return DXP_OK;
}

void ocl_folder_destroy(const struct ocl_folder *f)
{
	scratch_folder_remove(f->path);
}

/* Blanks in quotes do not end an option. False: none is left. */
static bool word_next(const char **at, const char **word, size_t *bytes)
{
	const char *p = *at + strspn(*at, " \t\n\r");

	if (*p == '\0')
		return false;
	*word = p;
	for (bool quoted = false; *p && (quoted || !strchr(" \t\n\r", *p)); p++)
		quoted ^= *p == '"';
	*bytes = (size_t)(p - *word);
	*at = p;
	return true;
}

/* A path with blanks becomes a link. */
static int include_put(const struct ocl_folder *f, unsigned *aliases, const char *word,
		       size_t bytes, FILE *out, char **log)
{
	char folder[PATH_MAX / 4], path[PATH_MAX], alias[PATH_MAX];
	struct stat s;
	size_t used = 0;

	for (size_t i = 0; i < bytes && used + 1 < sizeof(folder); i++)
		if (word[i] != '"')
			folder[used++] = word[i];
	folder[used] = '\0';
	while (used > 1 && folder[used - 1] == '/')
		folder[--used] = '\0';
	if (!f || !name_good(folder) ||
	    snprintf(path, sizeof(path), "%s/%s", f->path, folder) >= (int)sizeof(path) ||
	    stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
		return reject(log,
			      "-I: on an xPU, only the folders of the program's own headers exist",
			      folder);
	if (strpbrk(folder, " \t\\'")) {
		snprintf(alias, sizeof(alias), "%s/" ALIAS "%u", f->path, (*aliases)++);
		if (symlink(folder, alias) != 0)
			return reject(log, "-I: the xPU's machine cannot link this folder", folder);
		snprintf(path, sizeof(path), "%s", alias);
	}
	fprintf(out, "-I %s ", path);
	return DXP_OK;
}

static int options_put(const struct ocl_folder *f, const char *options, FILE *out, char **log)
{
	const char *at = options, *word;
	unsigned aliases = 0;
	int status = DXP_OK;
	size_t bytes;

	while (status == DXP_OK && word_next(&at, &word, &bytes)) {
		if (bytes < 2 || strncmp(word, "-I", 2) != 0) {
			fprintf(out, "%.*s ", (int)bytes, word);
			continue;
		}
		if (bytes > 2) {
			word += 2;
			bytes -= 2;
		} else if (!word_next(&at, &word, &bytes)) {
			return reject(log, "the last option lacks its folder", "-I");
		}
		status = include_put(f, &aliases, word, bytes, out, log);
	}
	if (f)
		fprintf(out, "-I %s ", f->path);
	return status;
}

int ocl_folder_options(const struct ocl_folder *f, const char *options, char **out, char **log)
{
	size_t bytes;
	char *made = NULL;
	FILE *stream = open_memstream(&made, &bytes);

	if (!stream)
		return DXP_ENOMEM;
	int status = options_put(f, options, stream, log);
	if (fclose(stream) != 0 && status == DXP_OK)
		status = DXP_ENOMEM;
	if (status == DXP_OK)
		*out = made;
	else
		free(made);
	return status;
}

void ocl_folder_hide(const struct ocl_folder *f, char *log)
{
	size_t bytes = strlen(f->path) + 1;

	for (char *at = log; (at = strstr(at, f->path));) {
		size_t cut = at[bytes - 1] == '/' ? bytes : bytes - 1;
		memmove(at, at + cut, strlen(at + cut) + 1);
	}
}
