/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates many peers in one process on one socket. Each is an RLTP endpoint with its own id that
 * accepts every PUT and discards the data. Handshakes, sessions and acknowledgements are real. The
 * peers have no NICs, because 10,000 NICs would need gigabytes. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "base/address.h"
#include "bench/child.h"

#define CROWD_MAX      10000
#define CROWD_FIRST_ID 2 /* the others follow */

struct crowd_options {
	struct udp_address bind; /* port 0: any */
	uint16_t near_id;        /* id of the near node, the only peer of all of them */
	struct udp_address near; /* address of the near node */
	uint64_t near_incarnation;
	uint32_t count; /* 1 .. CROWD_MAX */
};

/* Starts the process. *address is the address of all peers; all have this incarnation. Returns
 * DXP_EIO, logged, on failure; on success child_end must follow. */
#define CROWD_INCARNATION 1
int crowd_start(const struct crowd_options *options, struct child *child,
		struct udp_address *address);

#endif
