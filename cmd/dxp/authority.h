/* SPDX-License-Identifier: BSD-3-Clause */
/* A manager that admits machines by token, started from a fabric's folder, with this user as its
 * operator. Everything but run/ stays after `dxp down`, so that a later start continues with the
 * same keys, tokens, nodes and grants:
 *
 *   registry/    the manager's state folder
 *   node.key, fabric.key, manager.pub, manager     the files that `dxp join` writes */
#ifndef CMD_DXP_AUTHORITY_H
#define CMD_DXP_AUTHORITY_H

#include "cmd/dxp/folder.h"
#include "cmd/dxp/join.h"

struct authority {
	struct folder *folder;
	const char *bind;                     /* address and port to listen on */
	const char *grants;                   /* "any" or "explicit" */
	const char *name;                     /* name of this user; NULL: the host name */
	char address[UDP_ADDRESS_TEXT_BYTES]; /* result: address on which the manager listens */
};

/* Returns whether the folder has such a manager, which may be stopped. */
bool authority_exists(const struct folder *p);

/* Acquires the folder of an earlier run, or a free one. Returns false after it has printed the
 * reason. */
bool authority_acquire(struct folder *p);

/* Starts the manager and waits until it listens; makes this user its operator, unless it is one
 * already. Returns false after it has printed the reason. */
bool authority_start(struct authority *a);

/* Permits this user to use all xPUs, and sets `name` to the user's name in the fabric. Returns
 * false after it has printed the reason. */
bool authority_grant_own(const struct authority *a, char name[FABRIC_NAME_BYTES]);

#endif
