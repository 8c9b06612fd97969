/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds this machine's address on the route to a peer, without sending. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "link/udp.h"

static int socket_name(int fd, const struct udp_address *to, struct sockaddr_in6 *own)
{
	struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_port = htons(to->port)};
	socklen_t bytes = sizeof(*own);

	memcpy(&peer.sin6_addr, to->ip, sizeof(to->ip));
	if (fd < 0 || connect(fd, (struct sockaddr *)&peer, sizeof(peer)) != 0)
		return -1;
	return getsockname(fd, (struct sockaddr *)own, &bytes);
}

static int address_look(const struct udp_address *to, struct udp_address *out)
{
	struct sockaddr_in6 own;
	int fd = descriptor_raise(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	int result = socket_name(fd, to, &own);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	if (result != 0)
		return result;
	memcpy(out->ip, &own.sin6_addr, sizeof(out->ip));
	out->port = 0;
	return 0;
}

bool link_address_now(const struct udp_address *to, struct udp_address *out)
{
	return address_look(to, out) == 0;
}

int link_address_towards(const struct udp_address *to, struct udp_address *out)
{
	char text[UDP_ADDRESS_TEXT_BYTES];

	if (address_look(to, out) == 0)
		return DXP_OK;
	if (address_link_local(to))
		log_error("%s is a link-local address, which needs an interface; use a global "
			  "address, or one of fd00::/8",
			  address_format(to, text));
	else
		log_error("no route to %s: %m; check the address and this machine's routes",
			  address_format(to, text));
	return DXP_EIO;
}
