/* SPDX-License-Identifier: BSD-3-Clause */
/* Rejects options of `dxp model` that would have no effect: pairs that exclude each other, and
 * parameters of another part. */
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "cmd/dxp/model.h"

static const struct model_exclusion common[] = {
	{"json", "tsv", "a run prints one format"},
	{0},
};

static const struct option_row *row_find(const struct option_row *rows, unsigned count,
					 const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

/* Returns whether the grid sweeps the parameter of a shortcut. */
static bool swept(const struct model_part *part, const char *option, const struct model_grid *grid)
{
	const char *name = NULL;

	for (unsigned i = 0; part->shortcuts && part->shortcuts[i].option; i++)
		if (strcmp(part->shortcuts[i].option, option) == 0)
			name = part->shortcuts[i].parameter;
	for (unsigned i = 0; name && i < grid->count; i++)
		if (strcmp(grid->lists[i].row->name, name) == 0)
			return true;
	return false;
}

/* Returns whether an option without a default is given. A number that is not given has a value out
 * of its bounds. */
static bool given(const struct option_row *row)
{
	switch (row->kind) {
	case OPTION_FLAG: return *(const bool *)row->to;
	case OPTION_TEXT: return *(const char *const *)row->to != NULL;
	case OPTION_LIST: return ((const struct option_list *)row->to)->count > 0;
	case OPTION_NUMBER:
	case OPTION_BYTES: {
		uint64_t value = *(const uint64_t *)row->to;
		return value >= row->low && value <= row->high;
	}
	case OPTION_PARSED: break;
	}
	return false;
}

int model_texts_check(const struct option_row *rows, unsigned row_count)
{
	for (unsigned i = 0; i < row_count; i++) {
		const struct option_row *row = &rows[i];
		const char *text = row->kind == OPTION_TEXT ? *(const char *const *)row->to : NULL;
		if (text && !text[0])
			return error_set(DXP_EINVAL, "--%s is empty; give a %s, or drop it",
					 row->name, row->value);
	}
	return DXP_OK;
}

static int seed_check(const struct model_part *part, const struct option_row *rows,
		      unsigned row_count)
{
	const struct option_row *row = row_find(rows, row_count, "seed");

	if (part->random || !row || !given(row))
		return DXP_OK;
	return error_set(DXP_EINVAL,
			 "--seed has no effect here, because %s uses no random numbers; drop it",
			 part->name);
}

int model_options_check(const struct model_part *part, const struct option_row *rows,
			unsigned row_count, const struct model_grid *grid)
{
	const struct model_exclusion *const lists[] = {common, part->exclusions};

	for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
		for (const struct model_exclusion *e = lists[i]; e && e->one; e++) {
			const char *const names[] = {e->one, e->other};
			unsigned count = 0;
			for (size_t k = 0; k < ARRAY_COUNT(names); k++) {
				const struct option_row *row = row_find(rows, row_count, names[k]);
				count += (row && given(row)) || swept(part, names[k], grid);
			}
			if (count == ARRAY_COUNT(names))
				return error_set(DXP_EINVAL,
						 "--%s and --%s exclude each other: %s; drop one",
						 e->one, e->other, e->reason);
		}
	return seed_check(part, rows, row_count);
}

/* Returns whether a list of words, separated by blanks, has a word. */
static bool has_word(const char *list, const char *word)
{
	size_t bytes = strlen(word);

	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		if (length == bytes && memcmp(at, word, bytes) == 0)
			return true;
		at += length;
	}
	return false;
}

int model_group_check(const struct model_part *part, const char *assignment)
{
	bool bare;
	size_t bytes;
	const char *name = model_assignment_name(assignment, &bytes);
	const struct model_parameter *row;

	if (!part->groups)
		return DXP_OK;
	row = bytes == 4 && memcmp(name, "pcie", 4) == 0
		      ? model_parameter_find("pcie_lanes", 10, &bare)
		      : model_parameter_find(name, bytes, &bare);
	if (!row || has_word(part->groups, row->group) || has_word(part->groups, row->name))
		return DXP_OK;
	return error_set(DXP_EINVAL,
			 "%s is a parameter of %s and has no effect here; drop it, or run the "
			 "part that uses it (`dxp model parameters %s`)",
			 row->name, row->group, row->group);
}
