/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the NICs of xPUs have moved from their registers. */
#ifndef CMD_DXP_TRAFFIC_H
#define CMD_DXP_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/dxp/session.h"
#include "wire/manage.h"

struct traffic {
	bool known;
	uint64_t in_bytes, out_bytes;
};

/* Returns one entry for each node; the caller frees the array. `known` is false for hosts, dead
 * nodes and nodes that this host may not use. NULL: no memory. */
struct traffic *traffic_read(const struct session_options *options, const struct node_entry *nodes,
			     size_t count);

#endif
