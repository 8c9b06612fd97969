/* SPDX-License-Identifier: BSD-3-Clause */
/* Without name lookup and scope ids: a udp_address cannot hold a link-local IPv6 address with its
 * interface. */
#include "link/sockaddr.h"

#include <arpa/inet.h>
#include <string.h>

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool sockaddr_is_v4(const struct udp_address *a)
{
	return memcmp(a->ip, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

socklen_t sockaddr_from_wire(const struct udp_address *a, int family, union link_sockaddr *out)
{
	memset(out, 0, sizeof(*out));
	if (family == AF_INET) {
		if (!sockaddr_is_v4(a))
			return 0;
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons(a->port);
		memcpy(&out->v4.sin_addr, a->ip + 12, 4);
		return sizeof(out->v4);
	}
	out->v6.sin6_family = AF_INET6;
	out->v6.sin6_port = htons(a->port);
	memcpy(&out->v6.sin6_addr, a->ip, 16);
	return sizeof(out->v6);
}

void sockaddr_to_wire(const union link_sockaddr *from, struct udp_address *out)
{
	if (from->any.sa_family == AF_INET) {
		memcpy(out->ip, mapped_prefix, sizeof(mapped_prefix));
		memcpy(out->ip + 12, &from->v4.sin_addr, 4);
		out->port = ntohs(from->v4.sin_port);
	} else {
		memcpy(out->ip, &from->v6.sin6_addr, 16);
		out->port = ntohs(from->v6.sin6_port);
	}
}
