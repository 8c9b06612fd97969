/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the admission of this machine or user to a fabric. */
#ifndef CMD_DXP_JOIN_H
#define CMD_DXP_JOIN_H

#include "cmd/dxp/control.h"

struct joining {
	const char *folder; /* existing folder for the files; the caller has called owner_become */
	const char *host;   /* HOST[:PORT] of the manager, as given */
	struct token token;
	const char *name; /* NULL: the host name */
	/* The following members are results of join_run. */
	char given_name[FABRIC_NAME_BYTES];
	uint8_t role; /* enum manage_role */
};

/* Creates the folder's key pair if there is none, and requests its admission from the manager. Then
 * writes the folder's files, `manager` last. Returns false after it has printed the reason. */
bool join_run(struct joining *j);

#endif
