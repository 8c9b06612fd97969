/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder in which a NIC offers its functions: NAME.nic in the run folder (node/stats_folder.h).
 * NAME is the name of the NIC's node. Socket `nic` opens any function and manages the NIC; `vf1` ..
 * `vf7` open one each, and `vf1.0` .. `vf7.3` one queue pair each, so that a sandbox can get one
 * path only. */
#ifndef NODE_OFFER_FOLDER_H
#define NODE_OFFER_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "node/offer.h"
#include "wire/limits.h"

#define OFFER_PATH_BYTES 4096
#define OFFER_SUFFIX     ".nic"
#define OFFER_SOCKET     "nic"

struct offer_folder {
	char name[FABRIC_NAME_BYTES];
	char folder[OFFER_PATH_BYTES];
};

/* Lists at most `space` folders, sorted by name; returns their number. Only a connect shows whether
 * a process listens. */
uint32_t offer_folders(struct offer_folder *out, uint32_t space);

/* Makes "folder/nic", "folder/vf3" for function 3, or "folder/vf3.1" for its queue pair 1. Returns
 * false if it is too long. */
bool offer_socket_path(const char *folder, struct offer_scope scope, char out[OFFER_PATH_BYTES]);

/* Returns the scope of each socket that a folder may have, in order: `nic`, functions, queue pairs.
 * False: `i` is behind the last. */
bool offer_socket_scope(uint32_t i, struct offer_scope *out);

/* Makes the folder of this node, and removes those of this user's exited programs. *lock (or -1)
 * protects the folder from other processes; close it after listening there. DXP_EUNSUPPORTED:
 * DXP_RUN is empty; DXP_EACCESS, logged. */
int offer_folder_make(const char *name, char folder[OFFER_PATH_BYTES], int *lock);

#endif
