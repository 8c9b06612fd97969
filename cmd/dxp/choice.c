/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/choice.h"

#include <stdio.h>
#include <string.h>

#include "cmd/dxp/command.h"

bool choice_matches(const struct stats_view *v, const char *name, uint64_t pid)
{
	return (!name || strcmp(v->node.name, name) == 0) && (pid == 0 || v->pid == pid);
}

void choice_complain(void *context, const char *text)
{
	fprintf(stderr, "dxp: %s\n", text);
}

void choice_none(const char *name, uint64_t pid)
{
	if (name)
		print_fail(
			"no node named '%s' runs on this machine; `dxp top --once` lists the nodes",
			name);
	else if (pid)
		print_fail("process %llu runs no node; `dxp top --once` lists the nodes",
			   (unsigned long long)pid);
	else
		print_fail("no node runs on this machine; start some with `dxp up`");
}

bool choice_check(const struct stats_list *nodes, const char *name, uint64_t pid, bool all)
{
	uint32_t matching = 0;
	char names[256] = "";

	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct stats_view *v = &nodes->views[i];
		size_t at = strlen(names);
		if (!choice_matches(v, name, pid))
			continue;
		matching++;
		snprintf(names + at, sizeof(names) - at, " %s (process %u)", v->node.name, v->pid);
	}
	if (matching == 0)
		choice_none(name, pid);
	else if (matching > 1 && !all && pid == 0)
		print_fail("%u nodes %s; choose with --node, --pid or --all:%s", matching,
			   name ? "have that name" : "run here", names);
	else
		return true;
	return false;
}
