/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bad network, a bad link and a bad clock do to datagrams, each an option; a seeded
 * generator decides about each datagram by itself as it leaves its host. All rates are parts per
 * million. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/packet.h"

/* Which datagrams the losses below look at. */
enum sim_only {
	SIM_ONLY_ALL,
	SIM_ONLY_ACKS,
	SIM_ONLY_HELLOS,  /* both kinds */
	SIM_ONLY_LAST,    /* last packets of messages */
	SIM_ONLY_REPEATS, /* retransmissions */
	SIM_ONLY_KINDS
};

struct sim_faults {
	/* loss; none of the rest happens to what is lost */
	enum sim_only only;
	uint64_t
		only_from; /* a bit for each host 0 .. 63 whose datagrams suffer; 0: of all hosts */
	uint32_t loss_ppm; /* each datagram by itself (Bernoulli) */
	uint32_t burst_ppm, burst_end_ppm, burst_loss_ppm; /* Gilbert-Elliott, for each sender: a
							      burst begins and ends with these
							      probabilities for each datagram, and
							      loses that many meanwhile */
	uint32_t train_ppm;  /* all datagrams to one host out of one call of send */
	uint32_t refuse_ppm; /* the link fails with an error: the same, and it says so */
	uint64_t drop_nth;   /* exactly this datagram, counted from 1; 0: none */
	/* repeats and delays */
	uint32_t duplicate_ppm,
		late_ppm; /* once more within reorder_ns; once more after 61 .. 91 s */
	uint32_t reorder_ppm;
	uint64_t reorder_ns; /* those are delayed by up to this */
	uint64_t jitter_ns;  /* added to each, uniform */
	/* damage; UDP lengths are right, the bytes are not */
	uint32_t corrupt_ppm;                         /* one bit flipped anywhere */
	uint32_t header_ppm, payload_ppm, length_ppm; /* one bit of the header, of what follows it,
							 of the length field */
	uint32_t truncate_ppm, extend_ppm;            /* shorter; up to 64 bytes longer */
};

/* All counts are of datagrams. */
struct sim_counters {
	uint64_t sent, delivered;
	uint64_t lost; /* by the faults of the network, blackholes and small paths included */
	uint64_t refused, duplicated, late, reordered, corrupted, truncated, extended;
	uint64_t dropped;    /* a port's queue was full */
	uint64_t marked;     /* congestion experienced */
	uint64_t overflowed; /* a host's socket buffer was full */
	uint64_t unknown;    /* addressed to no host */
	uint64_t spins;      /* turns asked for at once by a host with nothing to do; must stay 0 */
	uint64_t wire_bytes; /* with all headers, preamble and gap */
};

struct sim_fate {
	bool lost;
	uint64_t delay_ns;    /* of the datagram itself, beyond the path's */
	uint64_t again_ns[2]; /* delays of copies */
	uint32_t again_count;
};

struct sim_fault_state {
	struct rng rng;
	uint64_t count;      /* datagrams decided about */
	bool *bursting;      /* by sender */
	uint32_t train_to;   /* where the train under way is lost to; UINT32_MAX: not lost */
	uint32_t train_host; /* where the train under way goes; UINT32_MAX: none */
};

/* A call of send begins. */
void sim_fault_train(struct sim_fault_state *state);

/* Decides about one datagram, which has room for 64 bytes behind its end, and damages it. */
struct sim_fate sim_fault_decide(const struct sim_faults *f, struct sim_fault_state *state,
				 struct sim_packet *packet, struct sim_counters *counters);

#endif
