/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates thousands of bare RLTP endpoints, with the shipped transport, on the network of net.h.
 * A generator posts messages. Payload is only counted. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "rltp/session.h"
#include "sim/net.h"

enum crowd_pattern {
	CROWD_PAIR,        /* host 0 to host 1 */
	CROWD_INCAST,      /* all hosts to host 0 */
	CROWD_PERMUTATION, /* each host sends to another one, and each host receives from one */
	CROWD_ALL_TO_ALL,  /* each host to all others */
	CROWD_PATTERNS
};

struct crowd_options {
	struct net_options net; /* hosts, paths, faults; headers_only is set */
	enum crowd_pattern pattern;
	struct rltp_tuning tuning;
	uint32_t window_packets; /* 0: default */
	uint32_t message_bytes;  /* 1 or more */
	/* Half of the messages have a hundredth of message_bytes; a tenth of them have ten times as
	 * many bytes. */
	bool mixed;
	uint32_t outstanding; /* outstanding messages per flow, 1 .. CROWD_OUTSTANDING_MAX */
	uint32_t messages;    /* messages per flow; 0: as many as the time allows */
	uint64_t limit_ns;    /* maximum virtual time */
};

#define CROWD_OUTSTANDING_MAX 64

struct crowd_result {
	uint64_t elapsed_ns;      /* virtual time */
	uint64_t messages, bytes; /* completed messages; their payload */
	/* Payload received for the first time, also of incomplete messages. */
	uint64_t received_bytes;
	uint64_t failed;           /* messages completed with an error */
	uint64_t packets, repeats; /* first transmissions of data packets, and retransmissions */
	uint64_t datagrams;
	uint64_t wire_bytes;    /* bytes of `datagrams`, with all headers */
	uint64_t dropped, lost; /* datagrams dropped by full queues, and datagrams lost by faults */
	/* Goodput as a share of the receivers' ports, or of the pair's wire. */
	double share;
	/* Jain's index of bytes received per flow; 1: equal; 1/flows: one flow has all */
	double jain;
	double p50_us, p99_us, p999_us; /* time from post to completion */
	/* Bytes that wait when a packet arrives at a port that several flows share. */
	double queue_mean_bytes, queue_max_bytes;
};

/* Runs to the end and writes *out. DXP_ENOMEM, DXP_EINVAL. */
int crowd_run(const struct crowd_options *options, struct crowd_result *out);

/* Parses "pair", "incast", "permutation" or "all-to-all"; false: another text. */
bool crowd_pattern_parse(const char *text, enum crowd_pattern *out);
const char *crowd_pattern_name(enum crowd_pattern pattern);

#endif
