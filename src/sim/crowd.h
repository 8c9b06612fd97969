/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of bare RLTP endpoints on the network of net.h, with a generator of messages: who sends
 * to whom, how much at once, and what it came to. Payload is counted and not carried; the transport
 * is the shipped one. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "rltp/session.h"
#include "sim/net.h"

enum crowd_pattern {
	CROWD_PAIR,        /* host 0 to host 1 */
	CROWD_INCAST,      /* every host to host 0 */
	CROWD_PERMUTATION, /* every host to one other, each other from one */
	CROWD_ALL_TO_ALL,  /* every host to every other */
	CROWD_PATTERNS
};

struct crowd_options {
	struct net_options net; /* hosts, paths, faults; headers_only is set */
	enum crowd_pattern pattern;
	struct rltp_tuning tuning;
	uint32_t window_packets; /* 0: the default */
	uint32_t message_bytes;  /* 1 or more */
	bool mixed; /* sizes vary: half are a hundredth of message_bytes, a tenth ten times as long
		     */
	uint32_t outstanding; /* messages of each flow under way, 1 .. CROWD_OUTSTANDING_MAX */
	uint32_t messages;    /* of each flow; 0: as many as the time allows */
	uint64_t limit_ns;    /* virtual time at most */
};

#define CROWD_OUTSTANDING_MAX 64

struct crowd_result {
	uint64_t elapsed_ns;       /* virtual */
	uint64_t messages, bytes;  /* of those that ended well; payload */
	uint64_t received_bytes;   /* payload that arrived for the first time, of whole messages or
				      not */
	uint64_t failed;           /* messages that ended badly */
	uint64_t packets, repeats; /* data packets sent first, and again */
	uint64_t datagrams;        /* all that were sent */
	uint64_t wire_bytes;       /* of these, with all headers */
	uint64_t dropped, lost;    /* by full queues; by faults */
	double share; /* goodput as share of what the flows' last ports, or the pair's wire, could
			 carry */
	double jain;  /* of the flows' received bytes: 1 all alike, 1/flows one has all */
	double p50_us, p99_us, p999_us;           /* from post to completion */
	double queue_mean_bytes, queue_max_bytes; /* as packets found the ports they compete
									     for */
};

/* Runs it to its end. DXP_ENOMEM, DXP_EINVAL. */
int crowd_run(const struct crowd_options *options, struct crowd_result *out);

/* "pair", "incast", "permutation", "all-to-all"; false for another text. */
bool crowd_pattern_parse(const char *text, enum crowd_pattern *out);
const char *crowd_pattern_name(enum crowd_pattern pattern);

#endif
