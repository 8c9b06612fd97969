/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a package of a program and everything that its compiler needs. Headers of clCompileProgram
 * have their include names as paths. Files of the host that the program includes keep their
 * relative paths, below a folder of the package. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "plugins/opencl/program/include.h"
#include "plugins/opencl/program/options.h"
#include "plugins/opencl/program/program.h"

#define MAIN_NAME   "program.cl"
#define FILES_BELOW "dxp-host"
#define FILE_EMPTY  ".empty"

static bool read_all(int fd, char *to, size_t bytes)
{
	while (bytes > 0) {
		ssize_t got = read(fd, to, bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		bytes -= (size_t)got;
	}
	return true;
}

/* Skips other files than regular ones: reading a FIFO or a device may block or never end. */
static char *read_file(void *context, const char *path, size_t *bytes)
{
	struct stat s;
	char *text = NULL;
	int fd = descriptor_raise(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

	(void)context;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && (uint64_t)s.st_size <= INCLUDE_BYTES_MAX)
		text = malloc((size_t)s.st_size + 1);
	if (text && !read_all(fd, text, (size_t)s.st_size)) {
		free(text);
		text = NULL;
	}
	*bytes = text ? (size_t)s.st_size : 0;
	close(fd);
	return text;
}

struct making {
	cl_program program;
	const struct program_headers *headers;
	struct options_split options;
	struct include_set set;
	char *root;
	struct recipe *recipe;
};

static bool scan(struct making *m)
{
	cl_program p = m->program;
	bool good = include_scan(&m->set, NULL, p->source, p->source_bytes);

	for (cl_uint i = 0; good && i < m->headers->count; i++) {
		cl_program h = m->headers->programs[i];
		good = include_scan(&m->set, NULL, h->source, h->source_bytes);
	}
	return good;
}

/* An option -D may define the file name that `#include NAME` uses, so the values of -D are searched
 * too. */
static bool scan_defines(struct making *m)
{
	const char *text = m->options.rest;
	struct option o;
	bool good = true;

	while (good && option_next(&text, &o)) {
		const char *value = strchr(o.word, '=');
		size_t bytes = value ? strlen(++value) : 0;
		if (bytes > 2 && (value[0] == '"' || value[0] == '<')) {
			o.word[value - o.word + (ptrdiff_t)bytes - 1] = '\0';
			good = include_name(&m->set, value + 1);
		}
		free(o.word);
	}
	return good;
}

/* Adds a macro if the word, without -D, is NAME=VALUE with an absolute path as value. */
static bool macro_add(struct include_set *s, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value || value == word || value[1] != '/')
		return true;
	struct include_macro *more = realloc(s->macros, (s->macro_count + 1) * sizeof(*more));
	if (!more)
		return false;
	s->macros = more;
	more[s->macro_count++] = (struct include_macro){
		.name = strndup(word, (size_t)(value - word)), .value = strdup(value + 1)};
	return more[s->macro_count - 1].name && more[s->macro_count - 1].value;
}

struct words {
	const char *text; /* options that were not read yet */
	bool follows;     /* the last word was -D */
};

/* Reads the next word, which the caller frees, as option_next() does. *definition: its part behind
 * -D, also if -D was the word before; NULL: it defines nothing. */
static bool word_next(struct words *w, struct option *out, const char **definition)
{
	if (!option_next(&w->text, out))
		return false;
	bool alone = !w->follows && strcmp(out->word, "-D") == 0;
	bool joined = !alone && strncmp(out->word, "-D", 2) == 0;
	*definition = w->follows ? out->word : joined ? out->word + 2 : NULL;
	w->follows = alone;
	return true;
}

static bool macros_find(struct making *m)
{
	struct words words = {.text = m->options.rest};
	const char *definition;
	struct option o;
	bool good = true;

	while (good && word_next(&words, &o, &definition)) {
		good = !definition || macro_add(&m->set, definition);
		free(o.word);
	}
	return good;
}

static void macros_free(struct include_set *s)
{
	for (size_t i = 0; i < s->macro_count; i++) {
		free(s->macros[i].name);
		free(s->macros[i].value);
		free(s->macros[i].folder);
	}
	free(s->macros);
}

static cl_int text_add(struct making *m, const char *name, const char *text, size_t bytes)
{
	size_t renamed_bytes = bytes;
	char *renamed =
		include_rename(&m->set, m->root, FILES_BELOW "/", text ? text : "", &renamed_bytes);

	return program_recipe_add(m->recipe, name, renamed, renamed_bytes);
}

/* Adds a header under the path that the node uses, relative and without "..". */
static cl_int header_add(struct making *m, cl_uint i)
{
	char *path = include_path("", m->headers->names[i]);
	cl_program h = m->headers->programs[i];

	if (!path)
		return CL_OUT_OF_HOST_MEMORY;
	cl_int error = path[0] ? text_add(m, path + 1, h->source, h->source_bytes) : CL_SUCCESS;
	free(path);
	return error;
}

