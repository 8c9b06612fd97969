/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy for peers outside of the node table: it admits the addresses that the options list. */
#include "base/log.h"
#include "node/internal.h"

static bool admits(void *node, const struct udp_address *at)
{
	const struct node *n = node;

	for (uint32_t i = 0; i < n->options.outside.count; i++)
		if (address_within(at, &n->options.outside.prefixes[i]))
			return true;
	return false;
}

static uint16_t payload_bytes(void *node, const struct udp_address *at)
{
	return peers_payload(node, at);
}

static void added(void *node, const struct udp_address *at)
{
	char text[UDP_ADDRESS_TEXT_BYTES];

	log_info("%s is a peer now, outside of the node table", address_format(at, text));
}

void outside_start(struct node *n)
{
	const struct nic_outside policy = {admits, payload_bytes, added, n};

	if (n->options.outside.count > 0)
		nic_outside_set(n->nic, &policy);
}
