/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources that dxp-web reads: one poll function for each source. Each publishes into the state.
 * Only its own poller thread uses its context. */
#ifndef CMD_WEB_SOURCES_H
#define CMD_WEB_SOURCES_H

#include <dxp/mmd.h>

#include "cmd/dxp/event_reader.h"
#include "cmd/web/state.h"

/* ---- nodes.c: the node table and all counters, over the network ---- */

struct web_nodes {
	const struct dxp_fabric_options *fabric;
	struct web_state *state;
	struct node_entry *rows; /* the last table */
	size_t count;
	bool manager_up;
};

void web_nodes_poll(void *context);
void web_nodes_close(struct web_nodes *n);

/* ---- bridges.c: registers of bridges; joins the fabric as a host when there is a bridge ---- */

struct bridge_view;

struct web_bridges {
	const struct dxp_fabric_options *fabric;
	struct web_state *state;
	struct dxp_fabric *joined; /* NULL: not joined yet */
	struct bridge_view *views;
	size_t count;
};

void web_bridges_poll(void *context);
void web_bridges_close(struct web_bridges *b);

/* ---- functions.c: NIC functions of this machine, by the sockets of `dxp vf` ---- */

/* `context` is the struct web_state. */
void web_functions_poll(void *context);

/* ---- grants.c: the list of grants of the manager ---- */

struct web_grants {
	const struct dxp_fabric_options *fabric;
	struct web_state *state;
};

void web_grants_poll(void *context);

/* ---- event_log.c: the event log of the manager ---- */

struct web_event_log {
	const struct dxp_fabric_options *fabric;
	struct web_state *state;
	struct event_reader reader; /* events.from 0: no event was read yet */
	unsigned misses;            /* readings that failed since the last one that did not */
};

void web_event_log_poll(void *context);

/* ---- paths.c: what the nodes measured of the paths between them ---- */

struct web_paths {
	const struct dxp_fabric_options *fabric;
	struct web_state *state;
};

void web_paths_poll(void *context);

/* ---- services.c: counters of the manager and of the switches ---- */

struct web_services {
	const struct dxp_fabric_options *fabric;
	struct web_state *state;
	const char *const *switches; /* addresses; others than IP addresses are left out */
	unsigned count;
};

void web_services_poll(void *context);

/* ---- switches.c: switches that compute, and all switches above them ---- */

struct web_switches {
	struct web_state *state;
	const char *const *addresses; /* IPv4 addresses of the switches */
	unsigned count;
};

void web_switches_poll(void *context);

#endif
