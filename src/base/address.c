/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/bytes.h"

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct udp_address address_v4(uint32_t ip, uint16_t port)
{
	struct udp_address a = {.port = port};

	memcpy(a.ip, mapped_prefix, sizeof(mapped_prefix));
	put_be32(a.ip + sizeof(mapped_prefix), ip);
	return a;
}

const char *address_unreachable(const struct udp_address *a)
{
	static const uint8_t none[16];
	const uint8_t *ip = a->ip;

	if (address_ipv4(a)) {
		if (ip[12] == 0)
			return "no address of a machine";
		if (ip[12] >= 224)
			return ip[12] >= 240 ? "a reserved address" : "a multicast address";
		return NULL;
	}
	if (memcmp(ip, none, sizeof(none)) == 0)
		return "no address of a machine";
	if (ip[0] == 0xff)
		return "a multicast address";
	return address_link_local(a) ? "a link-local address" : NULL;
}

const char *address_format(const struct udp_address *a, char out[UDP_ADDRESS_TEXT_BYTES])
{
	char ip[INET6_ADDRSTRLEN];

	if (address_ipv4(a)) {
		inet_ntop(AF_INET, a->ip + 12, ip, sizeof(ip));
		snprintf(out, UDP_ADDRESS_TEXT_BYTES, "%s:%u", ip, a->port);
	} else {
		inet_ntop(AF_INET6, a->ip, ip, sizeof(ip));
		snprintf(out, UDP_ADDRESS_TEXT_BYTES, "[%s]:%u", ip, a->port);
	}
	return out;
}

/* Parses ":port"; empty text is `fallback`. */
static int port_parse(const char *text, uint16_t fallback, uint16_t *port)
{
	char *end;

	if (*text == '\0') {
		*port = fallback;
		return DXP_OK;
	}
	if (text[0] != ':' || text[1] < '0' || text[1] > '9')
		return DXP_EINVAL;
	unsigned long value = strtoul(text + 1, &end, 10);
	if (*end != '\0' || value > 65535)
		return DXP_EINVAL;
	*port = (uint16_t)value;
	return DXP_OK;
}

int address_parse(const char *text, uint16_t port, struct udp_address *a)
{
	struct udp_address parsed = {0};
	char host[INET6_ADDRSTRLEN + 1];
	bool v6 = text[0] == '[';
	size_t length = strcspn(text + v6, v6 ? "]" : ":");

	if (length >= sizeof(host))
		return DXP_EINVAL;
	memcpy(host, text + v6, length);
	host[length] = '\0';
	const char *rest = text + v6 + length;
	if (v6) {
		if (*rest != ']' || inet_pton(AF_INET6, host, parsed.ip) != 1)
			return DXP_EINVAL;
		rest++;
	} else {
		memcpy(parsed.ip, mapped_prefix, 12);
		if (inet_pton(AF_INET, host, parsed.ip + 12) != 1)
			return DXP_EINVAL;
	}
	int status = port_parse(rest, port, &parsed.port);
	if (status != DXP_OK)
		return status;
	*a = parsed;
	return DXP_OK;
}
