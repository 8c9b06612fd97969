/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a NIC offers its functions: directory NAME.nic in the run directory (node/stats_folder.h);
 * NAME is its node's. Socket `nic` opens any function and manages the NIC; `vf1` .. `vf7` open one
 * each, so that a sandbox can get exactly one path. */
#ifndef NODE_OFFER_FOLDER_H
#define NODE_OFFER_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/limits.h"

#define OFFER_PATH_BYTES 4096
#define OFFER_SUFFIX     ".nic"
#define OFFER_SOCKET     "nic"

struct offer_folder {
	char name[FABRIC_NAME_BYTES];
	char folder[OFFER_PATH_BYTES];
};

/* Lists the directories, sorted by name, at most `space`; returns how many. Only a connect shows
 * whether a process listens. */
uint32_t offer_folders(struct offer_folder *out, uint32_t space);

/* Makes "folder/nic", or "folder/vf3" for function 3. False: longer than OFFER_PATH_BYTES. */
bool offer_socket_path(const char *folder, uint32_t function, char out[OFFER_PATH_BYTES]);

/* Makes the directory for a node of this name; removes those of this user's terminated programs.
 * *lock (may be -1) keeps other processes from removing the directory; close it after listening
 * there. DXP_EUNSUPPORTED: DXP_RUN is empty; DXP_EACCESS, logged. */
int offer_folder_make(const char *name, char folder[OFFER_PATH_BYTES], int *lock);

#endif
