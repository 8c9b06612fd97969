/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder where the nodes of a user publish their files: $DXP_STATS, or the first possible one
 * of $XDG_RUNTIME_DIR/dxp, /run/dxp (root), /run/user/UID/dxp and /tmp/dxp-UID. It must belong to
 * the user and have mode 700, because another user could have prepared it. */
#ifndef NODE_STATS_FOLDER_H
#define NODE_STATS_FOLDER_H

#include <stdint.h>
#include <sys/types.h>

#include "node/limits.h"

struct stats_folder {
	int folder; /* file descriptor */
	uid_t owner;
	const char *path;
};

/* Opens the folder for writing; makes it if necessary. The caller owns *folder. DXP_EUNSUPPORTED:
 * DXP_STATS is empty; DXP_EIO, logged at level info. */
int stats_folder_open(int *folder);

/* Calls `visit` for each folder that this user may read (for root, the folders of all users), and
 * `complain` for each folder that is rejected. Returns how many folders there were in total. */
uint32_t stats_folders(void (*visit)(void *context, const struct stats_folder *listed),
		       void (*complain)(void *context, const char *text), void *context);

/* Opens the run folder, for sockets of offered functions (node/offer_folder.h): $DXP_RUN, or if
 * that is not set, the folder above. Returns the statuses of stats_folder_open(). */
int stats_run_folder_open(int *folder, char path[STATS_PATH_BYTES]);
uint32_t stats_run_folders(void (*visit)(void *context, const struct stats_folder *listed),
			   void (*complain)(void *context, const char *text), void *context);

/* Returns true if no process has the file locked. */
int stats_orphaned(int fd);

/* Locks an open, writable file until it is closed. Returns 0, or -1 and sets errno. */
int stats_lock(int fd);

#endif
