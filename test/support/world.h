/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs simulated hosts that exchange PUT, GET, NAP and atomic adds, with an oracle that survives
 * restarts. It checks: Each operation completes exactly once, in the order of its queue pair, with
 * a status that the faults allow. Data of successful operations is in place. Only operations with a
 * valid key change bytes. NAPs arrive once, in order, with their trailers. No add happens twice.
 * The accounts of every NIC agree. The wire shows no violation of RLTP. */
#ifndef TEST_SUPPORT_WORLD_H
#define TEST_SUPPORT_WORLD_H

#include "sim/sim.h"
#include "test/support/witness.h"

#define WORLD_HOSTS      4
#define WORLD_QPS        2
#define WORLD_OPERATIONS 120 /* posted by each host in total */
#define WORLD_NONE       UINT32_MAX
#define WORLD_BYTES_MAX  6000 /* bytes of one operation */

struct world_operation {
	uint8_t op, qp, to; /* enum nic_op; own queue pair; target host */
	uint32_t bytes;
	/* PUT, add: offset in the target's area for this host; GET: in the own area */
	uint32_t offset;
	uint32_t generation; /* target's generation at posting */
	/* ended: its completion was dequeued; good: with success; delivered: the receiver has
	 * dequeued the NAP */
	bool ended, good, delivered;
};

struct world_host {
	uint8_t *source; /* source of PUTs and of others' GETs: WORLD_OPERATIONS areas */
	uint8_t *target; /* for each writing host, the areas of its operations, with guards */
	uint32_t source_key, target_key;
	struct world_operation operations[WORLD_OPERATIONS];
	uint32_t extent;          /* bytes of this host's operations in any target */
	uint32_t posted, first;   /* operations posted; first operation of this process */
	uint32_t generation;      /* generation of this process */
	uint32_t next[WORLD_QPS]; /* operation that must complete next */
	/* 1 + number of the last NAP received, by sender */
	uint32_t nap_seen[WORLD_HOSTS][WORLD_QPS];
	uint64_t stalled_until_ns; /* its user dequeues no NAPs before this time */
};

struct world {
	struct sim *sim;
	struct witness *witness;
	struct rng rng;
	struct world_host hosts[WORLD_HOSTS];
	uint32_t count, steps;
	uint32_t until; /* operations per host that may be posted so far */
	bool may_fail;  /* operations may fail */
	char wrong[200];
};

/* Draws the operations of all hosts. Returns DXP_ENOMEM if out of memory. */
int world_create(struct world *w, const struct sim_options *options, bool may_fail);
void world_destroy(struct world *w);

/* For sim_run: dequeues completions and events, checks them, posts. Returns true when all
 * operations up to `until` have completed, or on an error. */
bool world_step(void *world);

/* Starts a new process: operations of the old one never complete, its keys are void, its memory is
 * empty. */
int world_restart(struct world *w, uint32_t host, bool announce);

/* Checks after the run that every successful NAP was delivered and that no other byte changed. */
void world_finish(struct world *w);

/* Records the first error; WORLD_NONE if no host or operation caused it. */
void world_wrong(struct world *w, const char *what, uint32_t host, uint32_t number);

#endif
