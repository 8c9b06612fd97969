/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts between addresses of wire and kernel. An AF_INET6 socket reaches IPv4 peers by mapped
 * addresses; an AF_INET socket cannot reach IPv6 peers. */
#ifndef LINK_SOCKADDR_H
#define LINK_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/address.h"

union link_sockaddr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

bool sockaddr_is_v4(const struct udp_address *a);

/* Converts for a socket of `family`. Returns the length, or 0 if it cannot reach `a`. */
socklen_t sockaddr_from_wire(const struct udp_address *a, int family, union link_sockaddr *out);

void sockaddr_to_wire(const union link_sockaddr *from, struct udp_address *out);

#endif
