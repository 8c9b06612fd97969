/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of networks, links and clocks; each is an option. A seeded generator decides the faults of
 * each datagram independently when it leaves its host. Rates are parts per million. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/packet.h"

/* Datagrams that may be lost. */
enum sim_only {
	SIM_ONLY_ALL,
	SIM_ONLY_ACKS,
	SIM_ONLY_HELLOS, /* HELLO and HELLO_ACK */
	SIM_ONLY_LAST,
	SIM_ONLY_REPEATS, /* retransmissions */
	SIM_ONLY_KINDS
};

struct sim_faults {
	/* Loss of datagrams. A lost datagram has no other fault. */
	enum sim_only only;
	uint64_t only_from; /* bit mask of senders 0 .. 63; 0: all */
	uint32_t loss_ppm;  /* loss of each datagram, independent (Bernoulli) */
	/* Gilbert-Elliott per sender. Probabilities per datagram: that a burst begins; that it
	 * ends; that the datagram is lost in a burst. */
	uint32_t burst_ppm, burst_end_ppm, burst_loss_ppm;
	uint32_t batch_ppm; /* loses all datagrams of a send call that go to one host */
	/* loses all datagrams of a send call that go to one host, and the link counts them as an
	 * error */
	uint32_t reject_ppm;
	uint64_t drop_nth; /* loses exactly this datagram, counted from 1; 0: none */
	/* Duplicates and delays. */
	/* delivers a second copy: within reorder_ns, or (late_ppm) after 61 .. 91 s */
	uint32_t duplicate_ppm, late_ppm;
	uint32_t reorder_ppm;
	uint64_t reorder_ns; /* maximum delay by reordering */
	uint64_t jitter_ns;  /* maximum of a uniform delay of each datagram */
	/* Damage. UDP lengths stay correct. */
	uint32_t corrupt_ppm; /* flips one bit anywhere */
	/* Flip one bit: of the header, of the rest, of the length field. */
	uint32_t header_ppm, payload_ppm, length_ppm;
	/* makes the datagram shorter, or (extend_ppm) up to 64 bytes longer */
	uint32_t truncate_ppm, extend_ppm;
};

/* Numbers of datagrams. */
struct sim_counters {
	uint64_t sent, delivered;
	uint64_t lost; /* lost by network faults, blackholes and small MTUs */
	uint64_t refused, duplicated, late, reordered, corrupted, truncated, extended;
	uint64_t dropped;    /* a port's queue was full */
	uint64_t marked;     /* congestion experienced */
	uint64_t overflowed; /* a host's socket buffer was full */
	uint64_t unknown;
	uint64_t spins;      /* number of polls repeated at one instant without work; must stay 0 */
	uint64_t wire_bytes; /* length with all headers, preamble and gap */
};

struct sim_fate {
	bool lost;
	uint64_t delay_ns;    /* delay of the datagram, in addition to the path's */
	uint64_t again_ns[2]; /* delays of the copies */
	uint32_t again_count;
};

struct sim_fault_state {
	struct rng rng;
	uint64_t count;      /* datagrams decided so far */
	bool *bursting;      /* index: sender */
	uint32_t batch_to;   /* destination of this batch if it is lost; else UINT32_MAX */
	uint32_t batch_host; /* destination of this batch; UINT32_MAX: none */
};

/* Starts a new send call. */
void sim_fault_batch(struct sim_fault_state *state);

/* Decides one datagram's faults and applies damage. `packet` must have space for 64 more bytes. */
struct sim_fate sim_fault_decide(const struct sim_faults *f, struct sim_fault_state *state,
				 struct sim_packet *packet, struct sim_counters *counters);

#endif
