/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the network, drawn from a seed when a datagram leaves its host. Only bursts and batches
 * concern several datagrams. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/packet.h"

/* Which datagrams may be lost at random. */
enum sim_only {
	SIM_ONLY_ALL,
	SIM_ONLY_ACKS,
	SIM_ONLY_HELLOS, /* HELLO and HELLO_ACK */
	SIM_ONLY_LAST,
	SIM_ONLY_REPEATS, /* retransmissions */
	SIM_ONLY_KINDS
};

struct sim_faults {
	/* A lost datagram has no other fault. */
	enum sim_only only;
	/* bit i: host i, 0 .. 63; 0: all hosts */
	uint64_t only_from;
	/* of each datagram independently (Bernoulli) */
	uint32_t loss_ppm;
	/* Per sender (Gilbert-Elliott), for each datagram: a burst begins; it ends; loss during a
	 * burst. */
	uint32_t burst_ppm, burst_end_ppm, burst_loss_ppm;
	/* all datagrams of one send call to one host */
	uint32_t batch_ppm;
	/* the same loss, counted in sim_counters.refused by send call */
	uint32_t reject_ppm;
	/* number of the lost datagram, from 1, whatever `only` selects; 0: none */
	uint64_t drop_nth;
	/* Duplicates and delays. */
	/* a second copy: within reorder_ns; after 61 .. 91 s */
	uint32_t duplicate_ppm, late_ppm;
	uint32_t reorder_ppm;
	uint64_t reorder_ns; /* longest delay of a reordered datagram */
	/* longest delay of each datagram, uniform */
	uint64_t jitter_ns;
	/* Damage; lengths in UDP headers stay correct. */
	uint32_t corrupt_ppm; /* one bit anywhere */
	/* One bit: in the header, behind it, in the length field. */
	uint32_t header_ppm, payload_ppm, length_ppm;
	/* shorter; up to 64 bytes longer */
	uint32_t truncate_ppm, extend_ppm;
};

/* Datagrams, unless stated otherwise. */
struct sim_counters {
	uint64_t sent, delivered;
	uint64_t lost; /* by faults, blackholes and small MTUs */
	uint64_t refused, duplicated, late, reordered, corrupted, truncated, extended;
	uint64_t dropped;    /* by full ports */
	uint64_t marked;     /* "congestion experienced" */
	uint64_t overflowed; /* by full socket buffers */
	uint64_t unknown;
	uint64_t spins;      /* polls repeated at one instant without work; must stay 0 */
	uint64_t wire_bytes; /* with all headers, preamble and gap */
};

struct sim_fate {
	bool lost;
	uint64_t delay_ns;    /* added to the path's delay */
	uint64_t again_ns[2]; /* of duplicates */
	uint32_t again_count;
};

struct sim_fault_state {
	struct rng rng;
	uint64_t count; /* datagrams decided */
	bool *bursting; /* by sender: in a burst of losses */
	/* destination of a lost batch; UINT32_MAX: it is not lost */
	uint32_t batch_to;
	uint32_t batch_host; /* of the batch; UINT32_MAX: none yet */
};

/* Starts a send call, which is a batch. */
void sim_fault_batch(struct sim_fault_state *state);

/* Decides a datagram's faults, and applies the damage; `packet` needs space for 64 more bytes. */
struct sim_fate sim_fault_decide(const struct sim_faults *f, struct sim_fault_state *state,
				 struct sim_packet *packet, struct sim_counters *counters);

#endif
