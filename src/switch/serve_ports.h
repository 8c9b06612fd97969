/* SPDX-License-Identifier: BSD-3-Clause */
/* Which interfaces a switch has: the one with its address, and those towards hosts and other
 * switches, where the XDP plane is attached. */
#ifndef SWITCH_SERVE_PORTS_H
#define SWITCH_SERVE_PORTS_H

#include <stdint.h>

#include "switch/kernel.h"

#define SERVE_NAME_BYTES 16 /* of an interface, as the kernel has it (IF_NAMESIZE) */

struct serve_ports {
	char own[SERVE_NAME_BYTES]; /* has the address */
	unsigned owners;            /* interfaces that have it; of several `own` is the first */
	unsigned mtu;               /* of `own` */
	unsigned count;             /* ports: those of the bridge `own`, or `own` itself */
	char names[SWITCH_KERNEL_PORTS][SERVE_NAME_BYTES];
};

/* DXP_ENOENT: no interface has the address; DXP_EIO: the kernel does not tell. Logged. A bridge
 * with more ports than there is room for: DXP_EUNSUPPORTED, the rest is filled in. */
int serve_ports_find(uint32_t ip, struct serve_ports *out);

#endif
