/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/program/include.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `out` is empty or begins with '/'. */
static bool path_add(char *out, const char *path)
{
	size_t have = strlen(out);

	while (*path) {
		size_t bytes = strcspn(path, "/");
		if (bytes == 2 && path[0] == '.' && path[1] == '.') {
			while (have > 0 && out[--have] != '/')
				;
		} else if (bytes > 0 && !(bytes == 1 && path[0] == '.')) {
			if (have + bytes + 2 > INCLUDE_PATH_MAX)
				return false;
			out[have++] = '/';
			memcpy(out + have, path, bytes);
			have += bytes;
		}
		out[have] = '\0';
		path += bytes;
		path += strspn(path, "/");
	}
	return true;
}

char *include_path(const char *folder, const char *path)
{
	char *out = calloc(1, INCLUDE_PATH_MAX);

	if (!out)
		return NULL;
	if (!(path[0] == '/' || path_add(out, folder)) || !path_add(out, path)) {
		free(out);
		return NULL;
	}
	return out;
}

bool include_begin(struct include_set *s)
{
	s->files = NULL;
	s->file_count = s->total_bytes = 0;
	s->computed = false;
	s->used = calloc(s->folder_count + 1, sizeof(*s->used));
	return s->used != NULL;
}

void include_clear(struct include_set *s)
{
	for (size_t i = 0; i < s->file_count; i++) {
		free(s->files[i].path);
		free(s->files[i].text);
	}
	for (size_t i = 0; s->used && i <= s->folder_count; i++)
		free(s->used[i]);
	free(s->files);
	free(s->used);
	s->files = NULL;
	s->used = NULL;
	s->file_count = s->total_bytes = 0;
}

static bool known(const struct include_set *s, const char *path)
{
	for (size_t i = 0; i < s->file_count; i++)
		if (strcmp(s->files[i].path, path) == 0)
			return true;
	return false;
}

/* Owns `path` and `text`, even if it fails. */
static bool file_add(struct include_set *s, char *path, char *text, size_t bytes)
{
	struct include_file *more =
		realloc(s->files, (s->file_count + 1) * sizeof(struct include_file));

	if (!more) {
		free(path);
		free(text);
		return false;
	}
	s->files = more;
	s->files[s->file_count++] = (struct include_file){path, text, bytes};
	s->total_bytes += bytes;
	return true;
}

/* False: memory is short. */
static bool add_file(struct include_set *s, const char *folder, const char *name, bool *found)
{
	char *path = include_path(folder, name);
	size_t bytes = 0;

	*found = path && known(s, path);
	/* if the path is empty, `name` is not the name of a file */
	if (!path || *found || !*path) {
		free(path);
		return true;
	}
	char *text = NULL;
	if (s->file_count < INCLUDE_FILES_MAX)
		text = s->read(s->context, path, &bytes);
	if (text && bytes > INCLUDE_BYTES_MAX - s->total_bytes) {
		free(text);
		text = NULL;
	}
	*found = text != NULL;
	if (text)
		return file_add(s, path, text, bytes);
	free(path);
	return true;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t bytes = slash ? (size_t)(slash - path) : 0;
	char *folder = calloc(1, bytes + 1);

	if (folder)
		memcpy(folder, path, bytes);
	return folder;
}

static bool add_beside(struct include_set *s, const char *path, const char *name, bool *found)
{
	char *folder = folder_of(path);
	bool good = folder && add_file(s, folder, name, found);

	free(folder);
	return good;
}

static bool add_through(struct include_set *s, size_t index, const char *name, bool *found)
{
	char *folder = include_path(s->here, index < s->folder_count ? s->folders[index] : ".");
	bool good = !folder || add_file(s, folder, name, found);

	if (good && *found && folder && !s->used[index]) {
		s->used[index] = folder;
		return true;
	}
	free(folder);
	return good;
}

/* `path` is the text that includes `name`. With `all`, adds the file from each folder that has it,
 * because #include_next skips the first one. */
static bool search(struct include_set *s, const char *path, const char *name, bool all)
{
	bool found = false, good = true;

	if (name[0] == '/')
		return add_file(s, "", name, &found);
	if (path)
		good = add_beside(s, path, name, &found);
	for (size_t i = 0; good && (all || !found) && i <= s->folder_count; i++)
		good = add_through(s, i, name, &found);
	return good;
}

/* Adds the file `name`, in which the macro's value replaces the macro's name at the beginning.
 * False: memory is short. */
static bool search_below(struct include_set *s, struct include_macro *m, const char *name)
{
	char path[INCLUDE_PATH_MAX];
	bool found = false;
	int bytes = snprintf(path, sizeof(path), "%s%s", m->value, name + strlen(m->name));

	if (bytes < 0 || (size_t)bytes >= sizeof(path))
		return true;
	if (!add_file(s, "", path, &found))
		return false;
	if (found && !m->folder)
		m->folder = include_path("", m->value);
	return !found || m->folder;
}

