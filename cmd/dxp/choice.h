/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the nodes that run on this machine a command is about. */
#ifndef CMD_DXP_CHOICE_H
#define CMD_DXP_CHOICE_H

#include "cmd/dxp/options.h"
#include "node/stats_read.h"

#define CHOICE_ROWS(name, process)                                                               \
	{"node", "NAME", "the node of that name", OPTION_TEXT, &(name), 0, 0},                   \
	{                                                                                        \
		"pid", "N", "the nodes of that process", OPTION_NUMBER, &(process), 1, INT32_MAX \
	}

/* `name` NULL and `pid` 0 match all. */
bool choice_matches(const struct stats_view *v, const char *name, uint64_t pid);

/* Is it about one node, or one process, or wanted for `all`? Says why not, naming the nodes. */
bool choice_check(const struct stats_list *nodes, const char *name, uint64_t pid, bool all);

/* For stats_read: says it on standard error. */
void choice_complain(void *context, const char *text);

/* "no node runs here ..." on standard error. */
void choice_none(const char *name, uint64_t pid);

#endif
