/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch behind sockets, as `dxp-switch` runs it: core, UDP sockets, XDP plane if it loads, event
 * loop. */
#ifndef SWITCH_SERVE_H
#define SWITCH_SERVE_H

#include "switch/input.h"
#include "switch/switch.h"

enum serve_plane { SERVE_PLANE_AUTO, SERVE_PLANE_USER, SERVE_PLANE_KERNEL };

struct serve_options {
	struct sw_options core; /* `kernel` is filled in here */
	enum serve_plane plane; /* AUTO: XDP if it loads, else a warning and user space */
	/* XDP ports. If none is given: all ports of the bridge with address core.ip, or the
	 * interface with this address. */
	const char *const *ports;
	unsigned port_count;
	bool native;
	/* Weights of forwarded and computed packets in the arbiter (input.h); 0: 1. */
	uint8_t weights[INPUT_CLASSES];
	int socket_priority; /* `priority` of link_options for all packets sent; 0 .. 6 */
	const char *user;    /* see privileges_drop */
	/* Fabric key (FABRIC_KEY_BYTES) of programs that may read the counters at `stats_port`, a
	 * UDP port; NULL: none may. */
	const uint8_t *key;
	uint16_t stats_port;
	/* approximate time to spin after packets before sleeping (base/spin.h); at most 1 s */
	uint64_t spin_ns;
	const _Atomic int *stop;
	/* Nonzero: rejects new groups, and stops when no group is left. May be NULL. */
	const _Atomic int *drain;
	int wake_fd; /* eventfd that wakes the loop after a change of the two above; -1: none */
	/* descriptor to which a line is written when the switch is ready, and which is then closed;
	 * -1: none */
	int ready_fd;
};

/* Runs the switch until `stop` or `drain`. Logs each error with the next step. DXP_EBUSY: the port
 * is in use. DXP_EIO, DXP_ENOENT: the address, a port or the user is missing. DXP_EUNSUPPORTED:
 * plane KERNEL does not load. DXP_EINVAL; DXP_ENOMEM. */
int serve_run(const struct serve_options *options);

#endif
