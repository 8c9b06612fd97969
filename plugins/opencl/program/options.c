/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/program/options.h"

#include <stdlib.h>
#include <string.h>

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies the word at `at` without quotes. `word` must have space for all of it. Returns the
 * position after it. */
static const char *word_read(const char *at, char *word)
{
	bool quoted = false;

	for (; *at && (quoted || !blank(*at)); at++) {
		if (*at == '"') {
			quoted = !quoted;
			continue;
		}
		if (*at == '\\' && at[1])
			at++;
		*word++ = *at;
	}
	*word = '\0';
	return at;
}

bool option_next(const char **text, struct option *out)
{
	const char *at = *text;

	while (blank(*at))
		at++;
	*out = (struct option){.at = at};
	if (!*at)
		return false;
	out->word = malloc(strlen(at) + 1);
	if (!out->word)
		return false;
	*text = word_read(at, out->word);
	out->bytes = (size_t)(*text - at);
	return true;
}

static bool folder_add(struct options_split *s, const char *folder)
{
	char **more = realloc(s->folders, (s->folder_count + 1) * sizeof(*more));

	if (!more)
		return false;
	s->folders = more;
	s->folders[s->folder_count] = strdup(folder);
	return s->folders[s->folder_count++] != NULL;
}

static void rest_add(struct options_split *s, const struct option *o)
{
	size_t have = strlen(s->rest);

	if (have > 0)
		s->rest[have++] = ' ';
	memcpy(s->rest + have, o->at, o->bytes);
	s->rest[have + o->bytes] = '\0';
}

struct splitting {
	struct options_split *out;
	/* folder_follows: the last word was -I; word_follows: the last word was -D or -U */
	bool folder_follows, word_follows;
};

static bool option_split(struct splitting *p, const struct option *o)
{
	bool folder = strncmp(o->word, "-I", 2) == 0;
	/* This option is for sub-groups, which no device supports. It has no effect here, and PoCL
	 * 3.1 rejects it. */
	bool idle = strcmp(o->word, "-cl-no-subgroup-ifp") == 0;

	if (p->word_follows) {
		p->word_follows = false;
		rest_add(p->out, o);
		return true;
	}
	if (p->folder_follows || (folder && o->word[2])) {
		p->folder_follows = false;
		return folder_add(p->out, folder ? o->word + 2 : o->word);
	}
	p->folder_follows = folder;
	p->word_follows = strcmp(o->word, "-D") == 0 || strcmp(o->word, "-U") == 0;
	if (!folder && !idle)
		rest_add(p->out, o);
	return true;
}

bool options_split(const char *text, struct options_split *out)
{
	struct splitting p = {.out = out};
	struct option o = {0};
	bool good = true;

	/* Enough for all words, with a blank between them. */
	*out = (struct options_split){.rest = calloc(2, strlen(text) + 1)};
	if (!out->rest)
		return false;
	while (good && option_next(&text, &o)) {
		good = option_split(&p, &o);
		free(o.word);
	}
	if (!good || *o.at != '\0')
		options_split_clear(out);
	return out->rest != NULL;
}

void options_split_clear(struct options_split *s)
{
	for (size_t i = 0; i < s->folder_count; i++)
		free(s->folders[i]);
	free(s->folders);
	free(s->rest);
	*s = (struct options_split){0};
}

static bool has_word_argument(const char *option)
{
	static const char *const table[] = {"-I", "-D", "-U", "-x"};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(option, table[i]) == 0)
			return true;
	return false;
}

static bool known_link(const char *option)
{
	static const char *const table[] = {
		"-create-library",
		"-enable-link-options",
		"-cl-denorms-are-zero",
		"-cl-no-signed-zeroes",
		"-cl-no-signed-zeros",
		"-cl-unsafe-math-optimizations",
		"-cl-finite-math-only",
		"-cl-fast-relaxed-math",
		"-cl-no-subgroup-ifp",
		"-cl-kernel-arg-info",
		"-cl-opt-disable",
		"-cl-mad-enable",
		"-g",
		"-w",
		"-Werror",
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(option, table[i]) == 0)
			return true;
	return strncmp(option, "-cl-std=", 8) == 0 || strncmp(option, "-cl-nv-", 7) == 0 ||
	       strncmp(option, "-cl-intel-", 10) == 0;
}

static bool known_version(const char *option)
{
	static const char *const table[] = {"CL1.0", "CL1.1", "CL1.2", "CL2.0",
					    "CL2.1", "CL2.2", "CL3.0"};

	if (strncmp(option, "-cl-std=", 8) != 0)
		return true;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(option + 8, table[i]) == 0)
			return true;
	return strncmp(option + 8, "CLC++", 5) == 0;
}

static bool known_compile(const char *option)
{
	return option[0] == '-' && option[1] != '\0' && known_version(option);
}

static bool valid(const char *text, bool (*known)(const char *))
{
	struct option o;
	bool good = true, word_follows = false;

	while (good && option_next(&text, &o)) {
		good = word_follows || known(o.word);
		word_follows = !word_follows && has_word_argument(o.word);
		free(o.word);
	}
	return good && !word_follows;
}

bool options_valid(const char *text)
{
	return valid(text, known_compile);
}

bool options_valid_link(const char *text)
{
	return valid(text, known_link);
}

bool options_have(const char *text, const char *word)
{
	struct option o;
	bool found = false;

	while (!found && option_next(&text, &o)) {
		found = strcmp(o.word, word) == 0;
		free(o.word);
	}
	return found;
}
