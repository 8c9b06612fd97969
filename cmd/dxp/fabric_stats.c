/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/fabric_stats.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/config.h"
#include "node/stats_query.h"

static void exchange(struct stats_query *q, struct link *l)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	struct datagram out[DATAGRAM_BATCH];

	for (;;) {
		/* If the kernel does not accept a datagram, its request is retransmitted like a
		 * lost one. */
		size_t due = stats_query_send(q, out, DATAGRAM_BATCH, clock_now_ns());
		if (due)
			link_send(l, out, due);
		if (stats_query_done(q))
			return;
		link_wait(l, stats_query_deadline(q));
		size_t count = link_receive(l, arrivals, DATAGRAM_BATCH);
		for (size_t i = 0; i < count; i++)
			stats_query_receive(q, arrivals[i].data, arrivals[i].bytes, clock_now_ns());
	}
}

static int fail(struct fabric_stats *f, int status, const char *text)
{
	snprintf(f->text, sizeof(f->text), "%s", text);
	return status;
}

static int link_begin(struct fabric_stats *f, struct config *config, struct link **out)
{
	char text[sizeof(f->text)];
	int status = config_resolve(f->fabric, config);

	if (status != DXP_OK)
		return fail(f, status, dxp_fabric_error(NULL));
	const struct link_options where = {.bind = config->bind};
	log_divert(text, sizeof(text));
	status = link_open(&where, out);
	log_divert(NULL, 0);
	return status == DXP_OK ? DXP_OK
				: fail(f, status, text[0] ? text : "cannot open a UDP socket");
}

int fabric_stats_read(struct fabric_stats *f, const struct node_entry *nodes, size_t count,
		      struct stats_list *out)
{
	struct stats_query_options options = {.nodes = nodes,
					      .count = count,
					      .details = f->details,
					      .entropy = rng_entropy_kernel};
	struct stats_query *query;
	struct config config;
	struct link *link;
	int status = link_begin(f, &config, &link);

	if (status != DXP_OK)
		return status;
	memcpy(options.key, config.key, sizeof(options.key));
	status = stats_query_create(&options, clock_now_ns(), &query);
	if (status == DXP_OK) {
		exchange(query, link);
		stats_query_finish(query, out);
		stats_query_destroy(query);
	} else {
		fail(f, status, dxp_status_text(status));
	}
	link_close(link);
	return status;
}

int fabric_stats_all(struct fabric_stats *f, struct stats_list *out)
{
	struct inquiry table = {.fabric = f->fabric, .kind = QUERY_NODES};
	const struct node_entry *nodes;
	struct query *q;
	int status = inquiry_run(&table, &q);

	if (status != DXP_OK)
		return fail(f, status, table.text);
	size_t count = query_nodes(q, &nodes);
	status = fabric_stats_read(f, nodes, count, out);
	query_destroy(q);
	return status;
}
