/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_RESOLVE_H
#define LINK_RESOLVE_H

#include "base/address.h"

/* Finds the address of "HOST[:PORT]": a host name, an IPv4 address, or an IPv6 address with or
 * without brackets (with brackets if a port follows). `port` is the default. May wait for a name
 * server. DXP_EINVAL: other text; DXP_ENOENT: no host has this name, or no server answers. */
int resolve_address(const char *text, uint16_t port, struct udp_address *out);

#endif
