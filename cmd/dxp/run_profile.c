/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and prints the profiles of a program's processes: instructions by function and source line,
 * summed over nodes. plugins/opencl/program/profile.h has the format of the files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/run.h"

#define LINE_BYTES 2048
#define FIELDS     7
#define ROWS_SHOWN 40 /* lines of a terminal */
#define FILE_END   ".profile"

static int key_compare(const struct run_profile_row *a, const struct run_profile_row *b)
{
	int order = strcmp(a->function, b->function);

	if (order == 0 && a->line != b->line)
		order = a->line < b->line ? -1 : 1;
	return order ? order : strcmp(a->text, b->text);
}

static int by_key(const void *left, const void *right)
{
	return key_compare(left, right);
}

static int by_cost(const void *left, const void *right)
{
	const struct run_profile_row *a = left, *b = right;

	if (a->instructions != b->instructions)
		return a->instructions < b->instructions ? 1 : -1;
	return key_compare(a, b);
}

/* Splits a line at tabs; returns the number of fields. */
static int split(char *line, char *fields[FIELDS])
{
	int count = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; at && count < FIELDS; count++) {
		fields[count] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = '\0';
	}
	return count;
}

static void none_note(struct run_profile *p, const char *node, const char *engine)
{
	if (!p->without_node[0]) {
		snprintf(p->without_node, sizeof(p->without_node), "%s", node);
		snprintf(p->without_engine, sizeof(p->without_engine), "%s", engine);
	}
	p->without++;
}

static void row_add(struct run_profile *p, char *fields[FIELDS])
{
	if (p->count == p->space) {
		const size_t space = p->space ? 2 * p->space : 256;
		struct run_profile_row *rows = realloc(p->rows, space * sizeof(*rows));
		if (!rows)
			return;
		p->rows = rows;
		p->space = space;
	}
	struct run_profile_row *row = &p->rows[p->count++];
	memset(row, 0, sizeof(*row));
	row->line = (uint32_t)strtoul(fields[2], NULL, 10);
	row->warp_instructions = strtoull(fields[3], NULL, 10);
	row->instructions = strtoull(fields[4], NULL, 10);
	snprintf(row->function, sizeof(row->function), "%s", fields[5]);
	snprintf(row->text, sizeof(row->text), "%s", fields[6]);
}

static void file_append(void *context, const char *path)
{
	struct run_profile *p = context;
	char line[LINE_BYTES], *fields[FIELDS];
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const int count = split(line, fields);
		if (count == 3 && strcmp(fields[0], "none") == 0)
			none_note(p, fields[1], fields[2]);
		else if (count == FIELDS && strcmp(fields[0], "row") == 0)
			row_add(p, fields);
	}
	fclose(file);
}

/* Joins rows of one function and line, and orders them by number of instructions. */
static void rows_join(struct run_profile *p)
{
	size_t used = 0;

	if (p->count == 0)
		return;
	qsort(p->rows, p->count, sizeof(*p->rows), by_key);
	for (size_t i = 1; i < p->count; i++) {
		struct run_profile_row *last = &p->rows[used], *row = &p->rows[i];
		if (key_compare(last, row) != 0) {
			p->rows[++used] = *row;
			continue;
		}
		last->warp_instructions += row->warp_instructions;
		last->instructions += row->instructions;
	}
	p->count = used + 1;
	qsort(p->rows, p->count, sizeof(*p->rows), by_cost);
	for (size_t i = 0; i < p->count; i++) {
		p->warp_instructions += p->rows[i].warp_instructions;
		p->instructions += p->rows[i].instructions;
	}
}

void run_profile_read(const char *folder, struct run_profile *out)
{
	memset(out, 0, sizeof(*out));
	file_each(folder, FILE_END, file_append, out);
	rows_join(out);
}

void run_profile_free(struct run_profile *p)
{
	free(p->rows);
}

static double share(const struct run_profile *p, const struct run_profile_row *row)
{
	return 100.0 * (double)row->instructions / (double)p->instructions;
}

static void row_show(const struct run_profile *p, const struct run_profile_row *row)
{
	char line[16] = "-";

	if (row->line)
		snprintf(line, sizeof(line), "%" PRIu32, row->line);
	fprintf(stderr, "%6.1f%% %14" PRIu64 " %16" PRIu64 " %5.1f  %-20s %5s  %s\n", share(p, row),
		row->warp_instructions, row->instructions,
		(double)row->instructions / (double)row->warp_instructions, row->function, line,
		row->text);
}

void run_profile_show(const struct run_profile *p)
{
	if (p->without)
		fprintf(stderr,
			"dxp run: node %s%s has no profile: engine '%s' does not count "
			"instructions; use xPUs of `dxp up --engine rv32`\n",
			p->without_node, p->without > 1 ? " and others" : "", p->without_engine);
	else if (p->instructions == 0)
		fprintf(stderr, "dxp run: no profile: no kernel ran to its end before the program "
				"released its programs or exited by exit()\n");
	if (p->instructions == 0)
		return;
	fprintf(stderr, "%7s %14s %16s %5s  %-20s %5s  %s\n", "SHARE", "INSTRUCTIONS",
		"WORK-ITEMS'", "LANES", "FUNCTION", "LINE", "TEXT");
	for (size_t i = 0; i < p->count && i < ROWS_SHOWN; i++)
		row_show(p, &p->rows[i]);
	if (p->count > ROWS_SHOWN)
		fprintf(stderr, "and %zu lines with smaller shares; --json has all\n",
			p->count - ROWS_SHOWN);
}

json_t *run_profile_json(const struct run_profile *p)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < p->count; i++) {
		const struct run_profile_row *row = &p->rows[i];
		json_array_append_new(
			rows, json_pack("{s:s, s:i, s:I, s:I, s:s}", "function", row->function,
					"line", (int)row->line, "instructions",
					(json_int_t)row->warp_instructions, "item_instructions",
					(json_int_t)row->instructions, "text", row->text));
	}
	return rows;
}
