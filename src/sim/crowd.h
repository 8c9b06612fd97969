/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates thousands of RLTP endpoints without NICs. They use the shipped transport on the network
 * of net.h. A generator posts messages. Payload is only counted, not copied. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "rltp/session.h"
#include "sim/net.h"

enum crowd_pattern {
	CROWD_PAIR,        /* host 0 sends to host 1 */
	CROWD_INCAST,      /* all hosts send to host 0 */
	CROWD_PERMUTATION, /* each host sends to one other host, and receives from one */
	CROWD_ALL_TO_ALL,  /* each host sends to all others */
	CROWD_PATTERNS
};

struct crowd_options {
	struct net_options net; /* hosts, paths and faults; crowd_run sets its `headers_only` */
	enum crowd_pattern pattern;
	struct rltp_tuning tuning;
	uint32_t window_packets; /* 0: default */
	uint32_t message_bytes;  /* bytes of a message, at least 1; see `mixed` */
	/* True: lengths differ. Half of the messages have message_bytes / 100 bytes, a tenth have
	 * 10 * message_bytes, and the others have message_bytes. */
	bool mixed;
	/* messages of a flow that are outstanding at a time, 1 .. CROWD_OUTSTANDING_MAX */
	uint32_t outstanding;
	uint32_t messages; /* messages of each flow; 0: as many as the time permits */
	uint64_t limit_ns; /* virtual time in ns after which the run stops */
};

#define CROWD_OUTSTANDING_MAX 64

struct crowd_result {
	uint64_t elapsed_ns;      /* virtual time of the run */
	uint64_t messages, bytes; /* messages that completed, and their payload */
	/* Payload bytes received for the first time, also of messages that are not complete. */
	uint64_t received_bytes;
	uint64_t failed; /* messages that completed with an error */
	/* first transmissions of data packets, and retransmissions of data packets */
	uint64_t packets, repeats;
	uint64_t datagrams;
	uint64_t wire_bytes; /* bytes of all datagrams, with all headers */
	/* datagrams that full queues dropped; datagrams lost by faults */
	uint64_t dropped, lost;
	/* Goodput as a share of the rate of the receivers' ports, or of the wire between a pair. */
	double share;
	/* Jain's index of the bytes received by each flow; 1: all equal; 1/flows: one flow has
	 * all. */
	double jain;
	/* percentiles of the time from a message's post to its completion */
	double p50_us, p99_us, p999_us;
	/* Bytes that wait when a packet arrives at a port that several flows share: mean and
	 * maximum. */
	double queue_mean_bytes, queue_max_bytes;
};

/* Runs the simulation to its end, and writes *out. DXP_ENOMEM, DXP_EINVAL. */
int crowd_run(const struct crowd_options *options, struct crowd_result *out);

/* Parses "pair", "incast", "permutation" or "all-to-all"; returns false for any other text. */
bool crowd_pattern_parse(const char *text, enum crowd_pattern *out);
const char *crowd_pattern_name(enum crowd_pattern pattern);

#endif
