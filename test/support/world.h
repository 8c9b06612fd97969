/* SPDX-License-Identifier: BSD-3-Clause */
/* A few simulated hosts that PUT, GET, NAP and add to each other, and an oracle that survives
 * restarts. Whatever happens, each operation ends exactly once, in the order of its queue pair and
 * with a status that what happened allows; what ended well is in place; no byte changes that no
 * operation of a living key may write; NAPs are never repeated nor out of order, and have their
 * trailers; nothing is added twice; the accounts of every NIC agree; the wire shows nothing that
 * RLTP forbids. */
#ifndef TEST_SUPPORT_WORLD_H
#define TEST_SUPPORT_WORLD_H

#include "sim/sim.h"
#include "test/support/witness.h"

#define WORLD_HOSTS      4
#define WORLD_QPS        2
#define WORLD_OPERATIONS 120 /* that each host posts in its life */
#define WORLD_NOBODY     UINT32_MAX
#define WORLD_BYTES_MAX  6000 /* of one operation */

struct world_operation {
	uint8_t op, qp, to; /* enum nic_op; own queue pair; host */
	uint32_t bytes;
	uint32_t place;      /* PUT, add: offset in the target's memory from us; GET: in our own */
	uint32_t generation; /* of the target, when it was posted */
	bool ended, good, delivered; /* the completion was taken, and said success; the receiver
					took the NAP */
};

struct world_host {
	uint8_t *source; /* what GETs read and PUTs send: WORLD_OPERATIONS places */
	uint8_t *target; /* for each host that writes here, its operations' places with guards */
	uint32_t source_key, target_key;
	struct world_operation operations[WORLD_OPERATIONS];
	uint32_t extent;          /* bytes that our operations take in any target */
	uint32_t posted, first;   /* first: posted by this process */
	uint32_t generation;      /* of this process */
	uint32_t next[WORLD_QPS]; /* operation that must end next there */
	uint32_t nap_seen[WORLD_HOSTS][WORLD_QPS]; /* by sender: 1 + number of the operation
						      received last */
	uint64_t stalled_until_ns;                 /* its user takes no NAPs */
};

struct world {
	struct sim *sim;
	struct witness *witness;
	struct rng rng;
	struct world_host hosts[WORLD_HOSTS];
	uint32_t count, steps;
	uint32_t until; /* operations of each host that may be posted so far */
	bool may_fail;  /* operations may end badly */
	char wrong[200];
};

/* Draws every host's operations. DXP_ENOMEM. */
int world_create(struct world *w, const struct sim_options *options, bool may_fail);
void world_destroy(struct world *w);

/* For sim_run: takes completions and events, checks, posts. True when all operations up to `until`
 * have ended, or something was wrong. */
bool world_step(void *world);

/* A new process: what the old one posted ends nowhere, its keys are void, its memory is empty. */
int world_restart(struct world *w, uint32_t host, bool announce);

/* What can be told only at the end: that every NAP that ended well was delivered, and that no byte
 * changed that must not. */
void world_finish(struct world *w);

/* Notes the first thing that is wrong; WORLD_NOBODY where no host or no operation is to blame. */
void world_wrong(struct world *w, const char *what, uint32_t host, uint32_t number);

#endif
