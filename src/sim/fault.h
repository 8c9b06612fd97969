/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the network. When a datagram leaves its host, a generator with a seed decides its
 * faults. Bursts and batches concern several datagrams; all other faults are independent. Rates are
 * in parts per million (ppm). */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/packet.h"

/* Selects which datagrams may be lost at random. */
enum sim_only {
	SIM_ONLY_ALL,
	SIM_ONLY_ACKS,
	SIM_ONLY_HELLOS, /* only HELLO and HELLO_ACK */
	SIM_ONLY_LAST,
	SIM_ONLY_REPEATS, /* only retransmissions */
	SIM_ONLY_KINDS
};

struct sim_faults {
	/* Loss of datagrams. A lost datagram has no other fault. */
	enum sim_only only;
	/* only datagrams of these senders may be lost at random: bit i: host i, 0 .. 63; 0: all
	 * hosts */
	uint64_t only_from;
	/* probability that a datagram is lost, independent of all others (Bernoulli) */
	uint32_t loss_ppm;
	/* Loss in bursts, separate for each sender (Gilbert-Elliott). Probabilities for each
	 * datagram: that a burst begins; that a burst ends; that the datagram is lost during a
	 * burst. */
	uint32_t burst_ppm, burst_end_ppm, burst_loss_ppm;
	/* probability that all datagrams of one send call to one host are lost */
	uint32_t batch_ppm;
	/* probability that all datagrams of one send call to one host are lost;
	 * sim_counters.refused counts these send calls */
	uint32_t reject_ppm;
	/* number of the datagram that is lost, whatever `only` selects; the first one has 1; 0:
	 * none */
	uint64_t drop_nth;
	/* Duplicates and delays. */
	/* probabilities that a second copy is delivered: within reorder_ns; after 61 .. 91 s */
	uint32_t duplicate_ppm, late_ppm;
	uint32_t reorder_ppm;
	uint64_t reorder_ns; /* longest delay in ns of a reordered datagram */
	/* longest random delay in ns of each datagram, uniform */
	uint64_t jitter_ns;
	/* Damage. The lengths in UDP headers stay correct. */
	uint32_t corrupt_ppm; /* probability that one bit anywhere is flipped */
	/* Probabilities that one bit is flipped: in the header, behind the header, in the length
	 * field. */
	uint32_t header_ppm, payload_ppm, length_ppm;
	/* probabilities that the datagram becomes shorter; that it becomes up to 64 bytes longer */
	uint32_t truncate_ppm, extend_ppm;
};

/* Numbers of datagrams, unless stated otherwise. */
struct sim_counters {
	uint64_t sent, delivered;
	uint64_t lost; /* lost by faults of the network, by blackholes and by small MTUs */
	uint64_t refused, duplicated, late, reordered, corrupted, truncated, extended;
	uint64_t dropped;    /* dropped because a port's queue was full */
	uint64_t marked;     /* marked as "congestion experienced" */
	uint64_t overflowed; /* dropped because a host's socket buffer was full */
	uint64_t unknown;
	uint64_t spins;      /* polls of a host repeated at one instant without work; must stay 0 */
	uint64_t wire_bytes; /* bytes with all headers, preamble and gap */
};

struct sim_fate {
	bool lost;
	uint64_t delay_ns;    /* delay in ns of the datagram, added to the delay of its path */
	uint64_t again_ns[2]; /* delays in ns of the duplicates */
	uint32_t again_count;
};

struct sim_fault_state {
	struct rng rng;
	uint64_t count; /* datagrams whose faults were decided */
	bool *bursting; /* for each sender: true during a burst of losses */
	/* destination of the present batch if the batch is lost; else UINT32_MAX */
	uint32_t batch_to;
	uint32_t batch_host; /* destination of the present batch; UINT32_MAX: none yet */
};

/* Starts a new send call, so a new batch. */
void sim_fault_batch(struct sim_fault_state *state);

/* Decides the faults of one datagram, and applies the damage. `packet` must have space for 64 more
 * bytes. */
struct sim_fate sim_fault_decide(const struct sim_faults *f, struct sim_fault_state *state,
				 struct sim_packet *packet, struct sim_counters *counters);

#endif
