/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of a fabric's nodes, manager and switches over the network. The program has
 * the key but is not a node. */
#ifndef CMD_DXP_FABRIC_STATS_H
#define CMD_DXP_FABRIC_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include <dxp/mmd.h>

#include "cmd/dxp/inquiry.h"
#include "node/service_query.h"
#include "node/stats_read.h"

struct fabric_stats {
	const struct dxp_fabric_options *fabric;
	bool details;                  /* also read queue pairs and sessions */
	bool paths;                    /* read only paths */
	char text[INQUIRY_TEXT_BYTES]; /* reason of a failure */
};

/* Reads the counters of the nodes in these rows of the node table. *out gets one view for each row,
 * in the same order. The caller frees it with stats_list_free. */
int fabric_stats_read(struct fabric_stats *f, const struct node_entry *nodes, size_t count,
		      struct stats_list *out);

/* Counters of the manager, then those of the switches, then those of further switches above and
 * below them. */
struct fabric_services {
	struct service_view *views;
	size_t count;
};

/* Reads the counters of the active manager and of these switches ("IP" or "IP:PORT", at most
 * SERVICE_QUERY_MAX - 1). `missing` of a view is set if it gave none. The caller frees *out with
 * fabric_services_free. */
int fabric_services_read(struct fabric_stats *f, const char *const *switches, size_t count,
			 struct fabric_services *out);
void fabric_services_free(struct fabric_services *s);

/* Reads the node table, then the counters of all its nodes. */
int fabric_stats_all(struct fabric_stats *f, struct stats_list *out);

#endif
