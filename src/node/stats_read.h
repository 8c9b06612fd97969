/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counter files (stats.h) of all nodes whose files this user may read. Files are read,
 * not mapped, and all fields are checked, because another user may have written a file. */
#ifndef NODE_STATS_READ_H
#define NODE_STATS_READ_H

#include "node/limits.h"
#include "node/stats.h"

struct stats_view {
	/* Path of the file, or the name of the node in the fabric. It identifies the node in later
	 * reads. */
	char path[STATS_PATH_BYTES];
	const char *missing; /* why the node gave no counters; NULL: it gave them */
	uint32_t pid;
	uint64_t age_ns;                /* ns from node.published_ns until the file was read */
	struct stats_node node;         /* its strings are terminated and printable */
	struct stats_session *sessions; /* node.session_rows entries */
	struct stats_path *paths;       /* path_count entries; only of a query for paths */
	uint32_t path_count;
};

struct stats_list {
	struct stats_view *views; /* array sorted by path */
	uint32_t count;
	uint32_t refused; /* number of files of another format, and of unreadable folders */
};

/* Reads all files. Calls `complain` (may be NULL) for each file that it rejects. Removes files of
 * this user whose process has exited. DXP_ENOMEM. */
int stats_read(struct stats_list *out, void (*complain)(void *context, const char *text),
	       void *context);
void stats_list_free(struct stats_list *list);

/* Opens a node's file for a tracer, with the checks of stats_read. The caller owns *folder and *fd.
 * DXP_ENOENT: the node has exited; DXP_EACCESS. */
int stats_file_open(const char *path, int *folder, int *fd);

/* Converts the path of "PID-N.stats" to the name "PID-N.tap", without the folder. */
void stats_tap_of(const char *path, char out[STATS_PATH_BYTES]);

#endif
