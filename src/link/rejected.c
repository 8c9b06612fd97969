/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads ICMP errors, such as "port unreachable", from the bound socket's error queue. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/errqueue.h>

#include "link/endpoint.h"

int link_rejected(struct link *l)
{
	union {
		struct cmsghdr align;
		uint8_t bytes[256];
	} control;
	uint8_t returned[64];

	for (;;) {
		struct iovec iov = {returned, sizeof(returned)};
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = &control,
				   .msg_controllen = sizeof(control)};
		if (recvmsg(l->sockets[0].fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return 0;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			struct sock_extended_err e;
			if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_RECVERR)
				continue;
			memcpy(&e, CMSG_DATA(c), sizeof(e));
			if (e.ee_origin == SO_EE_ORIGIN_ICMP && e.ee_errno)
				return (int)e.ee_errno;
		}
	}
}
