/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates many peers in one process on one socket. Each peer is an RLTP endpoint with its own id.
 * It accepts every PUT and discards the data. Handshakes, sessions and acknowledgements are real.
 * The peers have no NICs, because 10,000 NICs would need gigabytes. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "base/address.h"
#include "bench/child.h"

#define CROWD_MAX      10000
#define CROWD_FIRST_ID 2 /* node id of the first peer; the other peers have the ids after it */

struct crowd_options {
	struct udp_address bind; /* port 0: any */
	uint16_t near_id; /* id of the near node, the only node that the peers communicate with */
	struct udp_address near; /* address of the near node */
	uint64_t near_incarnation;
	uint32_t count; /* 1 .. CROWD_MAX */
};

/* Starts a process that runs all peers. *address is the address of all peers. All peers have the
 * incarnation CROWD_INCARNATION. Returns DXP_EIO, logged, on failure. On success the caller must
 * call child_end later. */
#define CROWD_INCARNATION 1
int crowd_start(const struct crowd_options *options, struct child *child,
		struct udp_address *address);

#endif
