/* SPDX-License-Identifier: BSD-3-Clause */
/* One reading of the whole fabric: the node table, the counters of all nodes, and the rates since
 * the previous reading. Immutable, with a reference count. */
#ifndef CMD_WEB_SNAPSHOT_H
#define CMD_WEB_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "node/stats_read.h"
#include "wire/manage.h"

enum web_health {
	WEB_ALIVE,
	WEB_SILENT,     /* holds a lease, but did not answer */
	WEB_DEAD,       /* its lease has expired */
	WEB_UNOBSERVED, /* answers, but does not report the counters of this version */
	WEB_HEALTHS
};

struct web_rates {
	double received_bytes, sent_bytes;     /* per second, all bytes on the socket */
	double received_packets, sent_packets; /* per second: datagrams */
	double first_packets;                  /* per second: first transmissions of data */
	double repeats_percent; /* percent of first_packets that were retransmitted */
	double drops;           /* datagrams per second that did not fit into the receive buffer */
};

struct web_node {
	struct node_entry entry;
	enum web_health health;
	bool rated; /* `rates` covers the interval since the previous reading */
	struct web_rates rates;
	const struct stats_view *view; /* entry of `stats` */
};

struct web_snapshot {
	_Atomic unsigned references;
	uint64_t sequence;
	uint64_t time_ms; /* since 1970 */
	uint64_t poll_ns; /* time that the reading took */
	bool manager_up;  /* false: the node table is from an earlier reading */
	char manager_text[256];
	struct web_node *nodes; /* sorted by id */
	size_t count;
	struct stats_list stats; /* one view for each node, in the order of `nodes` */
	size_t healths[WEB_HEALTHS];
	size_t xpus;
	struct web_rates rates; /* sums over all nodes; repeats_percent is computed from the sums */
};

/* Creates a snapshot with one reference. Copies the rows, and takes over *stats, which has one view
 * for each row. `previous` may be NULL. Returns NULL if out of memory. */
struct web_snapshot *web_snapshot_create(const struct node_entry *rows, size_t count,
					 struct stats_list *stats,
					 const struct web_snapshot *previous);

/* Returns `s`. Both accept NULL. */
struct web_snapshot *web_snapshot_hold(struct web_snapshot *s);
void web_snapshot_release(struct web_snapshot *s);

/* Returns the node with this name, or NULL. */
const struct web_node *web_snapshot_find(const struct web_snapshot *s, const char *name);

/* Returns the node with this id, or NULL. `s` may be NULL. */
const struct web_node *web_snapshot_id(const struct web_snapshot *s, uint16_t id);

const char *web_health_name(enum web_health health);

#endif