/* Adds the file of a line such as `TEXT(NAME/file.h)`, where NAME is a macro that is a path. */
static bool computed_search(struct include_set *s, const struct include_line *l)
{
	const char *open = memchr(l->at, '(', l->bytes), *end = l->at + l->bytes;
	const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
	char name[INCLUDE_PATH_MAX];

	if (!close || (size_t)(close - open) >= sizeof(name))
		return true;
	for (open++; open < close && *open == ' '; open++)
		;
	for (; close > open && close[-1] == ' '; close--)
		;
	memcpy(name, open, (size_t)(close - open));
	name[close - open] = '\0';
	for (size_t i = 0; i < s->macro_count; i++) {
		size_t bytes = strlen(s->macros[i].name);
		if (strncmp(name, s->macros[i].name, bytes) == 0 && name[bytes] == '/' &&
		    !search_below(s, &s->macros[i], name))
			return false;
	}
	return true;
}

static bool line_parse(struct include_set *s, const char *path, const struct include_line *l)
{
	if (l->kind == INCLUDE_COMPUTED) {
		s->computed = true;
		return computed_search(s, l);
	}
	if (l->bytes >= INCLUDE_PATH_MAX || memchr(l->at, '\0', l->bytes) ||
	    (l->kind == INCLUDE_DEFINED && !s->computed))
		return true;
	char *name = calloc(1, l->bytes + 1);
	if (!name)
		return false;
	memcpy(name, l->at, l->bytes);
	bool good = search(s, path, name, l->kind == INCLUDE_NEXT);
	free(name);
	return good;
}

static bool scan_text(struct include_set *s, const char *path, const char *text, size_t bytes)
{
	const char *at = text;
	struct include_line line;

	while (include_line_next(&at, text + bytes, &line))
		if (!line_parse(s, path, &line))
			return false;
	return true;
}

/* Includes files that are added meanwhile. The texts do not move when the array of files grows. */
static bool scan_files(struct include_set *s, size_t first)
{
	for (size_t i = first; i < s->file_count; i++)
		if (!scan_text(s, s->files[i].path, s->files[i].text, s->files[i].bytes))
			return false;
	return true;
}

bool include_scan(struct include_set *s, const char *path, const char *text, size_t bytes)
{
	size_t first = s->file_count;
	bool computed = s->computed;

	if (!scan_text(s, path, text, bytes) || !scan_files(s, first))
		return false;
	if (computed == s->computed)
		return true;
	/* From now on, the search also considers macros that are defined as file names. So the
	 * earlier files must be scanned again. */
	return scan_text(s, path, text, bytes) && scan_files(s, 0);
}

bool include_name(struct include_set *s, const char *name)
{
	size_t first = s->file_count;

	return search(s, NULL, name, false) && scan_files(s, first);
}

/* Shortens `root` to the folder that contains both. */
static void root_meet(char *root, const char *folder)
{
	size_t same = 0, i = 0;

	for (; root[i] && root[i] == folder[i]; i++)
		if (root[i] == '/')
			same = i;
	if ((!root[i] || root[i] == '/') && (!folder[i] || folder[i] == '/'))
		same = i;
	root[same] = '\0';
}

char *include_root(const struct include_set *s)
{
	char *root = s->file_count > 0 ? folder_of(s->files[0].path) : calloc(1, 1);

	for (size_t i = 1; root && i < s->file_count; i++) {
		char *folder = folder_of(s->files[i].path);
		root_meet(root, folder ? folder : "");
		free(folder);
	}
	for (size_t i = 0; root && i <= s->folder_count; i++)
		if (s->used[i])
			root_meet(root, s->used[i]);
	for (size_t i = 0; root && i < s->macro_count; i++)
		if (s->macros[i].folder)
			root_meet(root, s->macros[i].folder);
	return root;
}

struct edit {
	char *out;
	size_t bytes, space;
};

static bool edit_add(struct edit *e, const char *text, size_t bytes)
{
	if (e->space - e->bytes < bytes + 1) {
		char *more = realloc(e->out, (e->bytes + bytes + 1) * 2);
		if (!more)
			return false;
		e->out = more;
		e->space = (e->bytes + bytes + 1) * 2;
	}
	if (bytes > 0)
		memcpy(e->out + e->bytes, text, bytes);
	e->bytes += bytes;
	e->out[e->bytes] = '\0';
	return true;
}

/* Returns the normalized absolute path of a file in the set that the line includes so, otherwise
 * NULL. */
static char *absolute(const struct include_set *s, const struct include_line *l)
{
	if (l->kind == INCLUDE_COMPUTED || l->bytes >= INCLUDE_PATH_MAX || l->at[0] != '/')
		return NULL;
	char *name = calloc(1, l->bytes + 1);
	if (!name)
		return NULL;
	memcpy(name, l->at, l->bytes);
	char *path = include_path("", name);
	free(name);
	if (path && known(s, path))
		return path;
	free(path);
	return NULL;
}

char *include_rename(const struct include_set *s, const char *root, const char *prefix,
		     const char *text, size_t *bytes)
{
	struct edit e = {0};
	const char *at = text, *end = text + *bytes, *done = text;
	struct include_line line;
	bool good = true;

	while (good && include_line_next(&at, end, &line)) {
		char *path = absolute(s, &line);
		if (!path)
			continue;
		const char *behind = path + strlen(root) + 1;
		good = edit_add(&e, done, (size_t)(line.at - done)) &&
		       edit_add(&e, prefix, strlen(prefix)) && edit_add(&e, behind, strlen(behind));
		done = line.at + line.bytes;
		free(path);
	}
	if (good && edit_add(&e, done, (size_t)(end - done))) {
		*bytes = e.bytes;
		return e.out;
	}
	free(e.out);
	return NULL;
}
