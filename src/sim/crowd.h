/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of RLTP endpoints without NICs, in the shipped transport on the network of net.h.
 * Payload is counted, not copied. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "rltp/session.h"
#include "sim/net.h"

enum crowd_pattern {
	CROWD_PAIR,        /* host 0 to host 1 */
	CROWD_INCAST,      /* all to host 0 */
	CROWD_PERMUTATION, /* each host sends to one and receives from one */
	CROWD_ALL_TO_ALL,  /* each to all others */
	CROWD_PATTERNS
};

struct crowd_options {
	struct net_options net; /* crowd_run sets `headers_only` */
	enum crowd_pattern pattern;
	struct rltp_tuning tuning;
	uint32_t window_packets; /* 0: default */
	uint32_t message_bytes;  /* at least 1; see `mixed` */
	/* Half of the messages have message_bytes / 100 bytes, a tenth 10 * message_bytes, the
	 * others message_bytes. */
	bool mixed;
	/* messages of a flow at a time, 1 .. CROWD_OUTSTANDING_MAX */
	uint32_t outstanding;
	uint32_t messages; /* of each flow; 0: as many as the time permits */
	uint64_t limit_ns; /* virtual time of the stop */
};

#define CROWD_OUTSTANDING_MAX 64

struct crowd_result {
	uint64_t elapsed_ns;      /* virtual time of the run */
	uint64_t messages, bytes; /* completed messages, and their payload */
	/* Payload received for the first time, also of incomplete messages. */
	uint64_t received_bytes;
	uint64_t failed; /* messages with an error */
	/* data packets: first transmissions, and retransmissions */
	uint64_t packets, repeats;
	uint64_t datagrams;
	uint64_t wire_bytes; /* with all headers */
	/* by full queues; by faults */
	uint64_t dropped, lost;
	/* Goodput, by the rate of the receivers' ports, or of the wire between a pair. */
	double share;
	/* Jain's index of the bytes per flow; 1: all equal; 1/flows: one flow has all. */
	double jain;
	/* from a message's post to its completion */
	double p50_us, p99_us, p999_us;
	/* Waiting bytes when a packet arrives at a shared port. */
	double queue_mean_bytes, queue_max_bytes;
};

/* DXP_ENOMEM, DXP_EINVAL. */
int crowd_run(const struct crowd_options *options, struct crowd_result *out);

/* Names: "pair", "incast", "permutation", "all-to-all". */
bool crowd_pattern_parse(const char *text, enum crowd_pattern *out);
const char *crowd_pattern_name(enum crowd_pattern pattern);

#endif
