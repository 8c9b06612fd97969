/* SPDX-License-Identifier: BSD-3-Clause */
/* The managers of a fabric, of which one is active. Users keep the one in use as `manager`, and the
 * others in the order in which to try them. */
#ifndef NODE_MANAGERS_H
#define NODE_MANAGERS_H

#include <stdbool.h>

#include "link/udp.h"

#define MANAGERS_MAX        8
#define MANAGERS_TEXT_BYTES 1024 /* a list of names, with the final zero */

struct manager_backups {
	struct udp_address all[MANAGERS_MAX - 1];
	unsigned count;
};

/* Parses "HOST[:PORT][,HOST[:PORT]...]". May wait for a name server. A name that no name server
 * knows is left out if another one is known. DXP_EINVAL: other text, or too many; DXP_ENOENT: no
 * host has one of the names. */
int managers_parse(const char *text, uint16_t port, struct udp_address *manager,
		   struct manager_backups *others);

/* Puts the next manager in use; the present one becomes the last of the others. */
void managers_next(struct udp_address *manager, struct manager_backups *others);
/* Puts the manager with this address in use, if it is one of them. */
void managers_use(struct udp_address *manager, struct manager_backups *others,
		  const struct udp_address *address);
/* Returns true if a manager of the fabric has this address. */
bool managers_have(const struct udp_address *manager, const struct manager_backups *others,
		   const struct udp_address *address);

#endif
