/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader's side of node/stats.h: all nodes whose files this user may read. Files are read, not
 * mapped, and nothing in them is believed unchecked: they may be another user's. */
#ifndef NODE_STATS_READ_H
#define NODE_STATS_READ_H

#include "node/stats.h"

struct stats_view {
	char path[STATS_PATH_BYTES]; /* of the file: its key from one reading to the next */
	uint32_t pid;
	struct stats_node node; /* texts are terminated and hold printable characters only */
	struct stats_session *sessions; /* node.session_rows */
};

struct stats_list {
	struct stats_view *views; /* by path */
	uint32_t count;
	uint32_t refused; /* files that are none of ours, and folders that may not be read */
};

/* Reads everything. `complain` is told of each file that is left out, and why; NULL: nobody cares.
 * Files without a live owner are removed where they are this user's. DXP_ENOMEM. */
int stats_read(struct stats_list *out, void (*complain)(void *context, const char *text),
	       void *context);
void stats_list_free(struct stats_list *list);

/* Opens a node's file for a tracer, as stats_read found it; the checks are made again. *folder and
 * *fd are the caller's. DXP_ENOENT: gone; DXP_EACCESS: not allowed. */
int stats_file_open(const char *path, int *folder, int *fd);

/* "PID-N.stats" becomes "PID-N.tap". */
void stats_tap_of(const char *path, char out[STATS_PATH_BYTES]);

#endif
