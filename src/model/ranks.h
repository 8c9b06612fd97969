/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the LogGOPS model for ranks: moves the messages of a schedule through processors,
 * shared memory and the hosts' NICs. Each NIC has a transmit server and a receive server. A server
 * handles messages in the order of arrival. Time is in ps. */
#ifndef MODEL_RANKS_H
#define MODEL_RANKS_H

#include "model/schedule.h"

#define MODEL_NO_SERVER UINT32_MAX

/* Costs of one message. */
struct model_path {
	/* o: time of the processor at the sender, and at the receiver, including O for each byte */
	int64_t send_ps, receive_ps;
	int64_t latency_ps;         /* L: from the transmit server to the receive server */
	int64_t service_ps;         /* g and G: time in each server */
	uint32_t transmit, receive; /* numbers of the servers; MODEL_NO_SERVER: none */
};

struct model_network {
	uint32_t servers;
	/* S: messages longer than this wait until their receive is posted; 0: no message waits */
	uint64_t rendezvous_bytes;
	void (*path)(const struct model_network *n, uint32_t from, uint32_t to, uint64_t bytes,
		     struct model_path *out);
};

struct model_ranks_result {
	int64_t first_ps, last_ps; /* times at which the first and the last rank complete */
	double mean_ps;            /* mean of the times of all ranks */
	/* all messages; messages that pass through servers */
	uint64_t messages, remote;
	int64_t busy_ps; /* time for which the busiest server was busy */
	uint64_t events;
};

/* Runs a schedule. `done_ps` has one entry for each rank, or is NULL. `counted`: first, last and
 * mean cover only ranks with lower numbers; 0: all ranks. DXP_ENOMEM; DXP_EINVAL: a rank waits
 * forever, and error_text() names the message. */
int model_ranks_run(const struct model_schedule *schedule, const struct model_network *network,
		    uint32_t counted, int64_t *done_ps, struct model_ranks_result *out);

/* A network of equal ranks, each on its own host. */
struct model_flat_network {
	struct model_network network; /* must be the first member */
	int64_t send_ps, receive_ps, latency_ps, gap_ps;
	int64_t byte_ps;     /* G: time for each byte at the server */
	int64_t overhead_ps; /* O: time for each byte at the processor */
};
void model_flat_network(struct model_flat_network *n, uint32_t ranks);

#endif
