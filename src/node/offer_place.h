/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a NIC offers its functions: a folder NAME.nic in the run folder (node/stats_place.h), NAME
 * being its node's, with a socket `nic` for any function and for who manages the NIC, and `vf1` ..
 * `vf7` for one function each, so that a sandbox can be given exactly one path. */
#ifndef NODE_OFFER_PLACE_H
#define NODE_OFFER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

#define OFFER_PATH_BYTES 4096
#define OFFER_SUFFIX     ".nic"
#define OFFER_SOCKET     "nic"

struct offer_place {
	char name[FABRIC_NAME_BYTES];
	char folder[OFFER_PATH_BYTES];
};

/* All that are there, by name; more than `room` are left out. Whether somebody still listens is
 * known when one connects. Returns how many. */
uint32_t offer_places(struct offer_place *out, uint32_t room);

/* "folder/nic", or "folder/vf3" for function 3. False: longer than OFFER_PATH_BYTES. */
bool offer_socket_path(const char *folder, uint32_t function, char out[OFFER_PATH_BYTES]);

/* Makes the folder of a node of this name, and removes those of this user's programs that ended
 * without doing so. The caller closes *lock, which may be -1, once it listens there: until then
 * nobody else removes the folder. DXP_EUNSUPPORTED: DXP_RUN is empty; DXP_EACCESS, logged. */
int offer_place_make(const char *name, char folder[OFFER_PATH_BYTES], int *lock);

#endif
