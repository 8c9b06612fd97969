/* SPDX-License-Identifier: BSD-3-Clause */
/* The LogGOPS model for ranks, in ps: messages pass processors, shared memory, and the transmit and
 * receive server of hosts' NICs, in order of arrival. */
#ifndef MODEL_RANKS_H
#define MODEL_RANKS_H

#include "model/schedule.h"

#define MODEL_NO_SERVER UINT32_MAX

/* Costs of one message. */
struct model_path {
	/* o, with O for each byte, at sender and receiver */
	int64_t send_ps, receive_ps;
	int64_t latency_ps;         /* L: between the servers */
	int64_t service_ps;         /* g and G: in each server */
	uint32_t transmit, receive; /* MODEL_NO_SERVER: none */
};

struct model_network {
	uint32_t servers;
	/* S: longer messages wait until their receive is posted; 0: none waits */
	uint64_t rendezvous_bytes;
	void (*path)(const struct model_network *n, uint32_t from, uint32_t to, uint64_t bytes,
		     struct model_path *out);
};

struct model_ranks_result {
	int64_t first_ps, last_ps; /* first and last rank to complete */
	double mean_ps;            /* of all ranks */
	/* all messages; those through servers */
	uint64_t messages, remote;
	int64_t busy_ps; /* of the busiest server */
	uint64_t events;
};

/* Runs a schedule. `done_ps`: by rank, or NULL. `counted`: results cover only lower ranks; 0: all.
 * DXP_ENOMEM; DXP_EINVAL: a rank waits forever, and error_text() names the message. */
int model_ranks_run(const struct model_schedule *schedule, const struct model_network *network,
		    uint32_t counted, int64_t *done_ps, struct model_ranks_result *out);

/* Equal ranks, each on its own host. */
struct model_flat_network {
	struct model_network network; /* must be first */
	int64_t send_ps, receive_ps, latency_ps, gap_ps;
	int64_t byte_ps;     /* G, at the server */
	int64_t overhead_ps; /* O, at the processor */
};
void model_flat_network(struct model_flat_network *n, uint32_t ranks);

#endif
