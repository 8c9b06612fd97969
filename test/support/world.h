/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs simulated hosts that exchange PUT, GET, NAP and atomic adds, and checks them even if hosts
 * restart. Each operation completes exactly once, in the order of its queue pair, with a status
 * that the faults allow. Data of successful operations is in place. Only operations with a valid
 * key change bytes. NAPs arrive once, in order, with their trailers. No add is executed twice. The
 * accounts of every NIC agree. The wire shows no violation of RLTP. */
#ifndef TEST_SUPPORT_WORLD_H
#define TEST_SUPPORT_WORLD_H

#include "sim/sim.h"
#include "test/support/witness.h"

#define WORLD_HOSTS      4
#define WORLD_QPS        2
#define WORLD_OPERATIONS 120 /* operations that each host posts in total */
#define WORLD_NONE       UINT32_MAX
#define WORLD_BYTES_MAX  6000 /* largest length of one operation in bytes */

struct world_operation {
	uint8_t op, qp, to; /* an enum nic_op; queue pair of the poster; index of the target host */
	uint32_t bytes;
	/* offset in the poster's part of the target's memory; of a GET: in the poster's own
	 * memory */
	uint32_t offset;
	uint32_t generation; /* generation of the target's process when the operation was posted */
	/* its completion was dequeued; with success; the receiver has dequeued the NAP */
	bool ended, good, delivered;
};

struct world_host {
	/* memory that PUTs send and that other hosts' GETs read, a range for each operation */
	uint8_t *source;
	/* memory that others write: a part for each host, with a range and guard bytes for each of
	 * its operations */
	uint8_t *target;
	uint32_t source_key, target_key;
	struct world_operation operations[WORLD_OPERATIONS];
	uint32_t extent; /* bytes that this host's operations occupy in each target */
	/* operations posted so far; first operation of the present process */
	uint32_t posted, first;
	uint32_t generation; /* generation of the present process */
	/* for each queue pair, index of the operation that must complete next */
	uint32_t next[WORLD_QPS];
	/* for each sender and queue pair, 1 + number of the last NAP received */
	uint32_t nap_seen[WORLD_HOSTS][WORLD_QPS];
	uint64_t stalled_until_ns; /* the host's user dequeues no NAPs before this virtual time */
};

struct world {
	struct sim *sim;
	struct witness *witness;
	struct rng rng;
	struct world_host hosts[WORLD_HOSTS];
	uint32_t count, steps;
	uint32_t until; /* operations that each host may have posted so far */
	bool may_fail;  /* faults allow that operations fail */
	char wrong[200];
};

/* Creates the simulator and draws the operations of all hosts. Returns DXP_ENOMEM if out of
 * memory. */
int world_create(struct world *w, const struct sim_options *options, bool may_fail);
void world_destroy(struct world *w);

/* Condition for sim_run: dequeues and checks completions and events, then posts. Returns true on an
 * error, or when the operations up to `until` have completed. */
bool world_step(void *world);

/* Starts a new process on the host. Operations of the old process never complete, its keys are
 * void, and its memory is empty. */
int world_restart(struct world *w, uint32_t host, bool announce);

/* Checks after the run that every successful NAP was delivered and that no other byte has
 * changed. */
void world_finish(struct world *w);

/* Records an error if it is the first. `host` and `number` identify the operation; WORLD_NONE:
 * none. */
void world_wrong(struct world *w, const char *what, uint32_t host, uint32_t number);

#endif
