/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a switch's interfaces: the one with its address, and those towards hosts and other
 * switches, where the XDP program is attached. */
#ifndef SWITCH_SERVE_PORTS_H
#define SWITCH_SERVE_PORTS_H

#include <stdint.h>

#include "switch/kernel.h"

#define SERVE_NAME_BYTES 16 /* bytes of an interface name (IF_NAMESIZE) */

struct serve_ports {
	char own[SERVE_NAME_BYTES]; /* the interface with the address */
	unsigned owners;            /* interfaces with the address; `own` is the first */
	unsigned mtu;               /* bytes, of `own` */
	unsigned count;             /* ports: those of the bridge `own`, or `own` itself */
	char names[SWITCH_KERNEL_PORTS][SERVE_NAME_BYTES];
};

/* Fills `out`. DXP_ENOENT: no interface has the address. DXP_EIO: the kernel did not list them.
 * Both are logged. DXP_EUNSUPPORTED: the bridge has more ports than `names` holds; the rest is
 * filled in. */
int serve_ports_find(uint32_t ip, struct serve_ports *out);

#endif
