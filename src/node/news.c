/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles changes of this machine's network. If the machine gets a new address (DHCP, another
 * cable), the node binds to it and sends the manager an authenticated RENEW. The manager informs
 * the other nodes, whose sessions continue at the new address. No request is lost. */
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"

static void address_follow(struct node *n, uint64_t now_ns)
{
	struct udp_address own, bound;
	char text[UDP_ADDRESS_TEXT_BYTES];

	if (!n->options.follow_address || now_ns < n->look_ns)
		return;
	n->look_ns = now_ns + NODE_LOOK_NS;
	link_address(n->link, &bound);
	if (!link_address_now(&n->options.manager, &own) ||
	    memcmp(own.ip, bound.ip, sizeof(own.ip)) == 0 || link_move(n->link, &own) != DXP_OK)
		return;
	rltp_endpoint_moved(nic_endpoint(n->nic), now_ns);
	link_address(n->link, &bound);
	log_write(LOG_LEVEL_WARN,
		  "%s: the address of this machine has changed; the node is now at %s", n->name,
		  address_format(&bound, text));
	member_moved(n->member, now_ns);
}

void news_link(struct node *n, uint64_t now_ns)
{
	struct udp_address at;
	size_t bytes;

	n->news_ns = now_ns + NODE_NEWS_NS;
	rltp_endpoint_level(nic_endpoint(n->nic), (uint8_t)link_receive_level(n->link));
	if (link_too_big(n->link, &at, &bytes))
		peers_narrow(n, &at);
	address_follow(n, now_ns);
	if (n->member)
		rotation_look(&n->rotation, n->member, n->name, now_ns);
}
