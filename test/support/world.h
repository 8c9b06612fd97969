/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs simulated hosts that exchange PUT, GET, NAP and atomic adds, and checks them even if hosts
 * restart. Each operation completes exactly once, in the order of its queue pair, with a status
 * that the faults allow. Data of successful operations is in place; only operations with a valid
 * key change bytes. NAPs arrive once, in order, with their trailers. No add is executed twice. The
 * accounts of every NIC agree, and the wire shows no violation of RLTP. */
#ifndef TEST_SUPPORT_WORLD_H
#define TEST_SUPPORT_WORLD_H

#include "sim/sim.h"
#include "test/support/witness.h"

#define WORLD_HOSTS      4
#define WORLD_QPS        2
#define WORLD_OPERATIONS 120 /* of each host in total */
#define WORLD_NONE       UINT32_MAX
#define WORLD_BYTES_MAX  6000 /* of one operation */

struct world_operation {
	uint8_t op, qp, to; /* enum nic_op; queue pair of the poster; index of the target host */
	uint32_t bytes;
	/* in the poster's part of the target's memory; of a GET: in its own memory */
	uint32_t offset;
	uint32_t generation; /* of the target's process at the post */
	/* completion dequeued; with success; the receiver has dequeued the NAP */
	bool ended, good, delivered;
};

struct world_host {
	/* sent by PUTs and read by other hosts' GETs; a range for each operation */
	uint8_t *source;
	/* written by others: a part for each host, with a range and guard bytes for each
	 * operation */
	uint8_t *target;
	uint32_t source_key, target_key;
	struct world_operation operations[WORLD_OPERATIONS];
	uint32_t extent; /* bytes that this host's operations occupy in each target */
	/* posted so far; first of the present process */
	uint32_t posted, first;
	uint32_t generation; /* of the present process */
	/* per queue pair, the operation that must complete next */
	uint32_t next[WORLD_QPS];
	/* per sender and queue pair, 1 + number of the last NAP received */
	uint32_t nap_seen[WORLD_HOSTS][WORLD_QPS];
	uint64_t stalled_until_ns; /* virtual time before which the host's user dequeues no NAPs */
};

struct world {
	struct sim *sim;
	struct witness *witness;
	struct rng rng;
	struct world_host hosts[WORLD_HOSTS];
	uint32_t count, steps;
	uint32_t until; /* operations that each host may have posted so far */
	bool may_fail;  /* because of faults */
	char wrong[200];
};

/* Draws the operations of all hosts. DXP_ENOMEM. */
int world_create(struct world *w, const struct sim_options *options, bool may_fail);
void world_destroy(struct world *w);

/* Condition for sim_run: checks completions and events, then posts. True: an error, or the
 * operations up to `until` have completed. */
bool world_step(void *world);

/* Operations of the old process never complete, its keys are void, and its memory is empty. */
int world_restart(struct world *w, uint32_t host, bool announce);

/* Checks after the run that every successful NAP was delivered and no other byte has changed. */
void world_finish(struct world *w);

/* Records the first error. `host` and `number` identify the operation; WORLD_NONE: none. */
void world_wrong(struct world *w, const char *what, uint32_t host, uint32_t number);

#endif
