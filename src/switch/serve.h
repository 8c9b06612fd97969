/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch with sockets, as `dxp-switch` runs it: core, UDP sockets, the XDP plane if it can be
 * loaded, and an event loop. */
#ifndef SWITCH_SERVE_H
#define SWITCH_SERVE_H

#include "switch/input.h"
#include "switch/switch.h"

enum serve_plane { SERVE_PLANE_AUTO, SERVE_PLANE_USER, SERVE_PLANE_KERNEL };

struct serve_options {
	struct sw_options core; /* options of the core; serve_run sets its `kernel` */
	/* SERVE_PLANE_AUTO: XDP if it can be loaded, else a warning and user space */
	enum serve_plane plane;
	/* Names of the interfaces for XDP. If none is given: all ports of the bridge that has
	 * address core.ip, or the interface that has this address. */
	const char *const *ports;
	unsigned port_count;
	bool native;
	/* Weights of forwarded and computed packets in the arbiter (input.h); 0 stands for 1. */
	uint8_t weights[INPUT_CLASSES];
	int socket_priority; /* `priority` of link_options for all packets that are sent; 0 .. 6 */
	const char *user;    /* system user to run as, see privileges_drop */
	/* Fabric key (FABRIC_KEY_BYTES) of programs that may read the counters at `stats_port`, a
	 * UDP port; NULL: no program may. */
	const uint8_t *key;
	uint16_t stats_port;
	/* ns to spin after packets before the loop sleeps, approximately (base/spin.h); at most 1
	 * s */
	uint64_t spin_ns;
	const _Atomic int *stop;
	/* Nonzero: the switch rejects new groups, and stops when no group is left. May be NULL. */
	const _Atomic int *drain;
	int wake_fd; /* eventfd that wakes the loop after *stop or *drain was changed; -1: none */
	/* Descriptor to which one line is written when the switch is ready; it is then closed. -1:
	 * none. */
	int ready_fd;
};

/* Runs the switch until *stop is set, or until *drain is set and no group is left. Logs each error
 * with the next step. DXP_EBUSY: the port is in use. DXP_EIO, DXP_ENOENT: the address, a port or
 * the user is missing. DXP_EUNSUPPORTED: SERVE_PLANE_KERNEL is required, but the plane cannot be
 * loaded. DXP_EINVAL; DXP_ENOMEM. */
int serve_run(const struct serve_options *options);

#endif
