/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements LogGOPS on ranks: moves a schedule's messages through processors, shared memory and
 * the hosts' NICs. Each NIC has a transmit and a receive server, first come, first served. Time is
 * in ps. */
#ifndef MODEL_RANKS_H
#define MODEL_RANKS_H

#include "model/schedule.h"

#define MODEL_NO_SERVER UINT32_MAX

/* Costs of one message. */
struct model_path {
	/* o: time of the processor at the sender and at the receiver, with O per byte */
	int64_t send_ps, receive_ps;
	int64_t latency_ps;         /* L: from transmit to receive server */
	int64_t service_ps;         /* g and G: time in a server */
	uint32_t transmit, receive; /* servers; MODEL_NO_SERVER: none */
};

struct model_network {
	uint32_t servers;
	uint64_t rendezvous_bytes; /* S: longer messages wait for their receive; 0: none */
	void (*path)(const struct model_network *n, uint32_t from, uint32_t to, uint64_t bytes,
		     struct model_path *out);
};

struct model_ranks_result {
	int64_t first_ps, last_ps; /* completion of the first and of the last rank */
	double mean_ps;            /* mean of all ranks */
	uint64_t messages, remote; /* remote: those through servers */
	int64_t busy_ps;           /* busy time of the busiest server */
	uint64_t events;
};

/* Runs a schedule. `done_ps` (NULL allowed) has an entry per rank. `counted`: first, last and mean
 * cover only ranks below this number; 0: all ranks. DXP_ENOMEM; DXP_EINVAL: a rank waits forever,
 * and error_text() names the message. */
int model_ranks_run(const struct model_schedule *schedule, const struct model_network *network,
		    uint32_t counted, int64_t *done_ps, struct model_ranks_result *out);

/* Equal ranks, each on its own host. */
struct model_flat_network {
	struct model_network network; /* first member */
	int64_t send_ps, receive_ps, latency_ps, gap_ps;
	int64_t byte_ps;     /* G: per byte, at the server */
	int64_t overhead_ps; /* O: per byte, at the processor */
};
void model_flat_network(struct model_flat_network *n, uint32_t ranks);

#endif
