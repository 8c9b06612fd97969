/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/options/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "base/confinement.h"
#include "base/distance.h"
#include "base/util.h"

#define SETTINGS_MAX 4096 /* most keys in all files; all commands together have fewer options */
#define PATH_BYTES   4096

/* A configuration file that is being read. */
struct source {
	struct settings *to;
	FILE *file;
	const char *path;
	unsigned line;
};

PRINTF_LIKE(2, 3) static void wrong(const struct source *s, const char *format, ...)
{
	char reason[384];
	va_list arguments;

	if (s->to->error[0])
		return; /* keeps the first error */
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	snprintf(s->to->error, sizeof(s->to->error), "%.*s:%u: %s", 100, s->path, s->line, reason);
}

const char *settings_nearest(const char *name, const char *const *names, size_t count)
{
	size_t least = SIZE_MAX, at = 0;

	for (size_t i = 0; i < count; i++) {
		const size_t far = distance_between(name, strlen(name), names[i], strlen(names[i]));
		if (far < least) {
			least = far;
			at = i;
		}
	}
	return names[at];
}

/* ---- parsing, by inih ---- */

/* Reads one line for inih. Removes leading blanks, since inih would append an indented line to the
 * value before it. */
static char *line_read(char *out, int space, void *context)
{
	struct source *s = context;

	if (s->to->error[0] || !fgets(out, space, s->file))
		return NULL;
	s->line++;
	const size_t length = strlen(out);
	if (length == 0 || out[length - 1] != '\n') {
		if (length == 0 || !feof(s->file))
			wrong(s, length ? "the line is longer than %d bytes" : "not a text file",
			      space - 2);
		else
			wrong(s, "the file ends within this line, as if half-written; complete it");
		return NULL;
	}
	const size_t blanks = strspn(out, " \t");
	memmove(out, out + blanks, length + 1 - blanks);
	return out;
}

static bool section_known(const struct source *s, const char *name)
{
	static const char *const names[] = {"dxp", "dxpd", "dxp-manager", "dxp-switch", "dxp-web"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	if (strncmp(name, "dxp ", 4) == 0)
		return true; /* an option of a command, which only `dxp` can check */
	if (*name == '\0')
		wrong(s, "this key is in no section; write [dxp], [dxpd], [dxp-manager], "
			 "[dxp-switch] or [dxp-web] before it");
	else
		wrong(s, "unknown section [%s]; the nearest is [%s]", name,
		      settings_nearest(name, names, ARRAY_COUNT(names)));
	return false;
}

/* Stores one key and its value. Returns 0 on failure, as inih expects. */
static int key_add(void *context, const char *section, const char *key, const char *value)
{
	const struct source *s = context;
	struct settings *to = s->to;

	if (to->error[0] || !section_known(s, section))
		return 0;
	if (*value == '\0') {
		wrong(s, "'%s' has no value", key);
		return 0;
	}
	if (to->count == SETTINGS_MAX) {
		wrong(s, "more than %d keys", SETTINGS_MAX);
		return 0;
	}
	struct setting *all = realloc(to->all, (to->count + 1) * sizeof(*all));
	if (!all) {
		wrong(s, "out of memory");
		return 0;
	}
	to->all = all;
	struct setting *new = &all[to->count];
	*new = (struct setting){s->path, s->line, strdup(section), strdup(key), strdup(value)};
	if (!new->section || !new->key || !new->value) {
		wrong(s, "out of memory");
		return 0;
	}
	to->count++;
	return 1;
}

static void file_parse(struct source *s)
{
	const int line = ini_parse_stream(line_read, s, key_add, s);

	if (line > 0 && !s->to->error[0]) {
		s->line = (unsigned)line;
		wrong(s, "neither KEY = VALUE nor [SECTION]");
	} else if (line < 0) {
		wrong(s, "out of memory");
	}
}

/* ---- files ---- */

/* Reads a file. Reports an error if the file is missing and `needed` is set. */
static void file_read(struct settings *to, const char *path, bool needed)
{
	struct source s = {.to = to, .file = fopen(path, "re")};

	if (!s.file) {
		if (needed || (errno != ENOENT && errno != ENOTDIR))
			snprintf(to->error, sizeof(to->error), "cannot read %.256s: %s%s", path,
				 strerror(errno), confinement_hint(errno));
		return;
	}
	s.path = to->files[to->file_count] = strdup(path);
	if (s.path) {
		to->file_count++;
		file_parse(&s);
	} else {
		snprintf(to->error, sizeof(to->error), "out of memory");
	}
	fclose(s.file);
}

static void user_file_read(struct settings *to)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_BYTES];
	int length;

	if (folder && *folder == '/')
		length = snprintf(path, sizeof(path), "%s/dxp/dxp.conf", folder);
	else if (home && *home == '/')
		length = snprintf(path, sizeof(path), "%s/.config/dxp/dxp.conf", home);
	else
		return;
	if (length < (int)sizeof(path))
		file_read(to, path, false);
}

const struct settings *settings_load(const char *given)
{
	static struct settings all;
	static bool loaded;
	const char *named = given ? given : getenv("DXP_CONFIG");

	if (loaded)
		return &all;
	loaded = true;
	if (named) {
		if (*named)
			file_read(&all, named, true);
		return &all;
	}
	file_read(&all, SETTINGS_SYSTEM, false);
	if (!all.error[0])
		user_file_read(&all);
	return &all;
}
