/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_RESOLVE_H
#define LINK_RESOLVE_H

#include "base/address.h"

/* Finds the address for "HOST[:PORT]". HOST is a host name, an IPv4 address or an IPv6 address. An
 * IPv6 address needs brackets if a port follows. Without PORT in the text, the port is `port`. May
 * wait for a name server. DXP_EINVAL: other text; DXP_ENOENT: no host has this name, or no name
 * server answers. */
int resolve_address(const char *text, uint16_t port, struct udp_address *out);

#endif
