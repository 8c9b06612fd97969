/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the admission of this machine or user to a fabric. */
#ifndef CMD_DXP_JOIN_H
#define CMD_DXP_JOIN_H

#include "cmd/dxp/control.h"

struct joining {
	const char *folder; /* to write; exists; the caller has called owner_become */
	const char *host;   /* HOST[:PORT] of the manager, as given */
	struct token token;
	const char *name; /* NULL: the host name */
	/* results: */
	char given_name[FABRIC_NAME_BYTES];
	uint8_t role; /* enum manage_role */
};

/* Makes the key pair of the folder if there is none, has it admitted, and writes the folder's
 * files, `manager` last. Returns false after it has printed the reason. */
bool join_run(struct joining *j);

#endif
