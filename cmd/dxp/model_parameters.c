/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model parameters`: lists name, value, unit, range and mark of each parameter. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/model.h"

static const char *group;

static void range_print(const struct model_parameter *row, char *out, size_t bytes)
{
	if (row->choices)
		snprintf(out, bytes, "%s", row->choices);
	else
		snprintf(out, bytes, "%lld .. %lld", (long long)row->low, (long long)row->high);
}

/* Returns false if memory ends. */
static bool json_parameter(const struct model_parameter *row, int64_t value, const char *text,
			   const char *range)
{
	char mark[] = {row->mark, '\0'};
	json_t *o = json_pack("{s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "name", row->name,
			      "value", row->choices ? json_string(text) : json_integer(value),
			      "unit", row->unit, "range", range, "mark", mark, "item", row->item,
			      "group", row->group, "text", row->text);

	if (!o)
		return false;
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
	return true;
}

static int run(const struct model_run *r)
{
	char value[40], range[80];
	unsigned shown = 0;

	if (r->tsv)
		puts("name\tvalue\tunit\trange\tmark\titem\tgroup\ttext");
	for (unsigned i = 0; model_parameter_at(i); i++) {
		const struct model_parameter *row = model_parameter_at(i);
		if (group && strcmp(group, row->group) != 0)
			continue;
		const int64_t now = model_parameter_get(r->parameters, row);
		model_parameter_print(row, now, value, sizeof(value));
		range_print(row, range, sizeof(range));
		if (r->tsv)
			printf("%s\t%s\t%s\t%s\t%c\t%s\t%s\t%s\n", row->name, value, row->unit,
			       range, row->mark, row->item, row->group, row->text);
		else if (!r->json)
			printf("%-24s %10s %-8s %-24s %c %-5s %s\n", row->name, value, row->unit,
			       range, row->mark, row->item, row->text);
		else if (!json_parameter(row, now, value, range))
			return error_set(DXP_ENOMEM, "not enough memory to print a row");
		shown++;
	}
	if (!shown)
		return error_set(DXP_ENOENT,
				 "no group '%s'; `dxp model parameters --json` shows the groups",
				 group);
	return DXP_OK;
}

const struct model_part model_part_parameters = {
	.name = "parameters",
	.summary = "names, values, units, ranges, marks of all parameters",
	.text = "Lists the parameters: name, value, unit, range, mark, catalogue item, meaning.\n"
		"PART: only those of nic, pcie, crossbar, share, loggp, ...\n"
		"Marks: T stated by a source, D derived from stated figures, A assumed, F free.\n"
		"A line `name = value` of each makes a file for --config.",
	.argument = "[PART]",
	.argument_to = &group,
	.run = run,
};
