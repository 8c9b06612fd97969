/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the longest GSO batch by trial, because no option reports it: 64 datagrams in the first
 * kernels with GSO, later 128. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "link/endpoint.h"

/* accepted by all kernels with GSO; if loopback does not work */
#define SEGMENTS_SAFE 64

/* Returns whether the kernel accepts a batch of one-byte datagrams. */
static bool segments_accepted(int fd, unsigned segments)
{
	uint8_t bytes[LINK_SEGMENTS_PROBE] = {0};

	return send(fd, bytes, segments, MSG_DONTWAIT) == (ssize_t)segments;
}

static int self_connected(void)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(self);
	int fd = descriptor_raise(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&self, sizeof(self)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&self, &bytes) == 0 &&
	    connect(fd, (struct sockaddr *)&self, sizeof(self)) == 0)
		return fd;
	close(fd);
	return -1;
}

unsigned segments_probe(void)
{
	const int one = 1;
	unsigned low = 1, high = LINK_SEGMENTS_PROBE;
	int fd = self_connected();

	if (fd < 0)
		return SEGMENTS_SAFE;
	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &one, sizeof(one)) < 0) {
		close(fd);
		return 1;
	}
	/* Invariant: `low` is accepted, more than `high` is not. */
	while (low < high) {
		unsigned middle = (low + high + 1) / 2;
		if (segments_accepted(fd, middle))
			low = middle;
		else
			high = middle - 1;
	}
	close(fd);
	return low;
}
