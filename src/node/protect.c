/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the protection of a session's packets, and logs peers that require another protection. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"

int protect_start(struct node *n, const uint8_t *fabric_key)
{
	const struct seal_options options = {.fabric_key = fabric_key,
					     .entropy = rng_entropy_kernel};
	const char *text = n->options.protect ? n->options.protect : getenv("DXP_PROTECT");

	n->protect_fixed = text && *text && strcmp(text, "auto") != 0;
	if (n->protect_fixed && !wire_protect_parse(text, &n->protect)) {
		log_error("DXP_PROTECT=%s is not a protection; use auto, none, integrity or "
			  "encrypt",
			  text);
		return DXP_EINVAL;
	}
	return seal_create(&options, &n->seal);
}

uint8_t protect_mode(void *node, const struct udp_address *peer)
{
	const struct node *n = node;

	if (n->protect_fixed)
		return n->protect;
	return machine_at(n, peer) ? WIRE_PROTECT_NONE : WIRE_PROTECT_ENCRYPT;
}

void protect_report(struct node *n, uint64_t now_ns)
{
	struct rltp_mismatch m;

	if (!rltp_endpoint_mismatch(nic_endpoint(n->nic), &m) || now_ns < n->protect_report_ns)
		return;
	const struct node_entry *e =
		n->member ? node_table_find(member_table(n->member), m.node) : NULL;
	n->protect_report_ns = now_ns + NODE_PROTECT_REPORT_NS;
	log_error("%s: node %u (%s) protects packets by '%s', this one by '%s'; start both with "
		  "the same --protect or DXP_PROTECT",
		  n->name, m.node, e ? e->name : "unknown", wire_protect_name(m.peer),
		  wire_protect_name(m.own));
}
