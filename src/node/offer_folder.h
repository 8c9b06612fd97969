/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder in which a NIC offers its functions: NAME.nic in the run folder (node/stats_folder.h),
 * where NAME is the name of the NIC's node. Socket `nic` opens any function and manages the NIC.
 * Each socket `vf1` .. `vf7` opens one function, and each socket `vf1.0` .. `vf7.3` one queue pair.
 * So a sandbox can get the path of one socket only. */
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

/* Lists at most `space` folders, sorted by name; returns their number. A listed folder may belong
 * to a program that has exited: only connecting to its socket shows that. */
uint32_t offer_folders(struct offer_folder *out, uint32_t space);

/* Writes the path "folder/nic", "folder/vf3" for function 3, or "folder/vf3.1" for queue pair 1 of
 * function 3. Returns false if the path is too long. */
bool offer_socket_path(const char *folder, struct offer_scope scope, char out[OFFER_PATH_BYTES]);

/* Returns the scope of socket number `i` that a folder may have. The order is: `nic`, functions,
 * queue pairs. Returns false if `i` is behind the last socket. */
bool offer_socket_scope(uint32_t i, struct offer_scope *out);

/* Makes the folder of this node, and removes folders of this user's programs that have exited.
 * *lock (or -1) protects the folder from other processes; close it after listening at the sockets.
 * DXP_EUNSUPPORTED: DXP_RUN is empty; DXP_EACCESS, logged. */
int offer_folder_make(const char *name, char folder[OFFER_PATH_BYTES], int *lock);

#endif
