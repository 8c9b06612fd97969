/* SPDX-License-Identifier: BSD-3-Clause */
/* Many RLTP endpoints in one process on one socket, which accept and discard every PUT. They have
 * no NICs: 10,000 would need gigabytes. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "base/address.h"
#include "bench/child.h"

#define CROWD_MAX      10000
#define CROWD_FIRST_ID 2 /* the other peers follow */

struct crowd_options {
	struct udp_address bind; /* port 0: any */
	uint16_t near_id;        /* near node, the peers' only partner */
	struct udp_address near; /* address of the near node */
	uint64_t near_incarnation;
	uint32_t count; /* 1 .. CROWD_MAX */
};

/* Starts a process that runs all peers, with one address and incarnation CROWD_INCARNATION. Returns
 * DXP_EIO, logged, on failure; on success the caller must call child_end. */
#define CROWD_INCARNATION 1
int crowd_start(const struct crowd_options *options, struct child *child,
		struct udp_address *address);

#endif
