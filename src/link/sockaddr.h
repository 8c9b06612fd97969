/* SPDX-License-Identifier: BSD-3-Clause */
/* The project's addresses as the kernel's. An AF_INET6 socket names IPv4 peers by their mapped
 * address; an AF_INET socket cannot name IPv6 peers at all. */
#ifndef LINK_SOCKADDR_H
#define LINK_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "wire/address.h"

union link_sockaddr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

bool sockaddr_is_v4(const struct wire_address *a);

/* For a socket of `family`. Returns the length, 0 when such a socket cannot name `a`. */
socklen_t sockaddr_from_wire(const struct wire_address *a, int family, union link_sockaddr *out);

/* `from` is what the kernel filled in: AF_INET or AF_INET6. */
void sockaddr_to_wire(const union link_sockaddr *from, struct wire_address *out);

#endif
