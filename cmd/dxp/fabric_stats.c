/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/fabric_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/config.h"
#include "node/limits.h"
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
					      .paths = f->paths,
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

static void services_exchange(struct service_query *q, struct link *l)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	struct datagram out[DATAGRAM_BATCH];

	for (;;) {
		size_t due = service_query_send(q, out, DATAGRAM_BATCH, clock_now_ns());
		if (due)
			link_send(l, out, due);
		if (service_query_done(q))
			return;
		link_wait(l, service_query_deadline(q));
		size_t count = link_receive(l, arrivals, DATAGRAM_BATCH);
		for (size_t i = 0; i < count; i++)
			service_query_receive(q, arrivals[i].data, arrivals[i].bytes,
					      clock_now_ns());
	}
}

static int services_query(struct fabric_stats *f, struct service_query_options *options,
			  const struct config *config, struct link *link,
			  struct fabric_services *out)
{
	struct service_query *query;

	memcpy(options->key, config->key, sizeof(options->key));
	options->identity = config->keyed ? &config->identity : NULL;
	options->entropy = rng_entropy_kernel;
	options->follow = true;
	int status = service_query_create(options, clock_now_ns(), &query);
	if (status != DXP_OK)
		return fail(f, status, dxp_status_text(status));
	services_exchange(query, link);
	const size_t bytes = service_query_count(query) * sizeof(*out->views);
	out->views = malloc(bytes);
	out->count = out->views ? service_query_count(query) : 0;
	if (out->views)
		memcpy(out->views, service_query_views(query), bytes);
	service_query_destroy(query);
	return out->views ? DXP_OK : fail(f, DXP_ENOMEM, dxp_status_text(DXP_ENOMEM));
}

/* Parses the addresses of the switches; an address that is given twice counts once. Returns their
 * number; -1: an address does not parse. */
static int switches_parse(struct fabric_stats *f, const char *const *switches, size_t count,
			  struct service_target *out)
{
	int found = 0;

	for (size_t i = 0; i < count; i++) {
		struct service_target *target = &out[found];
		target->role = STATS_ROLE_SWITCH;
		if (address_parse(switches[i], WIRE_SWITCH_PORT, &target->address) != DXP_OK) {
			snprintf(f->text, sizeof(f->text),
				 "'%.64s' is not the address of a switch; use an IP address such "
				 "as 10.0.0.1",
				 switches[i]);
			return -1;
		}
		int k = 0;
		while (!address_equal(&out[k].address, &target->address))
			k++;
		found += k == found;
	}
	return found;
}

/* Returns the address of the active manager: the only one, or the one that answers a short
 * request, else the first. */
static struct udp_address manager_find(const struct fabric_stats *f, const struct config *config)
{
	struct inquiry q = {.fabric = f->fabric,
			    .kind = QUERY_EVENTS,
			    .events.from = EVENT_SEQUENCE_MAX,
			    .timeout_ns = STATS_QUERY_NS};
	struct query *a;

	if (config->other_managers.count == 0 || inquiry_run(&q, &a) != DXP_OK)
		return config->manager;
	const struct udp_address found = query_manager(a);
	query_destroy(a);
	return found;
}

int fabric_services_read(struct fabric_stats *f, const char *const *switches, size_t count,
			 struct fabric_services *out)
{
	struct service_target targets[SERVICE_QUERY_MAX];
	struct service_query_options options = {.targets = targets};
	struct config config;
	struct link *link;

	if (count >= SERVICE_QUERY_MAX)
		return fail(f, DXP_EINVAL, "--switch names too many switches");
	const int found = switches_parse(f, switches, count, targets + 1);
	if (found < 0)
		return DXP_EINVAL;
	options.count = (size_t)found + 1;
	int status = link_begin(f, &config, &link);
	if (status != DXP_OK)
		return status;
	targets[0] = (struct service_target){manager_find(f, &config), STATS_ROLE_MANAGER};
	status = services_query(f, &options, &config, link, out);
	link_close(link);
	return status;
}

void fabric_services_free(struct fabric_services *s)
{
	free(s->views);
	*s = (struct fabric_services){0};
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
