/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a node, for its file (node/stats.h) and STATS_PAGE (wire/stats.h). A change here
 * needs a new STATS_VERSION. */
#ifndef WIRE_STATS_FIELDS_H
#define WIRE_STATS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/limits.h"

#define STATS_VERSION 5
#define STATS_QPS     (WIRE_FUNCTIONS * DXP_QPS)
#define STATS_ADDRESS 64 /* as text, with the final zero */

/* COUNT only grows while the node runs; LEVEL can fall. `protect`: enum wire_protect. Times in ns;
 * without a unit, packets. */
#define STATS_SESSION_LIST(COUNT, LEVEL) \
	LEVEL(open)                      \
	LEVEL(payload_bytes)             \
	LEVEL(protect)                   \
	COUNT(sent_packets)              \
	COUNT(sent_bytes)                \
	COUNT(received_packets)          \
	COUNT(received_bytes)            \
	COUNT(acked_packets)             \
	COUNT(abandoned_packets)         \
	COUNT(retransmitted_gap)         \
	COUNT(retransmitted_probe)       \
	COUNT(retransmitted_timeout)     \
	COUNT(retransmitted_busy)        \
	COUNT(spurious)                  \
	COUNT(timeouts)                  \
	COUNT(duplicates)                \
	COUNT(beyond_window)             \
	COUNT(out_of_order)              \
	COUNT(refused)                   \
	COUNT(no_memory)                 \
	COUNT(marked)                    \
	COUNT(acks_sent)                 \
	COUNT(acks_received)             \
	COUNT(acks_bad)                  \
	COUNT(nacks_sent)                \
	COUNT(nacks_received)            \
	COUNT(credits_sent)              \
	COUNT(credits_received)          \
	COUNT(credits_asked)             \
	LEVEL(window)                    \
	LEVEL(peer_window)               \
	LEVEL(inflight)                  \
	LEVEL(lost)                      \
	LEVEL(waiting)                   \
	LEVEL(srtt_ns)                   \
	LEVEL(min_rtt_ns)                \
	LEVEL(delay_ns)                  \
	LEVEL(min_delay_ns)              \
	LEVEL(reorder_window_ns)         \
	LEVEL(pace_bytes_per_s)

/* Counters that only grow: of the link, the RLTP endpoint, the NIC, and of answers to requests for
 * counters. */
#define STATS_LINK_LIST(X)    \
	X(sent_datagrams)     \
	X(sent_bytes)         \
	X(send_calls)         \
	X(received_datagrams) \
	X(received_bytes)     \
	X(receive_calls)      \
	X(send_again)         \
	X(send_errors)        \
	X(gso_fallbacks)      \
	X(receive_drops)      \
	X(faults)
#define STATS_ENDPOINT_LIST(X) \
	X(malformed)           \
	X(corrupt)             \
	X(not_for_us)          \
	X(unknown_session)     \
	X(unknown_peer)        \
	X(stale)               \
	X(unauthentic)         \
	X(flooded)             \
	X(seal_wrong)          \
	X(seal_replayed)       \
	X(unsealed)            \
	X(other_protection)    \
	X(resets_sent)         \
	X(resets_accepted)     \
	X(resets_refused)      \
	X(rejects_sent)        \
	X(rejects_accepted)    \
	X(rejects_refused)     \
	X(cookies_sent)        \
	X(cookies_accepted)    \
	X(cookies_refused)     \
	X(cookie_hellos)       \
	X(cookie_wrong)        \
	X(hellos_sent)         \
	X(hellos_received)
#define STATS_NIC_LIST(X)   \
	X(doorbells)        \
	X(descriptors_bad)  \
	X(magic_reject)     \
	X(key_reject)       \
	X(bounds_reject)    \
	X(rights_reject)    \
	X(type_reject)      \
	X(receiver_busy)    \
	X(key_waits)        \
	X(naps_sent)        \
	X(naps_received)    \
	X(puts_sent)        \
	X(puts_received)    \
	X(gets_sent)        \
	X(gets_received)    \
	X(atomics_sent)     \
	X(atomics_received) \
	X(cfg_sent)         \
	X(cfg_received)
/* Requests over the network (node/stats_serve.h). */
#define STATS_SERVE_LIST(X)  \
	X(stats_answered)    \
	X(stats_malformed)   \
	X(stats_unauthentic) \
	X(stats_limited)

#define STATS_SESSION_NAME(name) STATS_SESSION_##name,
#define STATS_LINK_NAME(name)    STATS_LINK_##name,
#define STATS_NIC_NAME(name)     STATS_NIC_##name,
#define STATS_SERVE_NAME(name)   STATS_SERVE_##name,
enum stats_session_field {
	STATS_SESSION_LIST(STATS_SESSION_NAME, STATS_SESSION_NAME) STATS_SESSION_FIELDS
};
enum stats_node_field {
	STATS_LINK_LIST(STATS_LINK_NAME) STATS_ENDPOINT_LIST(STATS_LINK_NAME)
		STATS_NIC_LIST(STATS_NIC_NAME) STATS_SERVE_LIST(STATS_SERVE_NAME) STATS_NODE_FIELDS
};

struct stats_session {
	/* of the peer; "": not in the node table */
	char peer[FABRIC_NAME_BYTES];
	uint16_t node;
	uint16_t active; /* 1: active; 0: idle */
	uint32_t reserved;
	uint64_t values[STATS_SESSION_FIELDS];
};

/* Counts of one queue pair. */
struct stats_qp {
	uint64_t sent_messages, sent_bytes, failed;
	uint64_t received_messages, received_bytes, refused;
	uint64_t waits_for_credit;
};

/* Identity, and values that a node has once. */
struct stats_node {
	char name[FABRIC_NAME_BYTES];
	char program[FABRIC_NAME_BYTES]; /* of the process */
	char address[STATS_ADDRESS];
	uint16_t id; /* WIRE_NODE_NONE before the first lease */
	uint8_t xpu; /* 1: xPU; 0: host */
	uint8_t reserved[5];
	uint64_t started_ns;   /* monotonic clock */
	uint64_t published_ns; /* of this snapshot */
	uint32_t session_rows; /* rows behind this struct */
	uint32_t session_count;
	uint64_t values[STATS_NODE_FIELDS];
	/* COUNT: over all sessions, also closed ones; LEVEL: over open ones, 0 for times. */
	uint64_t totals[STATS_SESSION_FIELDS];
	struct stats_qp qps[STATS_QPS];
};

/* The field is a COUNT in STATS_SESSION_LIST. */
bool stats_session_counts(enum stats_session_field field);
const char *stats_session_name(enum stats_session_field field);
const char *stats_node_name(enum stats_node_field field);

#endif
