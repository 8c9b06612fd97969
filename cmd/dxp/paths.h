/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges the paths that nodes measured: which are blocked, lossy, slow or short. */
#ifndef CMD_DXP_PATHS_H
#define CMD_DXP_PATHS_H

#include <jansson.h>

#include "node/stats_read.h"
#include "wire/stats.h"

#define PATH_HEADER_BYTES 28 /* bytes of the IPv4 and UDP headers */
#define PATH_TEXT_BYTES   160

/* All paths, sorted by sender and peer. */
struct paths {
	const struct node_entry *nodes;
	size_t count;
	struct stats_list list; /* a view for each node */
	uint64_t median_ns;     /* lower median of the shortest round trips; 0: none is known */
};

/* Sets median_ns. Returns false if out of memory. */
bool paths_judge(struct paths *p);

/* After paths_judge: returns what is wrong with a path ("blocked", "lossy", "slow", "short"), or
 * NULL. */
const char *paths_verdict(const struct paths *p, const struct stats_path *path);

/* Writes the reason of the verdict, with the next step where there is one. */
void paths_trouble(const struct paths *p, const struct stats_path *path, char *out, size_t bytes);

/* Returns {"paths": [...], "missing": [...]}, or NULL if out of memory. */
json_t *paths_json(const struct paths *p);

#endif
