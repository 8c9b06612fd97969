/* SPDX-License-Identifier: BSD-3-Clause */
/* Many peers in one process on one socket: each an RLTP endpoint with an id of its own that takes
 * whatever is PUT to it and keeps nothing. Their greetings, sessions and acknowledgements are the
 * real ones; what they lack is a NIC each, for which 10,000 would need gigabytes. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "bench/child.h"
#include "wire/address.h"

#define CROWD_MAX      10000
#define CROWD_FIRST_ID 2 /* the others follow */

struct crowd_options {
	struct wire_address bind; /* port 0: any */
	uint16_t near_id;         /* whom they all know, */
	struct wire_address near; /* at this address */
	uint64_t near_incarnation;
	uint32_t count; /* 1 .. CROWD_MAX */
};

/* Starts the process. *address is where they all are, and all have this incarnation. DXP_EIO,
 * logged; on success child_end must follow. */
#define CROWD_INCARNATION 1
int crowd_start(const struct crowd_options *options, struct child *child,
		struct wire_address *address);

#endif
