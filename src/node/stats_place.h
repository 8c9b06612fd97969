/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder where a user's nodes publish: $DXP_STATS, or the first possible one of
 * $XDG_RUNTIME_DIR/dxp, /run/dxp (root), /run/user/UID/dxp and /tmp/dxp-UID. Only its owner may use
 * it, so a folder that somebody else prepared is refused. */
#ifndef NODE_STATS_PLACE_H
#define NODE_STATS_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"

struct stats_place {
	int folder; /* file descriptor */
	uid_t owner;
	const char *path;
};

/* Opens the folder for writing, and makes it when need be; the descriptor is the caller's.
 * DXP_EUNSUPPORTED: DXP_STATS is empty; DXP_EIO, logged at level info. */
int stats_place_open(int *folder);

/* Calls `visit` for each folder that may hold files which this user may read: his own, for root
 * those of all users. `complain` is told of folders that are refused. Returns how many were
 * visited. */
uint32_t stats_places(void (*visit)(void *context, const struct stats_place *place),
		      void (*complain)(void *context, const char *text), void *context);

/* The same for the sockets by which NICs offer their functions (node/offer_place.h): $DXP_RUN, else
 * the folder above. */
int run_place_open(int *folder, char path[STATS_PATH_BYTES]);
uint32_t run_places(void (*visit)(void *context, const struct stats_place *place),
		    void (*complain)(void *context, const char *text), void *context);

/* Does nobody hold the file's lock any more? */
int stats_orphaned(int fd);

/* Takes the lock of a file that is open for writing, for as long as it is open. Returns 0, or -1
 * with errno. */
int stats_lock(int fd);

#endif
