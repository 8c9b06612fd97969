/* SPDX-License-Identifier: BSD-3-Clause */
/* Many members of a fabric in one process: each does what a node does for its membership
 * (node/member.h), over a socket of its own, and nothing else. Only IPv4. */
#ifndef BENCH_MEMBERS_H
#define BENCH_MEMBERS_H

#include "node/member.h"

struct members_options {
	struct udp_address manager;
	struct manager_backups others;
	uint8_t key[FABRIC_KEY_BYTES];
	const char *name; /* member n has the name NAME-n */
	unsigned count;
	unsigned xpus; /* the first ones are xPUs, the others hosts */
};

struct members;

/* Opens a socket for each member; none runs yet. Raises the limit of open files as far as needed.
 * DXP_ENOMEM; DXP_EIO, logged. */
int members_open(const struct members_options *options, struct members **out);
void members_close(struct members *m);

/* Starts a run of a member that does not run. DXP_ENOMEM, DXP_EIO. */
int members_start(struct members *m, unsigned index);
/* Ends the run of a member without a message to the manager, as kill -9 does. */
void members_kill(struct members *m, unsigned index);
/* Returns the member, or NULL if it does not run. Call members_kick after a change of it. */
struct member *members_at(struct members *m, unsigned index);
void members_kick(struct members *m, unsigned index);

/* Waits until something is due or arrives, at most until this time, and handles it. */
void members_run(struct members *m, uint64_t until_ns);

/* Returns how many members have a lease. */
unsigned members_joined(const struct members *m);

#endif
