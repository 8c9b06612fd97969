/* SPDX-License-Identifier: BSD-3-Clause */
#include "inc/where.h"

#include <ctype.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "link/udp.h"

#define HOW                                                                                \
	"configure the switch next to this host, for example DXP_INC_SWITCH=10.0.0.1, or " \
	"\"switch = 10.0.0.1\" in " INC_WHERE_FILE

static uint32_t ip_of(const struct udp_address *a)
{
	return (uint32_t)a->ip[12] << 24 | (uint32_t)a->ip[13] << 16 | (uint32_t)a->ip[14] << 8 |
	       a->ip[15];
}

static bool ip_parse(const char *text, uint32_t *out)
{
	struct udp_address a;

	if (strchr(text, ':') || address_parse(text, 0, &a) != DXP_OK)
		return false;
	*out = ip_of(&a);
	return true;
}

/* Reads the value of the last line "switch = TEXT" of the file. Returns false if there is none. */
static bool file_read(char text[INC_WHERE_BYTES])
{
	FILE *f = descriptor_fopen(INC_WHERE_FILE, "re");
	char line[INC_WHERE_BYTES];
	bool found = false;

	while (f && fgets(line, sizeof(line), f)) {
		char *at = line + strspn(line, " \t"), *end;
		at[strcspn(at, "#\r\n")] = '\0';
		if (strncmp(at, "switch", 6) != 0)
			continue;
		at += 6;
		at += strspn(at, " \t=");
		for (end = at + strlen(at); end > at && isspace((unsigned char)end[-1]);)
			*--end = '\0';
		found = *at != '\0';
		snprintf(text, INC_WHERE_BYTES, "%s", at);
	}
	if (f)
		fclose(f);
	return found;
}

/* Returns true if this host has an address in the network of `network` and `bits`. */
static bool inside(uint32_t network, unsigned bits)
{
	uint32_t mask = bits ? UINT32_MAX << (32 - bits) : 0;
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (const struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		struct sockaddr_in v4;
		if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET)
			continue;
		memcpy(&v4, a->ifa_addr, sizeof(v4));
		found = ((ntohl(v4.sin_addr.s_addr) ^ network) & mask) == 0;
	}
	freeifaddrs(all);
	return found;
}

/* Parses an entry such as "10.0.0.0/24=10.0.0.1". DXP_OK: this host has an address in the entry's
 * network. DXP_ENOENT: it has none. DXP_EINVAL: the entry does not parse. */
static int entry_parse(char *entry, uint32_t *switch_ip)
{
	char *slash = strchr(entry, '/'), *equals = strchr(entry, '='), *end;
	uint32_t network, ip;

	if (!slash || !equals || equals < slash)
		return DXP_EINVAL;
	*slash = *equals = '\0';
	unsigned long bits = strtoul(slash + 1, &end, 10);
	if (!isdigit((unsigned char)slash[1]) || *end || bits > 32 || !ip_parse(entry, &network) ||
	    !ip_parse(equals + 1, &ip))
		return DXP_EINVAL;
	if (!inside(network, (unsigned)bits))
		return DXP_ENOENT;
	*switch_ip = ip;
	return DXP_OK;
}

static int text_parse(const char *text, uint32_t *switch_ip)
{
	char copy[INC_WHERE_BYTES], *rest;
	int status = DXP_ENOENT;

	if (ip_parse(text, switch_ip))
		return DXP_OK;
	if (strlen(text) >= sizeof(copy))
		return DXP_EINVAL;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *entry = strtok_r(copy, ", \t", &rest); entry && status == DXP_ENOENT;
	     entry = strtok_r(NULL, ", \t", &rest))
		status = entry_parse(entry, switch_ip);
	return status;
}

int inc_switch_find(const char *switches, bool loud, uint32_t *switch_ip, uint32_t *own_ip)
{
	char file[INC_WHERE_BYTES];
	const char *text = switches && *switches ? switches : getenv("DXP_INC_SWITCH");
	struct udp_address own, to;
	uint32_t ip;

	if (!text || !*text)
		text = file_read(file) ? file : NULL;
	int status = text ? text_parse(text, &ip) : DXP_ENOENT;
	if (status == DXP_EINVAL && loud)
		log_error("'%s' is neither an IPv4 address nor a list of NETWORK/BITS=SWITCH",
			  text);
	else if (status == DXP_ENOENT && text && loud)
		log_error("this host is in no network of '%s'", text);
	else if (status == DXP_ENOENT && loud)
		log_error("no switch is configured; " HOW);
	if (status != DXP_OK)
		return status;
	to = address_v4(ip, 0);
	if (!link_address_now(&to, &own)) {
		if (loud)
			log_error("no route to the switch %s; see \"ip route\"", text);
		return DXP_ENOENT;
	}
	*switch_ip = ip;
	*own_ip = ip_of(&own);
	return DXP_OK;
}
