/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <dxp/status.h>

#define HOST_BYTES 256 /* host name (RFC 1035), with the final zero */

static bool parts_split(const char *text, char host[HOST_BYTES], uint16_t *port)
{
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	char *end;

	if (length == 0 || length >= HOST_BYTES ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") <
		    length)
		return false;
	snprintf(host, HOST_BYTES, "%.*s", (int)length, text);
	if (!colon)
		return true;
	unsigned long value = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || value == 0 || value > UINT16_MAX)
		return false;
	*port = (uint16_t)value;
	return true;
}

static bool bare_v6(const char *text, uint16_t port, struct udp_address *out)
{
	struct udp_address a = {.port = port};

	if (inet_pton(AF_INET6, text, a.ip) != 1)
		return false;
	*out = a;
	return true;
}

static int name_find(const char *host, uint16_t port, struct udp_address *out)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET6, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_V4MAPPED | AI_ALL};
	struct addrinfo *found = NULL, *best = NULL;
	struct sockaddr_in6 address;

	if (getaddrinfo(host, NULL, &hints, &found) != 0) {
		/* A bare system may have no /etc/hosts; RFC 6761 fixes this name. */
		if (strcasecmp(host, "localhost") == 0)
			return address_parse("127.0.0.1", port, out);
		return DXP_ENOENT;
	}
	/* IPv4 first, because managers listen on it by default, also at `localhost`. */
	for (struct addrinfo *a = found; a; a = a->ai_next) {
		memcpy(&address, a->ai_addr, sizeof(address));
		if (!best || IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
			best = a;
			if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr))
				break;
		}
	}
	if (best) {
		memcpy(&address, best->ai_addr, sizeof(address));
		memcpy(out->ip, &address.sin6_addr, sizeof(out->ip));
		out->port = port;
	}
	freeaddrinfo(found);
	return best ? DXP_OK : DXP_ENOENT;
}

int resolve_address(const char *text, uint16_t port, struct udp_address *out)
{
	char host[HOST_BYTES];

	if (address_parse(text, port, out) == DXP_OK || bare_v6(text, port, out))
		return DXP_OK;
	/* getaddrinfo would accept unusual forms, such as 127.1. */
	if (!parts_split(text, host, &port) || strspn(host, "0123456789.") == strlen(host))
		return DXP_EINVAL;
	return name_find(host, port, out);
}
