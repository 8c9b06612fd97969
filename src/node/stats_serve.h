/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers STATS requests from the network with the counters that the node publishes (node/stats.h).
 * A request costs the node's thread at most one page. Requests above STATS_REQUESTS_PER_S are
 * dropped before their authentication code is checked, so a flood of them does not slow the data
 * path. */
#ifndef NODE_STATS_SERVE_H
#define NODE_STATS_SERVE_H

#include "link/udp.h"
#include "node/probe.h"
#include "node/stats.h"
#include "wire/stats.h"

#define STATS_SERVE_COUNTER(name) uint64_t name;
struct stats_serve_counters {
	STATS_SERVE_LIST(STATS_SERVE_COUNTER)
};
#undef STATS_SERVE_COUNTER

struct stats_serve {
	struct stats_serve_counters counters;
	uint64_t credit_ns; /* unused time in ns; each request costs an equal share of a second */
	uint64_t credit_at_ns;
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
};

struct stats_served {
	const struct stats_file *file; /* NULL: the node publishes no counters */
	const struct probe *probe;     /* paths of the node; NULL: it measures none */
	struct mac *mac;
	uint16_t node; /* id of this node */
};

/* Handles one frame of type WIRE_STATS. Returns 1 and sets *out, which is valid until the next
 * call. Returns 0 if there is no answer. */
size_t stats_serve_receive(struct stats_serve *s, const struct stats_served *served,
			   const struct datagram_arrival *a, struct datagram *out, uint64_t now_ns);

#endif
