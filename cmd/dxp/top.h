/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the output of `dxp top`: converts readings to a table or JSON. */
#ifndef CMD_DXP_TOP_H
#define CMD_DXP_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "node/stats_read.h"

enum top_sort { TOP_NAME, TOP_IN, TOP_OUT, TOP_REPEATS };

struct top_options {
	const char *node;
	uint64_t pid;
	enum top_sort sort;
	bool qps;
};

/* Two readings of all nodes; `before` may be empty. */
struct top_readings {
	struct stats_list before, now;
};

/* Writes the table with its heading: at most `rows` lines of at most `columns` characters; 0: no
 * limit. Returns the number of matching nodes. */
uint32_t top_table(FILE *out, const struct top_readings *r, const struct top_options *options,
		   unsigned rows, unsigned columns);

/* Returns {"nodes": [...]}, or NULL if out of memory. */
json_t *top_json(const struct stats_list *nodes, const struct top_options *options);

/* Returns the JSON of one node, or NULL if out of memory. */
json_t *top_node_json(const struct stats_view *v);

#endif
