/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the nodes on this machine that a command applies to. */
#ifndef CMD_DXP_CHOICE_H
#define CMD_DXP_CHOICE_H

#include "cmd/options/options.h"
#include "node/stats_read.h"

#define CHOICE_ROWS(name, process)                                                               \
	{"node", "NAME", "the node of that name", OPTION_TEXT, &(name), 0, 0},                   \
	{                                                                                        \
		"pid", "N", "the nodes of that process", OPTION_NUMBER, &(process), 1, INT32_MAX \
	}

/* Returns whether the node matches; `name` NULL and `pid` 0 match all. */
bool choice_matches(const struct stats_view *v, const char *name, uint64_t pid);

/* Checks that the selection is one node, one process, or permitted by `all`. On failure prints the
 * reason and the list of nodes. */
bool choice_check(const struct stats_list *nodes, const char *name, uint64_t pid, bool all);

/* Prints an error of stats_read on standard error. */
void choice_complain(void *context, const char *text);

/* Prints on standard error that no such node runs here. */
void choice_none(const char *name, uint64_t pid);

#endif
