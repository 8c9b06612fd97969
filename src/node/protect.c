/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the protection of a session's packets, and logs peers that require another protection. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"

/* The manager has verified the key in the row, so the node table alone decides, and both sides see
 * the same. */
const uint8_t *protect_peer_key(void *node, uint16_t id)
{
	const struct node *n = node;
	const struct node_entry *e =
		n->member ? node_table_find(member_table(n->member), id) : NULL;

	return e && e->role != ROLE_NONE && e->capabilities & MANAGE_CAPABILITY_BOUND ? e->key
										      : NULL;
}

/* With AUTO, an operator has admitted peers outside of the node table by their addresses. */
bool protect_needs_key(void *node, uint16_t id)
{
	const struct node *n = node;

	return n->peer_keys == PEER_KEYS_REQUIRE ||
	       (n->peer_keys == PEER_KEYS_AUTO && n->keyed && id != WIRE_NODE_NONE);
}

/* Reads the option `peer_keys`, or without it DXP_PEER_KEYS. */
static int peer_keys_start(struct node *n, bool keyed)
{
	static const char *const names[] = {"auto", "require", "allow"};
	const char *text = n->options.peer_keys ? n->options.peer_keys : getenv("DXP_PEER_KEYS");
	size_t i = 0;

	while (text && *text && i < ARRAY_COUNT(names) && strcmp(text, names[i]) != 0)
		i++;
	if (i == ARRAY_COUNT(names)) {
		log_error("DXP_PEER_KEYS=%s is unknown; use auto, require or allow", text);
		return DXP_EINVAL;
	}
	n->peer_keys = (uint8_t)i;
	n->keyed = keyed;
	if (n->peer_keys == PEER_KEYS_REQUIRE && !keyed) {
		log_error("--peer-keys require: this node has no key pair; let it join with a "
			  "token (`dxp token create` at the manager)");
		return DXP_EINVAL;
	}
	return DXP_OK;
}

int protect_start(struct node *n, const uint8_t *fabric_key, const struct identity *identity)
{
	const struct seal_options options = {.fabric_key = fabric_key,
					     .entropy = rng_entropy_kernel,
					     .peer_key = protect_peer_key,
					     .needs_key = protect_needs_key,
					     .peer_context = n};
	const char *text = n->options.protect ? n->options.protect : getenv("DXP_PROTECT");

	n->protect_fixed = text && *text && strcmp(text, "auto") != 0;
	if (n->protect_fixed && !wire_protect_parse(text, &n->protect)) {
		log_error("DXP_PROTECT=%s is not a protection; use auto, none, integrity or "
			  "encrypt",
			  text);
		return DXP_EINVAL;
	}
	int status = peer_keys_start(n, identity != NULL);
	if (status == DXP_OK)
		status = seal_create(&options, &n->seal);
	if (status == DXP_OK && identity)
		status = seal_identity(n->seal, identity->private_key);
	return status;
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
	const char *peer = e ? e->name : "unknown";
	n->protect_report_ns = now_ns + NODE_PROTECT_REPORT_NS;
	if (m.reason == RLTP_PEER_UNKEYED)
		log_error("%s: refused node %u (%s), because it proves no key pair; give it this "
			  "release and let it join with a token, or start this one with "
			  "--peer-keys allow or DXP_PEER_KEYS=allow",
			  n->name, m.node, peer);
	else if (m.reason == RLTP_UNKEYED)
		log_error("%s: node %u (%s) refuses nodes that prove no key pair; let this one "
			  "join with a token, or start that one with --peer-keys allow or "
			  "DXP_PEER_KEYS=allow",
			  n->name, m.node, peer);
	else
		log_error("%s: node %u (%s) protects packets by '%s', this one by '%s'; start "
			  "both with the same --protect or DXP_PROTECT",
			  n->name, m.node, peer, wire_protect_name(m.peer),
			  wire_protect_name(m.own));
}
