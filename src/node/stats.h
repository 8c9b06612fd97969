/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters that a node publishes in a shared memory file, for `dxp top` and other readers.
 * docs/guide/observe.md describes the file.
 *
 * It is a header page, then rows of sessions. `sequence` makes snapshots consistent (a seqlock; the
 * writer never waits): it is odd during a write, and a reader that finds it odd or changed reads
 * again. The writer locks the file (F_OFD_SETLK) until it exits. A file without lock is stale, even
 * if its process id is used again. */
#ifndef NODE_STATS_H
#define NODE_STATS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nic/limits.h"
#include "wire/limits.h"

#define STATS_MAGIC        0x3153544154505844ull /* "DXPTATS1" in memory */
#define STATS_VERSION      2
#define STATS_HEADER_BYTES 8192
#define STATS_QPS          (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)
#define STATS_ADDRESS      64

/* Values of a session, 64 bits each. COUNT only grows while the node runs; LEVEL can also fall.
 * Times in ns; other values in packets unless named bytes. */
#define STATS_SESSION_LIST(COUNT, LEVEL) \
	LEVEL(open)                      \
	LEVEL(payload_bytes)             \
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

/* Values of a node, all COUNT: of its link, RLTP endpoint and NIC. */
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
	X(resets_sent)         \
	X(resets_accepted)     \
	X(resets_refused)      \
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

#define STATS_SESSION_NAME(name) STATS_SESSION_##name,
#define STATS_LINK_NAME(name)    STATS_LINK_##name,
#define STATS_NIC_NAME(name)     STATS_NIC_##name,
enum stats_session_field {
	STATS_SESSION_LIST(STATS_SESSION_NAME, STATS_SESSION_NAME) STATS_SESSION_FIELDS
};
enum stats_node_field {
	STATS_LINK_LIST(STATS_LINK_NAME) STATS_ENDPOINT_LIST(STATS_LINK_NAME)
		STATS_NIC_LIST(STATS_NIC_NAME) STATS_NODE_FIELDS
};

struct stats_session {
	char peer[FABRIC_NAME_BYTES]; /* "" if not in the node table */
	uint16_t node;
	uint16_t active; /* 0: idle session */
	uint32_t reserved;
	uint64_t values[STATS_SESSION_FIELDS];
};

/* Counts of one queue pair. */
struct stats_qp {
	uint64_t sent_messages, sent_bytes, failed;
	uint64_t received_messages, received_bytes, refused;
	uint64_t waits_for_credit;
};

/* Identity and single values of a node. */
struct stats_node {
	char name[FABRIC_NAME_BYTES];
	char program[FABRIC_NAME_BYTES]; /* name of the process */
	char address[STATS_ADDRESS];
	uint16_t id; /* WIRE_NODE_NONE before a lease */
	uint8_t xpu; /* 0: host */
	uint8_t reserved[5];
	uint64_t started_ns;   /* monotonic clock, like published_ns */
	uint64_t published_ns; /* time of this snapshot */
	uint32_t session_rows; /* rows after the header */
	uint32_t session_count;
	uint64_t values[STATS_NODE_FIELDS];
	/* COUNT: total of all sessions, also of past ones. LEVEL: sum; 0 for times. */
	uint64_t totals[STATS_SESSION_FIELDS];
	struct stats_qp qps[STATS_QPS];
};

struct stats_file {
	/* written once */
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes, session_bytes, session_fields, node_fields, qps;
	uint32_t pid;
	uint32_t reserved;
	/* A tracer increments `tap_wanted` when it attaches or stops. The node then looks for a
	 * ring beside the file and copies the number to tap_seen. */
	alignas(64) _Atomic uint32_t tap_wanted;
	alignas(64) _Atomic uint32_t tap_seen;
	alignas(64) _Atomic uint32_t sequence;
	alignas(64) struct stats_node node;
};

_Static_assert(sizeof(struct stats_file) <= STATS_HEADER_BYTES, "the header page is too short");
_Static_assert(sizeof(struct stats_node) % 8 == 0 && sizeof(struct stats_session) % 8 == 0,
	       "no holes: other programs read this");

static inline uint64_t stats_file_bytes(uint32_t rows)
{
	return STATS_HEADER_BYTES + (uint64_t)rows * sizeof(struct stats_session);
}

/* Returns true if the field only grows. */
bool stats_session_counts(enum stats_session_field field);
const char *stats_session_name(enum stats_session_field field);
const char *stats_node_name(enum stats_node_field field);

/* Functions of the writer. */
struct stats;

struct stats_options {
	const char *name; /* name of the node */
	bool xpu;
};

/* Creates and locks the file. DXP_EUNSUPPORTED: DXP_STATS is empty; DXP_EIO, DXP_ENOMEM: logged at
 * level info, because a node works without it. */
int stats_open(const struct stats_options *options, struct stats **out);

/* Removes the file. Accepts NULL. */
void stats_close(struct stats *s);

/* Write one snapshot. stats_begin returns the node's part with its previous values; stats_row the
 * next row, or NULL without space. */
struct stats_node *stats_begin(struct stats *s);
struct stats_session *stats_row(struct stats *s);
void stats_commit(struct stats *s);

/* For the tap: mapped header, and location of the ring. */
struct stats_file *stats_map(struct stats *s);
int stats_folder(const struct stats *s);
const char *stats_tap_name(const struct stats *s);

#endif
