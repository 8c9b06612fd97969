/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads interface addresses (getifaddrs) and a bridge's ports (/sys/class/net/BRIDGE/brif). */
#include "switch/serve_ports.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"

static uint32_t host_order(const struct sockaddr *any)
{
	struct sockaddr_in v4;

	memcpy(&v4, any, sizeof(v4));
	return ntohl(v4.sin_addr.s_addr);
}

/* Any address of loopback's network belongs to this host. */
static bool address_is(const struct ifaddrs *a, uint32_t ip)
{
	if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET)
		return false;
	uint32_t mask = a->ifa_flags & IFF_LOOPBACK && a->ifa_netmask ? host_order(a->ifa_netmask)
								      : UINT32_MAX;
	return ((host_order(a->ifa_addr) ^ ip) & mask) == 0;
}

static int owner_find(uint32_t ip, struct serve_ports *out)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0) {
		log_error("cannot list the interfaces: %m");
		return DXP_EIO;
	}
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		if (address_is(a, ip) && out->owners++ == 0)
			snprintf(out->own, sizeof(out->own), "%s", a->ifa_name);
	}
	freeifaddrs(all);
	if (out->owners > 0)
		return DXP_OK;
	log_error("no interface of this machine has the address %u.%u.%u.%u; \"ip address\" lists "
		  "the addresses",
		  ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
	return DXP_ENOENT;
}

static unsigned mtu_of(const char *interface)
{
	int fd = descriptor_raise(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	struct ifreq request = {0};
	unsigned mtu = 1500;

	if (fd < 0)
		return mtu;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
		mtu = (unsigned)request.ifr_mtu;
	close(fd);
	return mtu;
}

static int name_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Fills in the ports; returns false if the interface is no bridge. `*more`: it has more than
 * SWITCH_KERNEL_PORTS. */
static bool bridge_ports(struct serve_ports *out, bool *more)
{
	char path[64 + SERVE_NAME_BYTES];

	snprintf(path, sizeof(path), "/sys/class/net/%s/brif", out->own);
	DIR *folder = descriptor_opendir(path);
	if (!folder)
		return false;
	for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
		if (e->d_name[0] == '.')
			continue;
		if (out->count == SWITCH_KERNEL_PORTS) {
			*more = true;
			break;
		}
		snprintf(out->names[out->count++], SERVE_NAME_BYTES, "%.*s", SERVE_NAME_BYTES - 1,
			 e->d_name);
	}
	closedir(folder);
	qsort(out->names, out->count, SERVE_NAME_BYTES, name_order);
	return true;
}

int serve_ports_find(uint32_t ip, struct serve_ports *out)
{
	bool more = false;

	memset(out, 0, sizeof(*out));
	int status = owner_find(ip, out);
	if (status != DXP_OK)
		return status;
	out->mtu = mtu_of(out->own);
	if (!bridge_ports(out, &more)) {
		memcpy(out->names[0], out->own, SERVE_NAME_BYTES);
		out->count = 1;
	}
	return more ? DXP_EUNSUPPORTED : DXP_OK;
}
