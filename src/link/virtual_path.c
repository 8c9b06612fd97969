/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds paths that begin in a virtual interface, from the routing table and the name of the
 * interface's driver. */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "link/endpoint.h"
#include "link/sockaddr.h"

/* bytes; the answer is a route with a few attributes */
#define ANSWER_BYTES 4096

struct request {
	struct nlmsghdr header;
	struct rtmsg route;
	struct rtattr attribute;
	uint8_t destination[16];
};

static struct request request_make(const struct udp_address *to)
{
	const bool v4 = sockaddr_is_v4(to);
	const uint16_t bytes = v4 ? 4 : 16;
	struct request r = {
		.header = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
		.route = {.rtm_family = v4 ? AF_INET : AF_INET6,
			  .rtm_dst_len = (uint8_t)(8 * bytes)},
		.attribute = {.rta_len = (uint16_t)RTA_LENGTH(bytes), .rta_type = RTA_DST},
	};

	memcpy(r.destination, to->ip + 16 - bytes, bytes);
	r.header.nlmsg_len = (uint32_t)(offsetof(struct request, destination) + bytes);
	return r;
}

/* Index of the interface in an answer of `bytes`; 0: none. */
static int answer_interface(const struct nlmsghdr *h, size_t bytes)
{
	const struct rtmsg *route = NLMSG_DATA(h);
	int index = 0;

	if (!NLMSG_OK(h, bytes) || h->nlmsg_type != RTM_NEWROUTE ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*route)))
		return 0;
	size_t left = RTM_PAYLOAD(h);
	for (const struct rtattr *a = RTM_RTA(route); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) >= sizeof(index))
			memcpy(&index, RTA_DATA(a), sizeof(index));
	return index;
}

/* Index of the interface on the route to `to`; 0: unknown. */
static int route_interface(const struct udp_address *to)
{
	const struct request request = request_make(to);
	union {
		struct nlmsghdr header;
		uint8_t bytes[ANSWER_BYTES];
	} answer;
	ssize_t got = -1;
	int fd = descriptor_raise(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));

	if (fd < 0)
		return 0;
	/* The kernel has queued the answer when send returns. */
	if (send(fd, &request, request.header.nlmsg_len, 0) >= 0)
		got = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
	close(fd);
	return got > 0 ? answer_interface(&answer.header, (size_t)got) : 0;
}

static bool driver_is(int index, const char *name)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq request = {.ifr_data = (void *)&info};
	int fd = descriptor_raise(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	if (fd < 0)
		return false;
	bool known = if_indextoname((unsigned)index, request.ifr_name) &&
		     ioctl(fd, SIOCETHTOOL, &request) == 0;
	close(fd);
	return known && strncmp(info.driver, name, sizeof(info.driver)) == 0;
}

bool link_path_virtual(const struct udp_address *to)
{
	int index = route_interface(to);

	return index > 0 && driver_is(index, "veth");
}

bool link_splits(const struct link *l)
{
	return l->limits.segments >= LINK_LONG_SEGMENTS;
}

bool link_joins(const struct link *l)
{
	return l->gro && l->inbox.frame_bytes;
}

bool link_faulty(const struct link *l)
{
	return l->fault != NULL;
}
