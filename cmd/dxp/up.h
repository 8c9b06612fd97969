/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric that `dxp up` starts: options and progress, and the daemons. */
#ifndef CMD_DXP_UP_H
#define CMD_DXP_UP_H

#include "cmd/dxp/folder.h"
#include "cmd/dxp/progress.h"
#include "node/query.h"

struct up {
	const char *directory, *engine, *bind, *admit, *grants, *name, *state;
	const char *buffers, *buffer_bytes, *reads, *keep_hosts; /* NULL: the daemon's default */
	uint64_t xpus, slots, memory, host_memory, port, node_port;
	bool json, token;         /* token: the manager admits by token */
	uint64_t started, joined; /* xPUs of started daemons, and xPUs alive in the node table */
	uint64_t wait_ns, deadline_ns;
	struct progress progress;
	struct folder folder;
	char key[PATH_BYTES], xpus_state[PATH_BYTES], manager[UDP_ADDRESS_TEXT_BYTES];
	char user[FABRIC_NAME_BYTES]; /* with tokens: the name of this user in the fabric */
};

/* Starts argv[0], a program of this project, as `name`. Returns false after it has printed the
 * reason. */
bool up_part_start(struct up *u, const char *name, const char *argv[]);

/* Renews the deadline, because the start made progress. */
void up_patience_renew(struct up *u);

/* Returns true if only this machine can reach the fabric. All its hosts then have the same key file
 * and user. */
bool up_loopback(const struct up *u);

/* Starts as many further daemons as may start at one time. Returns false after it has printed the
 * reason. */
bool up_daemons_start(struct up *u);

/* Counts the xPUs that have joined. Returns true if all have; *out is the node table. */
bool up_daemons_look(struct up *u, struct query **out);

#endif
