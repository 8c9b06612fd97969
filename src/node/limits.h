/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of node table, event loop, offers and observation (docs/guide/observe.md), each with unit
 * and reason. */
#ifndef NODE_LIMITS_H
#define NODE_LIMITS_H

/* entries of a node table; ids go up to 0xfffd, but memory is reserved for this number only */
#define FABRIC_NODES_MAX 4096
/* ns; a node silent for longer is dead: one renewal, 2.9 s of outage, one retransmission, 0.6 s for
 * busy machines */
#define FABRIC_LEASE_NS (4500ull * 1000 * 1000)

#define NODE_NEWS_NS     (1000ull * 1000) /* ns between reads of the link's state */
#define NODE_YIELD_POLLS 8 /* empty polls before a spinning thread yields: about 4 us */
/* ns without arrival after which the socket is polled less often */
#define NODE_QUIET_NS (1000ull * 1000)
/* ns between those polls: a poll costs 0.3 us, while local functions wait only 0.1 us for each
 * other */
#define NODE_QUIET_LOOK_NS 2000
/* ns between checks of this machine's address, which take three system calls */
#define NODE_LOOK_NS (250ull * 1000 * 1000)

#define FABRIC_RENEWALS 6 /* renewals per lease: 4096 nodes send 5500 per second */
#define FABRIC_RENEW_NS (FABRIC_LEASE_NS / FABRIC_RENEWALS)
/* ns, default bound of a join: longer than a crashed node's lease */
#define FABRIC_JOIN_NS (5000ull * 1000 * 1000)
/* ns, default bound of a request over a channel: the manager writes to disk before it answers */
#define FABRIC_REQUEST_NS (10000ull * 1000 * 1000)
/* ns; a loop later than this was suspended, so it must not count as silence of other nodes */
#define FABRIC_LATE_NS (1000ull * 1000 * 1000)

/* ns between log entries about peers that require another protection */
#define NODE_PROTECT_REPORT_NS (5000ull * 1000 * 1000)

/* regions per function: seven functions leave an eighth of the NIC's regions to function 0 */
#define OFFER_REGIONS_MAX 512
/* bytes mapped per function: 128 MiB of page tables when all are used */
#define OFFER_BYTES_MAX (64ull << 30)
/* connections to the socket for any function: all queue pairs and status queries */
#define OFFER_CLIENTS_ANY 64
/* connections to the socket of one function: one for its user, and three for others that try to
 * attach. A client of this socket cannot use up the connections of other sockets. */
#define OFFER_CLIENTS_ONE 4
/* ns between polls of the sockets by a loop that does not sleep */
#define OFFER_LOOK_NS (1000ull * 1000)

/* peers whose path a node measures at a time; 64 fill three pages of counters */
#define PROBE_PATHS 64
/* ns between two probes of a node: 0.01 % of a core, 100 bytes a second */
#define PROBE_INTERVAL_NS (1000ull * 1000 * 1000)
#define PROBE_ROUNDS      8 /* probes of a path before another peer gets its place */
#define PROBE_BLOCKED     3 /* probes in a row without answer: the path is blocked */
/* answers per second: 0.2 % of a core at 4 us and a system call each */
#define PROBE_REPLIES_PER_S 256
/* answers per second above which a node demands pauses, of a second for each such number */
#define PROBE_REPLIES_UNPAUSED 64

/* ns between publications: shorter than people need to read */
#define STATS_INTERVAL_NS (100ull * 1000 * 1000)
#define STATS_COST        100 /* a publication takes at most 1/100 of the interval */
/* answers to STATS requests per second: 0.1 % of a core at 3 us and a system call each; a page of
 * 1024 sessions costs 22 us */
#define STATS_REQUESTS_PER_S 128
#define STATS_REQUESTS_BURST 64 /* requests at once: the counters of several readers */
/* nodes that a reader requests counters from at a time: their answers, 77 KB, fit the default
 * socket buffer */
#define STATS_QUERY_SLOTS    64
#define STATS_QUERY_NS       (1000ull * 1000 * 1000) /* ns without an answer: 4 requests */
#define STATS_QUERY_WHOLE_NS (3 * STATS_QUERY_NS)    /* ns for all pages of a node */
/* managers and switches that one query reads: a manager, and as many switches as an option of a
 * command may name */
#define SERVICE_QUERY_MAX 65
/* rows of sessions per node: 400 KiB; totals include all sessions */
#define STATS_SESSIONS_MAX 1024
#define STATS_SESSIONS_MIN 16   /* rows allocated at first; their number grows on demand */
#define STATS_PATHS_MAX    1024 /* rows of paths of a node that a reader keeps */
#define STATS_NODES_MAX    1024 /* nodes that a reader shows */
#define STATS_FOLDERS_MAX  256  /* folders per reader: root reads those of all users */
#define STATS_PATH_BYTES   256

#define TAP_RING_BYTES_MIN (256u << 10) /* fits any datagram at any position */
#define TAP_RING_BYTES_MAX (1u << 30)
/* default, bytes: 50,000 headers, 20 ms of the fastest measured link */
#define TAP_RING_BYTES (16u << 20)
#define TAP_SNAP_BYTES 256 /* default, bytes: all headers and bitmaps, and some payload */
/* ns between checks that the tracer runs, because each is a system call */
#define TAP_LOOK_NS (1000ull * 1000 * 1000)

/* Text about a manager of another release: its address, its version, this one's. */
#define MEMBER_OTHER_VERSION                                                                 \
	"the manager at %s has version %u of the wire format, this program has version %u; " \
	"install the same release on both machines"

#endif
