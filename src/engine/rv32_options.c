/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

#define BLANKS " \t\n\r\v\f"

/* Copies one word from *at to `to`, without its quotes, and advances *at. Returns the end of the
 * word in `to`. */
static char *word_read(const char **at, char *to)
{
	const char *p = *at;
	bool quoted = false;

	for (; *p && (quoted || !strchr(BLANKS, *p)); p++) {
		if (*p == '"') {
			quoted = !quoted;
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	*to++ = '\0';
	*at = p;
	return to;
}

static int reject(char text[ENGINE_TEXT_BYTES], const char *what, const char *word)
{
	/* The OpenCL plugin recognizes a rejected option by the first three words. */
	snprintf(text, ENGINE_TEXT_BYTES, "Invalid build option '%.100s': %s\n", word, what);
	return DXP_EINVAL;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* Inside the program's own folder. */
static bool folder_good(const char *folder)
{
	if (folder[0] == '\0' || folder[0] == '/')
		return false;
	for (const char *part = folder; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, "..", 2) == 0 && (part[2] == '\0' || part[2] == '/'))
			return false;
	}
	return true;
}

static bool is_flag(const char *word)
{
	static const char *const words[] = {
		"-w",
		"-Werror",
		"-cl-single-precision-constant",
		"-cl-denorms-are-zero",
		"-cl-fp32-correctly-rounded-divide-sqrt",
		"-cl-opt-disable",
		"-cl-strict-aliasing",
		"-cl-mad-enable",
		"-cl-no-signed-zeros",
		"-cl-unsafe-math-optimizations",
		"-cl-finite-math-only",
		"-cl-fast-relaxed-math",
		"-cl-std=CL1.0",
		"-cl-std=CL1.1",
		"-cl-std=CL1.2",
		"-cl-kernel-arg-info",
		"-cl-uniform-work-group-size",
	};

	return is_one_of(word, words, ARRAY_COUNT(words));
}

/* Advances *i to the option's operand, if it has one. */
static int word_check(struct rv32_options *o, unsigned *i, char text[ENGINE_TEXT_BYTES])
{
	const char *word = o->words[*i];

	if (is_flag(word))
		return DXP_OK;
	if (strncmp(word, "-cl-std=", 8) == 0)
		return reject(text, "this device compiles OpenCL C 1.2 and earlier", word);
	if (word[0] != '-' || !word[1] || !strchr("DUI", word[1]))
		return reject(text, "not an option of OpenCL 1.2", word);
	const char letter = word[1], *operand = word + 2;
	if (!*operand) {
		if (*i + 1 == o->count)
			return reject(text, "it needs a word behind it", word);
		operand = o->words[++*i];
	}
	if (*operand == '@') /* the compiler would read a file of options */
		return reject(text, "not an option of OpenCL 1.2", operand);
	if (letter == 'I' && !folder_good(operand))
		return reject(text, "use a relative folder, of the program's own headers", operand);
	return DXP_OK;
}

static int link_check(struct rv32_options *o, const char *word, char text[ENGINE_TEXT_BYTES])
{
	if (strcmp(word, "-create-library") == 0) {
		o->library = true;
		return DXP_OK;
	}
	if (strcmp(word, "-enable-link-options") == 0 ||
	    (strncmp(word, "-cl-", 4) == 0 && strncmp(word, "-cl-std", 7) != 0 && is_flag(word)))
		return DXP_OK;
	return reject(text, "not an option of clLinkProgram", word);
}

/* Unknown to clang 15; they only permit optimizations. */
static void permissions_drop(struct rv32_options *o)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < o->count; i++)
		if (strcmp(o->words[i], "-cl-no-subgroup-ifp") != 0)
			o->words[kept++] = o->words[i];
	o->count = kept;
}

int rv32_options_read(const char *options, bool link, struct rv32_options *out,
		      char text[ENGINE_TEXT_BYTES])
{
	*out = (struct rv32_options){.text = malloc(strlen(options) + 2)};
	char *to = out->text;
	if (!to)
		return DXP_ENOMEM;
	for (const char *at = options + strspn(options, BLANKS); *at; at += strspn(at, BLANKS)) {
		if (out->count == RV32_OPTIONS_MAX)
			return reject(text,
				      "too many options; write a header with these definitions",
				      at);
		out->words[out->count++] = to;
		to = word_read(&at, to);
	}
	permissions_drop(out);
	for (unsigned i = 0; i < out->count; i++) {
		int status =
			link ? link_check(out, out->words[i], text) : word_check(out, &i, text);
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

void rv32_options_release(struct rv32_options *o)
{
	free(o->text);
}
