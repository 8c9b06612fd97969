/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the network interface on the route to a node: the kernel merges and splits datagrams (GRO,
 * GSO) only if the interface permits it. */
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cmd/dxp/checks.h"
#include "link/udp.h"

static bool address_is(const struct sockaddr *s, const struct udp_address *own)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (s && s->sa_family == AF_INET) {
		memcpy(&v4, s, sizeof(v4));
		struct udp_address a = address_v4(ntohl(v4.sin_addr.s_addr), own->port);
		return address_equal(&a, own);
	}
	if (!s || s->sa_family != AF_INET6)
		return false;
	memcpy(&v6, s, sizeof(v6));
	return memcmp(&v6.sin6_addr, own->ip, sizeof(own->ip)) == 0;
}

static bool interface_find(const struct udp_address *own, char out[IFNAMSIZ])
{
	struct ifaddrs *all, *i;

	if (getifaddrs(&all) != 0)
		return false;
	for (i = all; i && !address_is(i->ifa_addr, own); i = i->ifa_next)
		continue;
	if (i)
		snprintf(out, IFNAMSIZ, "%s", i->ifa_name);
	freeifaddrs(all);
	return i != NULL;
}

/* Returns 1 if the feature is on, 0 if it is off, and -1 if unknown. */
static int feature_read(const char *interface, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq request = {.ifr_data = (char *)&value};
	int fd = descriptor_raise(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	int result = -1;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0)
		result = value.data != 0;
	if (fd >= 0)
		close(fd);
	return result;
}

void check_interface(struct check *c, const struct udp_address *to)
{
	static const char *const texts[] = {"unknown", "off", "on"};
	struct udp_address own;
	char interface[IFNAMSIZ], next[64];

	if (!link_address_now(to, &own) || !interface_find(&own, interface)) {
		check_set(c, CHECK_WARN, "interface", "see `ip route`",
			  "no interface has the own address on the route to the node");
		return;
	}
	const int gro = feature_read(interface, ETHTOOL_GGRO);
	const int gso = feature_read(interface, ETHTOOL_GGSO);
	const bool slow = gro == 0 || gso == 0;
	snprintf(next, sizeof(next), "ethtool -K %s gro on gso on", interface);
	check_set(c, slow ? CHECK_WARN : CHECK_OK, "interface", slow ? next : NULL,
		  "%s: GRO %s, GSO %s", interface, texts[gro + 1], texts[gso + 1]);
}
