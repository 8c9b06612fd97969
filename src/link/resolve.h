/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_RESOLVE_H
#define LINK_RESOLVE_H

#include "base/address.h"

/* Finds the address of "HOST[:PORT]": a name, IPv4 or IPv6, in brackets before a port; without
 * PORT, `port`. May wait for a name server. DXP_EINVAL: other text; DXP_ENOENT: no such host, or no
 * name server answers. */
int resolve_address(const char *text, uint16_t port, struct udp_address *out);

#endif
