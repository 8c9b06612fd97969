/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of node table, event loop, offers and observation (docs/guide/observe.md), each with unit
 * and reason. */
#ifndef NODE_LIMITS_H
#define NODE_LIMITS_H

/* entries of a node table; ids go up to 0xfffd, but memory is reserved only for this number */
#define FABRIC_NODES_MAX 4096
/* ns; a node that is silent for longer counts as dead. The lease covers one renewal (0.75 s), 2.9 s
 * of outage, one retransmission, and 0.6 s for busy machines. */
#define FABRIC_LEASE_NS (4500ull * 1000 * 1000)

#define NODE_NEWS_NS (1000ull * 1000) /* ns between reads of the link's state */
/* polls without work before a spinning thread yields its core: about 4 us */
#define NODE_YIELD_POLLS 8
/* ns without arrival, after which the socket is polled less often */
#define NODE_QUIET_NS (1000ull * 1000)
/* ns between polls of a socket without arrivals: a poll costs 0.3 us, while local functions wait
 * only 0.1 us for each other */
#define NODE_QUIET_LOOK_NS 2000
/* ns between checks of this machine's address, which take three system calls */
#define NODE_LOOK_NS (250ull * 1000 * 1000)

/* renewals per lease: a node survives lost renewals, and 4096 nodes send only 5500 per second */
#define FABRIC_RENEWALS 6
#define FABRIC_RENEW_NS (FABRIC_LEASE_NS / FABRIC_RENEWALS)
/* ns, default limit of a join: longer than a crashed node's lease, which may still hold the name */
#define FABRIC_JOIN_NS (5000ull * 1000 * 1000)
/* ns, default limit of a request over a channel: the manager writes to disk before it answers */
#define FABRIC_REQUEST_NS (10000ull * 1000 * 1000)
/* ns; a loop that runs later than this was suspended, so the silence of other nodes in this time
 * must not count */
#define FABRIC_LATE_NS (1000ull * 1000 * 1000)

/* ns between log entries about peers that require another protection */
#define NODE_PROTECT_REPORT_NS (5000ull * 1000 * 1000)

/* memory regions per function: seven functions leave an eighth of the NIC's regions to function
 * 0 */
#define OFFER_REGIONS_MAX 512
/* bytes of registered memory per function: mapping all of them takes 128 MiB of page tables */
#define OFFER_BYTES_MAX (64ull << 30)
/* connections to the socket that opens any function: enough for all queue pairs and for status
 * queries */
#define OFFER_CLIENTS_ANY 64
/* connections to the socket of one function: one for the user of the function, and three for others
 * that try to attach. A client of this socket cannot use up the connections of other sockets. */
#define OFFER_CLIENTS_ONE 4
/* ns between polls of the offer sockets by a loop that does not sleep */
#define OFFER_LOOK_NS (1000ull * 1000)

/* peers whose path a node measures at a time; 64 fill three pages of counters */
#define PROBE_PATHS 64
/* ns between two probes of a node: 0.01 % of a core, 100 bytes a second */
#define PROBE_INTERVAL_NS (1000ull * 1000 * 1000)
#define PROBE_ROUNDS      8 /* probes of a path before another peer gets its place */
#define PROBE_BLOCKED     3 /* unanswered probes in a row that make a path blocked */
/* a path is slow if each of the last PROBE_RECENT round trips exceeds PROBE_SLOW_NS and
 * PROBE_SLOW_FACTOR times the typical one; `dxp paths` uses both bounds for the shortest one */
#define PROBE_RECENT      4
#define PROBE_SLOW_NS     (1000ull * 1000)
#define PROBE_SLOW_FACTOR 8
/* number of the last short probes of a path from which its loss is computed: one bit of a word for
 * each. PROBE_BLOCKED of them are less than 1/20. So a peer that stops for a moment does not make
 * its paths lossy. */
#define PROBE_WINDOW 64
/* PROBEs per second whose MAC is checked: 2 % of a core, at 5 us for each of the longest. So
 * forged PROBEs suppress answers only if more than this number arrive. */
#define PROBE_CHECKS_PER_S 4096
/* answers per second: 0.2 % of a core at 4 us and a system call each */
#define PROBE_REPLIES_PER_S 256
/* answers per second for which a node demands a pause of 1 s; twice as many demand 2 s, ... */
#define PROBE_REPLIES_UNPAUSED 64

/* ns between publications of counters: shorter than people need to read them */
#define STATS_INTERVAL_NS (100ull * 1000 * 1000)
/* a publication takes at most 1/100 of the time between two publications */
#define STATS_COST 100
/* answers to STATS requests per second. At 3 us and a system call each, they take 0.1 % of a core.
 * A page of 1024 sessions costs 22 us. */
#define STATS_REQUESTS_PER_S 128
/* requests that may arrive at once: enough for the counters of several readers */
#define STATS_REQUESTS_BURST 64
/* nodes from which a reader requests counters at the same time: their answers, 77 KB, fit the
 * default socket buffer */
#define STATS_QUERY_READINGS 64
/* ns without an answer after which a node counts as silent: time for 4 requests */
#define STATS_QUERY_NS       (1000ull * 1000 * 1000)
#define STATS_QUERY_WHOLE_NS (3 * STATS_QUERY_NS) /* ns for all pages of one node or service */
/* managers and switches that one query reads: a manager, and as many switches as an option of a
 * command may name */
#define SERVICE_QUERY_MAX 65
/* rows of sessions that a node publishes: 400 KiB; totals include all sessions */
#define STATS_SESSIONS_MAX 1024
#define STATS_SESSIONS_MIN 16   /* rows allocated at first; their number grows on demand */
#define STATS_PATHS_MAX    1024 /* rows of paths of a node that a reader keeps */
#define STATS_NODES_MAX    1024 /* nodes that a reader shows */
/* folders of counters per reader: root reads the folders of all users */
#define STATS_FOLDERS_MAX 256
#define STATS_PATH_BYTES  256

/* bytes: a datagram of any size fits at any position of the ring */
#define TAP_RING_BYTES_MIN (256u << 10)
#define TAP_RING_BYTES_MAX (1u << 30)
/* bytes of a ring by default: 50,000 headers, which is 20 ms of the fastest measured link */
#define TAP_RING_BYTES (16u << 20)
/* bytes kept of each datagram by default: all headers and bitmaps, and some payload */
#define TAP_SNAP_BYTES 256
/* ns between checks that the tracer still runs, because each check is a system call */
#define TAP_LOOK_NS (1000ull * 1000 * 1000)

/* Text about a manager of another release. It needs the manager's address, the manager's version,
 * and this program's version. */
#define MEMBER_OTHER_VERSION                                                                 \
	"the manager at %s has version %u of the wire format, this program has version %u; " \
	"install the same release on both machines"

/* Text about a manager that is not active. It needs the manager's address. */
#define MEMBER_STANDS_BY \
	"the manager at %s stands by for another one; name all managers: --manager A,B"

#endif
