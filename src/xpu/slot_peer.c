/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "xpu/slot_internal.h"

#define STUCK_AGAIN_NS (50 * MS_NS) /* ns between two resets of a node */

bool slot_lookup(const struct slot *s, uint16_t node, struct node_entry *out)
{
	const struct node_entry *entry = node_table_find(node_table(s->node), node);

	if (entry)
		*out = *entry;
	return entry != NULL;
}

int slot_peer(const struct slot *s, uint16_t node, struct node_entry *entry, struct dxp_target *out)
{
	if (!slot_lookup(s, node, entry))
		return DXP_ENOENT;
	if (!entry->alive)
		return DXP_EPEERLOST;
	if (!entry->granted)
		return DXP_EACCESS;
	if (entry->kind != MANAGE_XPU || node == node_id(s->node))
		return DXP_EINVAL;
	*out = (struct dxp_target){.node = node, .qp = NODE_SERVICE_QP, .magic = entry->magic};
	return DXP_OK;
}

void slot_peer_stuck(struct slot *s, uint16_t node)
{
	struct tenant *t = tenant_find(s, node);
	uint64_t now_ns = clock_now_ns();

	/* Each stalled step calls this. */
	if (node == s->stuck_node && now_ns < s->stuck_ns + STUCK_AGAIN_NS)
		return;
	s->stuck_node = node;
	s->stuck_ns = now_ns;
	log_warn("node %u is alive, but holds buffers of the bridge too long: its connection is "
		 "reset%s; check whether its program or its device is stopped",
		 node, t ? ", its commands are cancelled, its memory is freed" : "");
	if (t)
		s->hooks->evict(t, DXP_EPEERLOST);
	else
		outbox_drop(s->outbox, node, DXP_EPEERLOST);
	nic_peer_reset(node_nic(s->node), node, DXP_ETIMEDOUT);
}

void slot_error_note(struct slot *s, int status)
{
	if (status != DXP_OK)
		s->counters.last_error = (uint32_t)status;
}