static cl_int file_add(struct making *m, const struct include_file *f)
{
	char name[INCLUDE_PATH_MAX + sizeof(FILES_BELOW)];

	snprintf(name, sizeof(name), FILES_BELOW "%s", f->path + strlen(m->root));
	return text_add(m, name, f->text, f->bytes);
}

static bool is_below(const char *path, const char *folder)
{
	size_t bytes = strlen(folder);

	return strncmp(path, folder, bytes) == 0 && path[bytes] == '/';
}

/* Adds an empty file to a folder without files, so that it exists on the node: a path may lead
 * through it ("../a.h"). */
static cl_int folder_add(struct making *m, const char *folder)
{
	char name[INCLUDE_PATH_MAX + sizeof(FILES_BELOW "/" FILE_EMPTY)];

	for (size_t i = 0; i < m->set.file_count; i++)
		if (is_below(m->set.files[i].path, folder))
			return CL_SUCCESS;
	snprintf(name, sizeof(name), FILES_BELOW "%s/" FILE_EMPTY, folder + strlen(m->root));
	return text_add(m, name, "", 0);
}

static cl_int files_add(struct making *m)
{
	cl_int error = text_add(m, MAIN_NAME, m->program->source, m->program->source_bytes);

	for (cl_uint i = 0; error == CL_SUCCESS && i < m->headers->count; i++)
		error = header_add(m, i);
	for (size_t i = 0; error == CL_SUCCESS && i < m->set.file_count; i++)
		error = file_add(m, &m->set.files[i]);
	for (size_t i = 0; error == CL_SUCCESS && i <= m->set.folder_count; i++)
		if (m->set.used[i])
			error = folder_add(m, m->set.used[i]);
	return error;
}

static void quoted_write(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
}

/* Returns the macro of this definition if a file was found through it, else NULL. */
static const struct include_macro *macro_used(const struct include_set *s, const char *word)
{
	for (size_t i = 0; word && i < s->macro_count; i++) {
		const struct include_macro *macro = &s->macros[i];
		size_t bytes = strlen(macro->name);
		if (macro->folder && strncmp(word, macro->name, bytes) == 0 && word[bytes] == '=' &&
		    strcmp(word + bytes + 1, macro->value) == 0)
			return macro;
	}
	return NULL;
}

/* Writes the options that are no folders. Macros that are paths of files in the package get the
 * paths of the node. */
static bool rest_write(const struct making *m, FILE *f)
{
	struct words words = {.text = m->options.rest};
	const char *definition;
	struct option o;

	while (word_next(&words, &o, &definition)) {
		const struct include_macro *macro = macro_used(&m->set, definition);
		fputc(' ', f);
		if (macro) {
			fprintf(f, "%s\"%s=" FILES_BELOW, definition == o.word ? "" : "-D",
				macro->name);
			quoted_write(f, macro->folder + strlen(m->root));
			fputc('"', f);
		} else {
			fwrite(o.at, 1, o.bytes, f);
		}
		free(o.word);
	}
	return *o.at == '\0';
}

/* Options -I for folders on the node replace the program's. */
static char *options_write(const struct making *m)
{
	size_t bytes = 0, root_bytes = strlen(m->root);
	char *text = NULL;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		return NULL;
	bool good = rest_write(m, f);
	for (size_t i = 0; i <= m->set.folder_count; i++) {
		if (!m->set.used[i])
			continue;
		fputs(" -I \"" FILES_BELOW, f);
		quoted_write(f, m->set.used[i] + root_bytes);
		fputc('"', f);
	}
	if (fclose(f) == 0 && good)
		return text;
	free(text);
	return NULL;
}

static cl_int recipe_make(struct making *m, enum dxp_program_kind kind)
{
	char *options = NULL;

	if (!macros_find(m) || !scan(m) || (m->set.computed && !scan_defines(m)))
		return CL_OUT_OF_HOST_MEMORY;
	m->root = include_root(&m->set);
	if (m->root)
		options = options_write(m);
	if (options)
		m->recipe = program_recipe_new(kind, options);
	free(options);
	return m->recipe ? files_add(m) : CL_OUT_OF_HOST_MEMORY;
}

cl_int package_make(cl_program p, enum dxp_program_kind kind, const char *options,
		    const struct program_headers *headers, struct recipe **out)
{
	static const struct program_headers none;
	struct making m = {.program = p, .headers = headers ? headers : &none};
	char here[PATH_MAX];

	if (!options_split(options, &m.options))
		return CL_OUT_OF_HOST_MEMORY;
	m.set = (struct include_set){
		.read = read_file,
		.here = getcwd(here, sizeof(here)) ? here : "/",
		.folders = (const char *const *)m.options.folders,
		.folder_count = m.options.folder_count,
	};
	cl_int error = CL_OUT_OF_HOST_MEMORY;
	if (include_begin(&m.set))
		error = recipe_make(&m, kind);
	include_clear(&m.set);
	macros_free(&m.set);
	options_split_clear(&m.options);
	free(m.root);
	if (error == CL_SUCCESS)
		*out = m.recipe;
	else
		program_recipe_put(m.recipe);
	return error;
}
