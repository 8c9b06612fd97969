/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/traffic.h"

#include <stdlib.h>

#include "xpu/cfg.h"

/* SENT_LO, SENT_HI, RECEIVED_LO, RECEIVED_HI lie side by side. */
#define COUNTERS 4

static void read_one(struct dxp_fabric *fabric, const char *name, struct traffic *out)
{
	struct dxp_xpu *xpu;
	uint32_t words[COUNTERS];

	if (dxp_xpu_open(fabric, name, &xpu) != DXP_OK)
		return;
	if (dxp_reg_read(xpu, CFG_SENT_LO, words, COUNTERS) == DXP_OK) {
		out->out_bytes = words[0] | (uint64_t)words[1] << 32;
		out->in_bytes = words[2] | (uint64_t)words[3] << 32;
		out->known = true;
	}
	dxp_xpu_close(xpu);
}

struct traffic *traffic_read(const struct session_options *options, const struct node_entry *nodes,
			     size_t count)
{
	struct traffic *all = calloc(count + 1, sizeof(*all));
	struct dxp_fabric *fabric;

	/* Who may not join still sees the table. */
	if (!all || dxp_fabric_open(&options->fabric, &fabric) != DXP_OK)
		return all;
	for (size_t i = 0; i < count; i++) {
		if (nodes[i].kind == MANAGE_XPU && nodes[i].alive)
			read_one(fabric, nodes[i].name, &all[i]);
	}
	dxp_fabric_close(fabric);
	return all;
}
